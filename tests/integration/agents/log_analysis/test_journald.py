"""The journal through a real child process: an executable of the test's that prints what journalctl prints."""

from __future__ import annotations

import io
import json
import os
import shlex
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents.log_analysis.sources.journald import argv_of, read_journal
from agents.log_analysis.sources.named import JournalQuery, available
from agents.runtime.processes import stat
from kernel.clock import monotonic
from kernel.contracts import Source
from kernel.errors import Correctable, Refused, Retryable
from kernel.settings import Settings

UNTIL = datetime(2026, 11, 29, 12, tzinfo=UTC)
SINCE = UNTIL - timedelta(hours=6)


def row(number: int, message: str, priority: int = 6) -> str:
    at = int(UNTIL.timestamp()) * 10**6 - (1000 - number) * 10**6
    fields = {
        "__REALTIME_TIMESTAMP": str(at),
        "PRIORITY": str(priority),
        "SYSLOG_IDENTIFIER": "nginx",
        "MESSAGE": message,
    }
    return json.dumps({**fields, "_SYSTEMD_UNIT": "nginx.service", "_HOSTNAME": "web-1"})


@pytest.fixture
def program(tmp_path: Path) -> Callable[[str], Path]:
    """Make an executable of a Python body; it finds its arguments in `sys.argv`."""

    def make(body: str) -> Path:
        path = tmp_path / "bin" / "journalctl"
        path.parent.mkdir(exist_ok=True)
        body_path = path.with_suffix(".py")
        body_path.write_text(f"import os, sys\n{body}\n")
        # through a shell: the first line of a script takes no interpreter whose path holds a blank
        argv = " ".join(shlex.quote(str(part)) for part in (sys.executable, "-IS", body_path))
        path.write_text(f'#!/bin/sh\nexec {argv} "$@"\n')
        path.chmod(0o755)
        return path

    return make


def read(query: JournalQuery, *, limit: int = 1 << 20, seconds: float = 20.0) -> tuple[list[str], list[str]]:
    out = io.BytesIO()
    notes = read_journal(query, out, SINCE, UNTIL, limit=limit, seconds=seconds)
    assert out.tell() == len(out.getvalue())
    return out.getvalue().decode().splitlines(), notes


def test_entries_come_as_they_are_printed(program, tmp_path: Path) -> None:
    rows = [row(n, f"request {n}") for n in range(500)]
    (tmp_path / "rows").write_text("\n".join(rows) + "\n")
    path = program(f"print(open({str(tmp_path / 'rows')!r}).read(), end='')")
    assert read(JournalQuery(program=path)) == (rows, [])


def test_the_program_gets_a_list_of_arguments_and_nothing_of_ours(program) -> None:
    path = program(
        "print(repr((sys.argv[1:], sorted(os.environ), os.getcwd(), os.getsid(0) == os.getpid())))"
    )
    query = JournalQuery(
        program=path, units=["nginx.service", "app@*.service"], identifiers=["cron"], folder=Path("/j")
    )
    (told,), _ = read(query)
    argv, variables, folder, leads = eval(told)  # our own program printed it
    assert argv == argv_of(query, "x", SINCE, UNTIL)[1:]
    assert argv[3:] == [
        "--since=@1795932000", "--until=@1795953600", "--directory=/j",
        "--unit=nginx.service", "--unit=app@*.service", "--identifier=cron",
    ]  # fmt: skip
    assert set(variables) <= {
        "PATH",
        "LC_ALL",
        "LC_CTYPE",
        "PWD",
        "OLDPWD",
        "SHLVL",
        "_",
    }  # the last four are the shell's
    assert (folder, leads) == ("/", True)


def test_too_much_is_cut_at_a_line_and_the_program_is_ended(program, tmp_path: Path) -> None:
    path = program(
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        "while True: print('{\"MESSAGE\": \"' + 'x' * 1000 + '\"}')"
    )
    lines, notes = read(JournalQuery(program=path), limit=100_000)
    assert 90 < len(lines) < 100
    assert all(json.loads(line) for line in lines)
    assert "limit of 100,000 bytes" in notes[0]
    seen = stat(int((tmp_path / "pid").read_text()))
    assert seen is None or not seen.lives


def test_a_program_that_hangs_is_ended_also_when_it_ignores_the_request_to(program, tmp_path: Path) -> None:
    path = program("")
    # a shell: it has said its line long before the time is over, also where a Python would not have started
    said, pid = (shlex.quote(str(it)) for it in (row(1, "first"), tmp_path / "pid"))
    path.write_text(f"#!/bin/sh\ntrap '' TERM\necho $$ > {pid}\nprintf '%s\\n' {said}\nexec sleep 600\n")
    began = monotonic()
    lines, notes = read(JournalQuery(program=path), seconds=1.5)
    assert lines == [row(1, "first")]
    assert "the time for it was over" in notes[0]
    assert monotonic() - began < 60
    seen = stat(int((tmp_path / "pid").read_text()))
    assert seen is None or not seen.lives
    with pytest.raises(Retryable, match="no answer"):
        read(JournalQuery(program=program("import time\ntime.sleep(600)")), seconds=0.2)


def test_a_wish_to_stop_ends_the_program_and_stores_nothing(program, tmp_path: Path) -> None:
    path = program(
        f"open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
        f"import time\nprint({row(1, 'first')!r}, flush=True)\ntime.sleep(600)"
    )
    stop, told = threading.Event(), []

    def fetch() -> None:
        with pytest.raises(Retryable) as error:
            read_journal(
                JournalQuery(program=path), io.BytesIO(), SINCE, UNTIL, limit=9999, seconds=60.0, stop=stop
            )
        told.append(error.value.what)

    thread = threading.Thread(target=fetch)
    thread.start()
    while not ((tmp_path / "pid").exists() and (tmp_path / "pid").read_text()):
        stop.wait(0.01)
    stop.set()
    began = monotonic()
    thread.join(30)
    assert told == ["it was stopped"]
    assert monotonic() - began < 20  # of sixty
    seen = stat(int((tmp_path / "pid").read_text()))
    assert seen is None or not seen.lives


def test_what_the_program_complains_of_is_told(program) -> None:
    path = program(
        "sys.stderr.write('No journal files were opened due to insufficient permissions.\\n' * 9999); sys.exit(1)"
    )
    with pytest.raises(Refused, match="insufficient permissions") as told:
        read(JournalQuery(program=path))
    assert "systemd-journal" in told.value.next_step
    path = program(f"print({row(1, 'first')!r}); sys.stderr.write('Hint: you see only your own messages.')")
    assert read(JournalQuery(program=path))[1] == ["journalctl says: Hint: you see only your own messages."]


def test_where_there_is_none_it_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Correctable, match="there is no .*nowhere") as told:
        read(JournalQuery(program=tmp_path / "nowhere"))
    assert "attach" in told.value.next_step


async def test_a_source_of_the_journal_is_read_by_its_name(desk, program, tmp_path: Path) -> None:
    rows = [row(n, f"request {n} ok") for n in range(50)] + [
        row(60, "connect() failed (111: Connection refused)", 3)
    ]
    path = program(f"print({chr(10).join(rows)!r})")
    (tmp_path / "journal").mkdir()
    yaml = tmp_path / "sources.yaml"
    yaml.write_text(
        f"sources: {{system: {{journald: {{program: {path}, folder: {tmp_path / 'journal'}, units: [nginx.service]}}}}}}"
    )
    settings = desk.resources.settings.model_copy(update={"log_sources": yaml})
    desk.resources = replace(desk.resources, settings=settings)
    assert available(settings) == ["system"]
    analysis = await desk.analyse(Source(name="system"))
    cited = analysis.outcome.findings[0].evidence[0]
    assert (cited.source, cited.line) == ("system", 51)
    assert await desk.check_evidence(analysis) >= 1
    answer = await desk.call(analysis.ctx, "overview")
    assert answer["levels"]["error"] == 1
    assert any(note.startswith("read 20") for note in answer["files"][0]["notes"])


@pytest.mark.skipif(not os.access("/usr/bin/journalctl", os.X_OK), reason="this machine has no journalctl")
def test_the_real_program_takes_our_arguments(tmp_path: Path) -> None:
    query = JournalQuery(
        program=Path("/usr/bin/journalctl"), folder=tmp_path, units=["a.service"], identifiers=["b"]
    )
    assert read(query)[0] == []


def test_a_machine_without_it_does_not_offer_it(tmp_path: Path) -> None:
    yaml = tmp_path / "sources.yaml"
    yaml.write_text(f"sources: {{system: {{journald: {{program: {tmp_path / 'none'}}}}}}}")
    assert available(Settings(log_sources=yaml)) == []
