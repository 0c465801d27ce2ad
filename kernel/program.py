"""The command that starts a worker or beat: Celery's own, without what its whole command line brings along.

`python -m kernel.program -A agents.app worker …` takes what `celery -A agents.app worker …` takes. The whole
command line also loads every plugin (Flower with its web server, a shell): a quarter of a process's start.
"""

from __future__ import annotations

import sys
from typing import Any

from celery.app.utils import find_app
from celery.bin.base import CLIContext
from celery.bin.beat import beat
from celery.bin.worker import worker

_COMMANDS: dict[str, Any] = {"worker": worker, "beat": beat}


def main() -> None:
    """Run the command; a worker's or beat's process ends in here."""
    if len(sys.argv) <= 3 or sys.argv[1] != "-A" or sys.argv[3] not in _COMMANDS:  # noqa: PLR2004 -A, app, command
        sys.exit(f"usage: python -m kernel.program -A APP {'|'.join(_COMMANDS)} [OPTION]…")
    app, command = sys.argv[2:4]
    context = CLIContext(app=find_app(app), no_color=True, workdir=None)
    _COMMANDS[command].main(
        sys.argv[4:],
        prog_name=f"celery {command}",
        obj=context,
        auto_envvar_prefix=f"CELERY_{command.upper()}",
    )


if __name__ == "__main__":
    main()
