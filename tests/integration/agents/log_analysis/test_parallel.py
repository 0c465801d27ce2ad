"""Several processes read a log as one does; they end with their work, on a wish, and with their parent."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from agents.log_analysis.scanning import progress as pace
from agents.log_analysis.scanning import readers, scan, segments
from agents.log_analysis.scanning.opened import Part
from agents.log_analysis.scanning.progress import Progress
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.files import LogFile
from ops.bench.logsize_lines import write

pytestmark = pytest.mark.integration


@pytest.fixture
def eager(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let small logs be read by several processes."""
    monkeypatch.setattr(segments, "SHARE", 50_000)


@pytest.fixture
def files(tmp_path: Path) -> list[LogFile]:
    """Two logs of services, and one between them without times."""
    write(tmp_path / "0.log", 0.2, seed=1)
    (tmp_path / "1.log").write_text("".join(f"step {n} of the upgrade\n" for n in range(2000)))
    write(tmp_path / "2.log", 0.15, seed=2)
    return [LogFile(name=f"{n}.log", path=tmp_path / f"{n}.log") for n in range(3)]


def read(files: list[LogFile], scratch: Path, readers: int) -> Scan:
    made = Scan(scratch, 1 << 30, readers=readers)
    made.read(files)
    return made


def told(made: Scan) -> list[tuple[object, ...]]:
    return [
        (
            row.file,
            row.line,
            str(row.time),
            row.level,
            made.miner.templates[made.miner.final(row.template)].text(),
            made.services[row.service],
            made.hosts[row.host],
        )
        for row in made.table
    ]


def counts(made: Scan) -> dict[str, tuple[int, int, int]]:
    """Count, and the first file and line, of each template."""
    live = {made.miner.final(row.template) for row in made.table}
    return {
        made.miner.templates[n].text(): (
            made.miner.templates[n].count,
            made.profiles[n].file,
            made.profiles[n].line,
        )
        for n in live
    }


@pytest.mark.usefixtures("eager")
def test_three_processes_find_what_one_finds(files: list[LogFile], tmp_path: Path, monkeypatch) -> None:
    shares: list[int] = []
    apart = scan.read_shares
    monkeypatch.setattr(scan, "read_shares", lambda *args: (shares.append(len(args[0])), apart(*args))[1])
    one, several = read(files, tmp_path, 1), read(files, tmp_path, 3)
    assert shares == [3]
    assert told(several) == told(one)
    assert counts(several) == counts(one)
    assert several.facts == one.facts
    for file in range(3):
        lines = one.body(file).lines
        assert several.body(file).lines == lines
        for line in (1, 64, 65, lines // 2, lines - 3, lines):
            assert several.body(file).read(line, line + 2) == one.body(file).read(line, line + 2)


@pytest.mark.usefixtures("eager")
def test_what_a_broken_process_was_to_read_is_read_here(
    files: list[LogFile], tmp_path: Path, monkeypatch
) -> None:
    monkeypatch.setattr(readers, "_MODULE", "agents.log_analysis.scanning.no_such_module")
    assert told(read(files, tmp_path, 3)) == told(read(files, tmp_path, 1))


@pytest.mark.parametrize("processes", [1, 2])
@pytest.mark.usefixtures("eager")
def test_a_wish_to_stop_leaves_what_was_read_up_to_a_line(
    tmp_path: Path, processes: int, monkeypatch
) -> None:
    monkeypatch.setattr(pace, "_PACE", 0.0)
    monkeypatch.setattr(readers, "_LOOK", 0.01)
    written = write(tmp_path / "a.log", 2)
    file, seen = LogFile(name="a.log", path=tmp_path / "a.log"), []
    made = Scan(tmp_path, 1 << 30, readers=processes)

    def progress(now: Progress) -> None:
        seen.append(now)
        made.stop()

    made.read([file], progress)
    assert seen
    assert seen[0].total == file.path.stat().st_size
    assert made.stopped
    (note,) = made.facts[0].notes
    assert note.startswith("reading was stopped after ")
    assert made.table.rows == made.facts[0].events
    lines = made.body(0).lines
    assert lines < written
    assert [row.line for row in made.table][-1:] <= [lines]
    assert made.body(0).read(lines, lines + 5)[1:] == []


def test_a_reading_process_ends_when_its_parent_has(tmp_path: Path) -> None:
    write(tmp_path / "a.log", 1)
    part = Part(0, 3, 0, 1_000_000, "2026-11-30T00:00:00+00:00", "", "UTC", "", 0)
    order = json.dumps({"out": 4, "parts": [part.plain()] * 400})
    program = (
        "import os, subprocess, sys\n"
        "log, out = os.open(sys.argv[1], os.O_RDONLY), os.open(sys.argv[2], os.O_RDWR | os.O_CREAT)\n"
        "os.dup2(log, 3), os.dup2(out, 4)\n"
        "child = subprocess.Popen([sys.executable, '-P', '-m', 'agents.log_analysis.scanning.segment_child'],"
        " stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[3, 4])\n"
        "child.stdin.write(sys.argv[3].encode() + b'\\n'); child.stdin.flush()\n"
        "child.stdout.readline(); print(child.pid, flush=True); sys.stdin.read()\n"
    )
    with (
        tempfile.NamedTemporaryFile() as out,
        subprocess.Popen(
            [sys.executable, "-P", "-c", program, str(tmp_path / "a.log"), out.name, order],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as parent,
    ):
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.send_signal(signal.SIGKILL)
        parent.wait(30)
    gone = threading.Event()
    for _ in range(300):
        if not _lives(child):
            break
        gone.wait(0.1)
    assert not _lives(child)


def _lives(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def _container(n: int) -> str:
    head = f"2026-03-01T06:{n // 60 % 60:02}:{n % 60:02}.{n:09}Z"
    return (
        f"{head} stdout P part {n},\n{head} stderr F ERROR lost {n}\n{head} stdout F end of {n}\n"
        + f"{head} stderr F java.lang.IllegalStateException: x\n{head} stderr F \tat a.B.c(B.java:{n})\n"
        * (n % 3)
    )


def _rows(n: int) -> str:
    columns = ("sc-status time-taken", "time-taken sc-status")[n // 700 % 2]
    header = f"#Fields: date time {columns} cs-uri-stem\n" if n % 700 == 0 else ""
    return f"{header}2026-03-01 06:{n // 60 % 60:02}:{n % 60:02} {(200, 500)[n % 2]} 301 /a/{n}\n"


@pytest.mark.usefixtures("eager")
@pytest.mark.parametrize(
    ("line", "encoding"),
    [
        # clocks without a day only after the first lines, by which a cut is decided: they go by the lines before them
        (lambda n: f"2026-03-01 06:00:00,{n % 1000:03} INFO tick {n}\n" if n < 800 else f"0{n % 9}:00:00 tock {n}\n", "utf-8"),
        (lambda n: f"{'Feb' if n < 900 else 'Mar'}  1 06:{n // 60 % 60:02}:{n % 60:02} web app[1]: tick {n}\n", "utf-8"),
        (lambda n: f"{'' if n < 300 else f'{n % 12 + 1:02}/0{n % 9 + 1}/2026 06:00:00 '}WARN tick {n} of the clock\n", "utf-8"),
        (_container, "utf-8"),
        (_rows, "utf-8"),
        (lambda n: f"2026-03-01 06:00:00,{n % 1000:03} ERROR 订单 {n} 失败 host=web-{n % 3}\n", "utf-16"),
        (lambda n: f"2026-03-01 06:00:00,{n % 1000:03} ERROR 订单 {n} 支付失败\n", "gbk"),
    ],
    ids=["clocks", "no-year", "day-or-month", "containers", "headers", "utf-16", "gbk"],
)  # fmt: skip
def test_a_log_that_is_hard_to_cut_is_read_the_same(tmp_path: Path, line, encoding: str) -> None:
    path = tmp_path / "a.log"
    path.write_bytes("".join(map(line, range(3000))).encode(encoding))
    one, several = (read([LogFile(name="a.log", path=path)], tmp_path, number) for number in (1, 3))
    assert len(told(one)) >= 3000
    assert told(several) == told(one)
    assert several.facts == one.facts
