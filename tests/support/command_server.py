"""Commands without the start of Python: a server that has imported the command line and forks for each command.

`python -m tests.support.command_server` reads lines of JSON `{arguments, environment, folder, out, err}`, answers exit codes.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.desk import Answer, Desk

ROOT = Path(__file__).parents[2]


@dataclass
class QuickDesk(Desk):
    """A desk whose commands a server runs."""

    server: subprocess.Popen[str] | None = None

    def run(self, *arguments: str, environment: Mapping[str, str] | None = None) -> Answer:
        assert self.server is not None
        assert self.server.stdin is not None
        assert self.server.stdout is not None
        folder = self.working_dir or self.data_dir.parent
        out, err = folder / "command.out", folder / "command.err"
        order = {
            "arguments": arguments,
            "environment": self.variables(environment),
            "folder": str(folder),
            "out": str(out),
            "err": str(err),
        }
        self.server.stdin.write(json.dumps(order) + "\n")
        self.server.stdin.flush()
        code = int(self.server.stdout.readline())
        return Answer(code, out.read_text(encoding="utf-8"), err.read_text(encoding="utf-8"))


@contextmanager
def quick_desk(data_dir: Path, environment: Mapping[str, str]) -> Iterator[QuickDesk]:
    """Yield a desk with its server of commands; the folder holds their output."""
    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.command_server"],
        cwd=ROOT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        yield QuickDesk(data_dir, environment, server=server)
        assert server.stdin is not None
        server.stdin.close()


def _fork(order: dict[str, str], arguments: list[str], environment: dict[str, str]) -> int:
    pid = os.fork()
    if pid == 0:
        code: object = 1
        try:
            for number, name in ((1, "out"), (2, "err")):
                os.dup2(os.open(order[name], os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), number)
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.chdir(order["folder"])
            os.environ.clear()
            os.environ.update(environment)
            sys.argv = ["nightdesk", *arguments]
            from coordinator.cli import main

            main()
            code = 0
        except SystemExit as ended:
            code = ended.code or 0
        except BaseException:  # noqa: BLE001 a fork never returns into the server
            traceback.print_exc()
        finally:
            sys.stdout.flush()
            sys.stderr.flush()
            os._exit(code if isinstance(code, int) else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """Import what commands import, then answer orders until standard input ends."""
    import kernel.broker
    import kernel.control
    import kernel.records  # noqa: F401 all of them are only to be there

    for line in sys.stdin:
        order = json.loads(line)
        code = _fork(order, order["arguments"], order["environment"])
        sys.stdout.write(f"{code}\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
