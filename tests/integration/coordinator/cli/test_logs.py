"""`nightdesk logs …` without a desk: tables, JSON, CSV, standard input, what may never reach a terminal."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest
from typer.testing import CliRunner, Result

from agents.log_analysis.offline import open_logs
from coordinator.cli import main
from coordinator.cli.app import app
from kernel.settings import Settings

DATA = Path(__file__).parents[4].parent / "shared" / "data"
HOSTILE = "\x1b]0;owned\x07\x1b[31mred\u202egnp.exe\u200b\x9b31m"


def run(*arguments: object, given: bytes | None = None) -> Result:
    # as wide as a pipe is where nothing says otherwise: pytest-xdist sets COLUMNS to 80
    given_width = os.environ.get("COLUMNS", "80")
    wide = {"COLUMNS": "200" if given_width == "80" else given_width}
    return CliRunner(env=wide).invoke(app, ["logs", *map(str, arguments)], input=given)


def document(*arguments: object, given: bytes | None = None) -> Any:
    result = run(*arguments, "--json", given=given)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Two hours: quiet, then a pool that runs dry, with a trace."""
    rows = [f"2026-11-29T10:{n:02d}:00Z INFO http request {n} served in {n} ms" for n in range(60)]
    for n in range(60):
        rows.append(f"2026-11-29T11:{n:02d}:00Z INFO http request {n} served in {n} ms")
        if n >= 30:
            rows.append(f"2026-11-29T11:{n:02d}:10Z ERROR db connection pool exhausted after {n} s")
            rows.append("java.sql.SQLException: no connection")
            rows.append("\tat com.example.Pool.take(Pool.java:10)")
    path = tmp_path / "app.log"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_overview_shows_window_levels_timeline_and_problems_with_their_lines(log: Path) -> None:
    result = run("overview", log, "--utc")
    assert result.exit_code == 0
    assert "window   2026-11-29 10:00:00 +0000 to 2026-11-29 11:59:10 +0000" in result.stdout
    assert "error    ███████" in result.stdout
    assert "pool exhausted" in result.stdout
    assert f"{log}:92  2026-11-29T11:30:10Z ERROR" in result.stdout.replace("\n     ", "     ")
    timeline = next(line for line in result.stdout.splitlines() if line.startswith("errors"))
    bars = timeline[9:]
    assert bars[:40].strip() == ""
    assert bars.rstrip()[-1] in "▆▇█"


def test_overview_as_json_holds_the_timeline_and_the_notes(log: Path) -> None:
    found = document("overview", log)
    assert found["levels"] == {"info": 120, "error": 30}
    assert sum(found["timeline"]["levels"]["error"]) == 30
    assert isinstance(found["notes"], list)
    assert "stopped" not in found


@pytest.fixture
def crowd(tmp_path: Path) -> Path:
    """Fourteen files with more kinds of rare lines than are listed."""
    folder = tmp_path / "crowd"
    folder.mkdir()
    words = ["amber", "birch", "cedar", "delta", "ember", "frost", "grove", "heron", "inlet", "jetty"]
    for n in range(14):
        rows = [f"2026-11-29T10:{m:02d}:00Z INFO http served request {m} in {n} ms" for m in range(60)]
        rows.append(f"2026-11-29T11:00:{n:02d}Z ERROR db lost the {words[n % 10]} pool: {'é' * 300} the end")
        rows += [f"2026-11-29T11:01:{k:02d}Z WARN {w} {w}ing of {w}s gone {w}" for k, w in enumerate(words)]
        (folder / f"{n:02d}.log").write_text("\n".join(rows) + "\n", encoding="utf-8")
    return folder


def test_nothing_is_left_out_of_an_overview_without_a_word(
    crowd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = run("overview", crowd).stdout
    assert ", sure " in shown
    assert "… and 2 more files" in shown
    monkeypatch.setenv("COLUMNS", "60")
    narrow = run("overview", crowd).stdout.replace("\n", "")
    for text in (shown.replace("\n", ""), narrow):
        assert "… 6 more" in text
        assert "the end" not in text
        assert "ééé…" in text
    assert "birching of" in narrow


def test_a_plot_is_well_formed_and_holds_nothing_raw(tmp_path: Path) -> None:
    path = tmp_path / "x.log"
    rows = [
        f"2026-11-29T10:{n:02d}:00Z INFO deploy of <script>alert(1)</script> & version {n} started"
        for n in range(9)
    ]
    path.write_text("\n".join([*rows, "2026-11-29T10:10:00Z ERROR <b>out of memory</b>"]), encoding="utf-8")
    drawn = tmp_path / "x.svg"
    assert run("overview", path, "--plot", drawn).exit_code == 0
    text = drawn.read_text(encoding="utf-8")
    assert "<script>" not in text
    root = ET.fromstring(text)
    assert root.tag.endswith("svg")
    colours = {shape.get("fill") for shape in root.iter("{http://www.w3.org/2000/svg}rect")}
    assert {"#dc2626", "#3b82f6"} <= colours


def test_templates_are_sorted_and_limited_as_asked(log: Path) -> None:
    found = document("templates", log, "--limit", 1)
    assert (found["total"], len(found["templates"])) == (2, 1)
    top = found["templates"][0]
    assert (top["count"], top["share"], top["level"]) == (120, 0.8, "info")
    assert [t["count"] for t in document("templates", log, "--sort", "rare")["templates"]] == [30, 120]
    assert [t["level"] for t in document("templates", log, "--level", "error")["templates"]] == ["error"]
    assert document("templates", log, "--sort", "new")["templates"][0]["level"] == "error"
    shown = run("templates", log, "--utc").stdout
    assert "80.0%" in shown
    assert "2026-11-29 11:30:10 +0000" in shown


def test_every_line_has_a_row_and_lines_of_one_event_share_its_template(log: Path) -> None:
    result = run("templates", log, "--csv")
    assert result.stdout_bytes.startswith(b"LineId,EventId,EventTemplate\r\n")
    rows = list(csv.DictReader(io.StringIO(result.stdout_bytes.decode(), newline="")))
    assert [int(r["LineId"]) for r in rows] == list(range(1, 211))
    assert {r["EventId"] for r in rows[91:94]} == {rows[91]["EventId"]}
    assert rows[91]["EventId"] != rows[0]["EventId"]
    assert "<*>" in rows[0]["EventTemplate"]
    assert all(r["EventId"][0] == "E" and len(r["EventId"]) == 9 for r in rows)


def test_the_table_of_templates_is_csv_too(log: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(run("templates", log, "--summary-csv").stdout)))
    assert [r["count"] for r in rows] == ["120", "30"]


def group_accuracy(predicted: list[str], truth: list[str]) -> float:
    """The public definition: lines whose group holds exactly the lines of a true group."""
    ours: dict[str, set[int]] = {}
    theirs: dict[str, set[int]] = {}
    for n, (p, t) in enumerate(zip(predicted, truth, strict=True)):
        ours.setdefault(p, set()).add(n)
        theirs.setdefault(t, set()).add(n)
    return sum(len(lines) for key, lines in ours.items() if lines == theirs[truth[min(lines)]] and key) / len(
        truth
    )


def test_the_csv_scores_as_the_public_scorers_score_it() -> None:
    folder = DATA / "loghub_2k" / "HDFS"
    if not folder.is_dir():
        pytest.skip("the shared data folder is missing beside the checkout")
    rows = list(csv.DictReader(io.StringIO(run("templates", folder / "HDFS_2k.log", "--csv").stdout)))
    with (folder / "HDFS_2k.log_structured_corrected.csv").open(encoding="utf-8", newline="") as file:
        truth = list(csv.DictReader(file))
    assert group_accuracy([r["EventId"] for r in rows], [r["EventId"] for r in truth]) >= 0.92
    # the template is of the message: date, process and level of the header are no part of it
    assert Counter(r["EventTemplate"].split()[0] for r in rows).most_common(1)[0][0] == "BLOCK*"


def test_two_logs_are_compared_both_ways(tmp_path: Path) -> None:
    before, after = tmp_path / "a.log", tmp_path / "b.log"
    tick = [f"2026-11-29T10:00:{n % 60:02d}Z INFO tick {n} of the clock" for n in range(200)]
    old = [f"2026-11-29T10:01:{n % 60:02d}Z INFO cache hit for key {n} found" for n in range(200)]
    new = [f"2026-11-29T12:01:{n % 60:02d}Z ERROR upstream {n} refused us" for n in range(200)]
    before.write_text("\n".join(tick + old), encoding="utf-8")
    after.write_text("\n".join(tick + new), encoding="utf-8")
    found = document("compare", before, after)
    assert ["refused" in r["template"] for r in found["new"]] == [True]
    assert ["cache hit" in r["template"] for r in found["vanished"]] == [True]
    back = document("compare", after, before)
    assert ["refused" in r["template"] for r in back["vanished"]] == [True]
    shown = run("compare", before, after).stdout
    assert "vanished" in shown
    assert f"before  {before}  400 events" in shown
    rows = list(csv.DictReader(io.StringIO(run("compare", before, after, "--csv").stdout)))
    assert [r["change"] for r in rows] == ["new", "vanished"]


def test_two_windows_of_one_log_are_compared(log: Path) -> None:
    for arguments in (
        ("--split-at", "2026-11-29T11:30:00Z"),
        ("--split-at", "2026-11-29T11:30:00", "--utc"),
        ("--split-at", "line 92"),
        ("--before", "2026-11-29T10:00:00Z..2026-11-29T11:00:00Z", "--after", "2026-11-29T11:30:00Z..2026-11-29T12:00:00Z"),
    ):  # fmt: skip
        assert ["exhausted" in r["template"] for r in document("compare", log, *arguments)["new"]] == [
            True
        ], arguments


def test_search_prints_source_line_and_text_with_its_surroundings(log: Path) -> None:
    result = run("search", log, "-e", "EXHAUSTED", "--limit", 1, "-C", 1)
    lines = result.stdout.splitlines()
    assert lines[0].startswith(f"{log}-91-")
    assert lines[1].startswith(f"{log}:92:2026-11-29T11:30:10Z ERROR")
    assert "1 of 30 lines" in result.stderr
    found = document("search", log, "--level", "error", "--since", "2026-11-29T11:50:00Z", "--limit", 0)
    assert (found["total"], len(found["hits"])) == (10, 10)
    newest = document("search", log, "-e", "exhausted", "--newest-first", "--limit", 1)
    assert newest["hits"][0]["line"] > found["hits"][0]["line"]


def test_search_prints_hits_as_they_are_found_and_holds_none(log: Path) -> None:
    opened = open_logs([str(log)], settings=Settings())
    hits = opened.found("request|exhausted", limit=0)
    rows = iter(hits)
    assert next(rows)["line"] == 1
    assert hits.total == 1  # the others were not looked for yet
    assert sum(1 for _ in rows) == 149
    assert (hits.total, hits.shown) == (150, 150)
    few = opened.found(level="error", limit=2)
    assert [row["quote"][:26] for row in few] == ["2026-11-29T11:30:10Z ERROR", "2026-11-29T11:31:10Z ERROR"]
    assert (few.total, few.shown) == (30, 2)


def test_the_newest_come_first(log: Path) -> None:
    lines = run("search", log, "--newest-first", "--limit", "0").stdout.splitlines()
    assert len(lines) == 150
    assert lines[0].startswith(f"{log}:208:2026-11-29T11:59:10Z ERROR")
    assert lines[-1].startswith(f"{log}:1:")


def test_a_histogram_counts_over_time(log: Path) -> None:
    found = document("histogram", log, "--bucket", "1h", "--level", "error")
    assert [b["count"] for b in found["buckets"]] == [30]
    rows = list(csv.DictReader(io.StringIO(run("histogram", log, "--bucket", "1h", "--csv").stdout)))
    assert [r["count"] for r in rows] == ["60", "90"]


def test_a_histogram_has_as_many_parts_as_programs_take(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        result = run("histogram", log, "--bucket", "1m", "--csv")
        rows = list(csv.DictReader(io.StringIO(result.stdout)))
        assert len(rows) == 120
        assert rows[0]["from"] == "2026-11-29 18:00:00 +0800"
    finally:
        monkeypatch.undo()
        time.tzset()
    assert len(document("histogram", log, "--bucket", "1s")["buckets"]) == 150
    narrow = ("--since", "2026-11-29T11:30:00Z", "--until", "2026-11-29T11:39:59Z")
    assert document("histogram", log, *narrow, "--bucket", "1m")["total"] == 20
    refused = run("histogram", log, "--bucket", "1ms")
    assert refused.exit_code == 2
    assert "more than 10,000 buckets" in refused.stderr
    assert "at least 715ms" in refused.stderr


def test_standard_input_is_read(log: Path) -> None:
    found = document("overview", "-", given=log.read_bytes())
    assert found["files"][0]["source"] == "stdin"
    assert found["events"] == 150


@pytest.mark.parametrize(
    "arguments",
    [("overview",), ("templates",), ("search", "--limit", "0"), ("templates", "--csv"), ("search", "--csv", "--limit", "0"),
     ("overview", "--json"), ("search", "-C", "2", "--json"), ("templates", "--summary-csv"), ("histogram",)],
)  # fmt: skip
def test_no_control_or_direction_character_of_a_log_is_printed(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    path = tmp_path / f"a{HOSTILE.replace('/', '')}.log"
    rows = [f"2026-11-29T10:00:{n:02d}Z ERROR {HOSTILE} out of memory in {HOSTILE}{n}" for n in range(20)]
    path.write_text("\n".join(rows), encoding="utf-8")
    name, *options = arguments
    result = run(name, path, *options)
    assert result.exit_code == 0
    for stream in (result.stdout, result.stderr):
        raw = [c for c in stream if not c.isprintable() and c not in "\r\n"]
        assert raw == []


def test_times_are_shown_in_the_readers_zone(log: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "Asia/Shanghai")
    time.tzset()
    try:
        assert "2026-11-29 18:00:00 +0800" in run("overview", log).stdout
        here = document("search", log, "--until", "2026-11-29T18:00:30", "--limit", 0)
        assert here["total"] == 1
    finally:
        monkeypatch.undo()
        time.tzset()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("overview", "{folder}/missing.log"), "no file"),
        (("search", "{log}", "-e", "("), "not valid"),
        (("search", "{log}", "--level", "loud"), "no level"),
        (("search", "{log}", "--since", "soon"), "no time"),
        (("search", "{log}", "--since", "2026-11-29T11:00", "--until", "2026-11-29T10:00"), "ends before"),
        (("compare", "{log}", "--split-at", "line x"), "names no line"),
        (("compare", "{log}", "--split-at", "2031-01-01"), "holds no event"),
        (("templates", "{log}", "--sort", "size"), "no order"),
        (("compare", "{log}"), "nothing to compare"),
        (
            ("compare", "{log}", "--before", "2026-11-29T10:00:00Z..2026-11-29T11:00:00Z"),
            "nothing to compare",
        ),
        (("histogram", "{log}", "--bucket", "1ms"), "buckets"),
    ],
)
def test_what_a_person_can_mend_ends_with_two_and_three_parts(
    log: Path, arguments: tuple[str, ...], word: str
) -> None:
    given = [a.format(log=log, folder=log.parent) for a in arguments]
    result = run(*given)
    assert (result.exit_code, result.stdout) == (2, "")
    assert word in result.stderr
    assert "why:" in result.stderr
    assert "next:" in result.stderr
    error = json.loads(run(*given, "--json").stdout)["error"]
    assert word in error["message"]
    assert error["next_step"]


def test_a_window_without_lines_says_where_the_log_has_some(log: Path) -> None:
    for name in ("search", "histogram", "entities"):
        result = run(name, log, "--since", "2031-01-01", "--utc")
        assert result.exit_code == 0
        assert (
            "no line fits; the log runs from 2026-11-29 10:00:00 +0000 to 2026-11-29 11:59:10 +0000"
            in result.stderr
        )


def test_what_a_spreadsheet_would_compute_is_text_in_csv(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    texts = ["=HYPERLINK(1)", "+1+2", "-2+3", "@SUM(A1)"]
    path.write_text("".join(f"{text} came\n" for text in texts), encoding="utf-8")
    rows = list(csv.reader(io.StringIO(run("search", path, "--csv", "--limit", 0).stdout)))[1:]
    assert [row[-1] for row in rows] == [f"'{text} came" for text in texts]


def test_a_file_whose_name_is_no_utf8_is_read(tmp_path: Path) -> None:
    name = os.fsencode(tmp_path) + b"/" + "日志".encode("gbk") + b".log"
    with open(name, "wb") as file:  # noqa: PTH123 - bytes are no Path
        file.write(b"2026-11-29T10:00:00Z ERROR db pool exhausted\n")
    (source,) = document("overview", tmp_path)["files"]
    assert "\\udcc8\\udcd5" in source["source"]


def test_a_terminal_that_lacks_a_character_is_shown_its_escape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.log"
    path.write_text("2026-11-29T10:00:00Z ERROR 连接池耗尽\n", encoding="utf-8")
    screen = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr(sys, "stdout", screen)
    monkeypatch.setattr(sys, "argv", ["nightdesk", "logs", "search", str(path)])
    with pytest.raises(SystemExit) as ended:
        main()
    screen.flush()
    assert ended.value.code == 0
    assert b"ERROR \\u8fde\\u63a5" in screen.buffer.getvalue()


def test_all_rows_of_a_comparison_are_told_to_who_asks(tmp_path: Path) -> None:
    before, after = tmp_path / "a.log", tmp_path / "b.log"
    words = [
        f"{a}{b}"
        for a in ("amber", "birch", "cedar", "delta", "ember")
        for b in ("gate", "hook", "jar", "key", "lid")
    ]
    usual = [f"2026-11-29T10:00:{n % 60:02d}Z INFO tick {n} of the clock" for n in range(200)]
    before.write_text("\n".join(usual), encoding="utf-8")
    new = [f"2026-11-29T12:01:{n % 60:02d}Z ERROR {w} of {w}s {w}" for w in words for n in range(40)]
    after.write_text("\n".join([*usual, *new]), encoding="utf-8")
    short = run("compare", before, after, "--csv", "--limit", 3)
    assert short.stdout.count("new,") == 3
    assert "22 more: raise --limit" in short.stderr
    assert run("compare", before, after, "--csv", "--limit", 0).stdout.count("new,") == 25


@pytest.mark.parametrize("columns", ["60", "200"])
def test_a_comparison_is_whole_at_every_width(
    log: Path, monkeypatch: pytest.MonkeyPatch, columns: str
) -> None:
    monkeypatch.setenv("COLUMNS", columns)
    shown = run("compare", log, "--baseline", "first_error").stdout
    assert "first_error: " in shown
    assert "db connection pool exhausted after <*> s" in shown
    assert f"{log}:92" in shown.replace("\n", "")


def test_ctrl_c_gives_what_there_is_and_says_so() -> None:
    code = "from coordinator.cli import main; main()"
    argv, pipe = [sys.executable, "-P", "-c", code, "logs", "overview", "-", "--json"], subprocess.PIPE
    with subprocess.Popen(argv, stdin=pipe, stdout=pipe, stderr=pipe) as command:
        assert command.stdin is not None
        assert command.stdout is not None
        assert command.stderr is not None
        line = b"2026-11-29T10:00:00Z ERROR db connection pool exhausted\n"
        command.stdin.write(line * 2000)
        command.stdin.flush()  # and it stays open: a stream that says nothing more
        deadline = time.monotonic() + 60
        while not _copied_bytes(command.pid):
            assert time.monotonic() < deadline
            assert command.poll() is None
        command.send_signal(signal.SIGINT)
        out, told = command.stdout.read(), command.stderr.read()
        command.stdin.close()
        assert command.wait(60) == 130
    found = json.loads(out)
    assert 0 < found["events"] <= 2000
    assert found["stopped"]["bytes"] > 0
    assert b"stopped after" in told
    assert b"Traceback" not in told


def _copied_bytes(pid: int) -> int:
    """Return how much of its input a command has copied so far."""
    for link in Path(f"/proc/{pid}/fd").glob("*"):
        try:
            if "nightdesk-" in str(link.readlink()):
                return link.stat().st_size
        except OSError:
            continue
    return 0


@pytest.mark.parametrize("arguments", [("templates", "--csv"), ("search", "--limit", "0"), ("overview",)])
def test_a_reader_that_goes_away_is_no_failure(log: Path, arguments: tuple[str, ...]) -> None:
    big = log.with_name("big.log")
    big.write_bytes(log.read_bytes() * 20)
    argv = [
        sys.executable,
        "-P",
        "-c",
        "from coordinator.cli import main; main()",
        "logs",
        *arguments,
        str(big),
    ]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as command:
        assert command.stdout is not None
        assert command.stderr is not None
        command.stdout.close()
        told = command.stderr.read().decode()
    assert "Traceback" not in told
    assert "Exception ignored" not in told
    assert command.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (("templates", "--level", "loud"), "no level"),
        (("templates", "--sort", "size"), "no order"),
        (("templates", "-e", "("), "not valid"),
        (("search", "-e", "("), "not valid"),
        (("search", "--level", "loud"), "no level"),
        (("histogram", "--bucket", "5parsec"), "no width"),
        (("entities", "--by", "a b;"), "nothing to break down by"),
        (("compare", "--baseline", "yesterday"), "no baseline"),
    ],
)
def test_a_slip_is_told_before_any_log_is_looked_for(
    tmp_path: Path, arguments: tuple[str, ...], word: str
) -> None:
    name, *options = arguments
    result = run(name, tmp_path / "missing.log", *options)
    assert result.exit_code == 2
    assert word in result.stderr
    assert "no file" not in result.stderr


def test_overview_shows_what_came_shortly_before_and_where_it_comes_from(tmp_path: Path) -> None:
    def row(minute: int, second: int, host: int, text: str) -> str:
        return f"2026-11-29T{10 + minute // 60}:{minute % 60:02d}:{second:02d}Z node-{host} shop[1]: {text}"

    rows = [row(n, 0, n % 3, f"INFO request {n} served") for n in range(60)]
    rows.append(row(59, 30, 1, "INFO cache-v9 is warmed by hand"))
    rows += [row(60 + n, 0, 1, "ERROR cannot reach payments-db: refused") for n in range(20)]
    rows += [row(60 + n, 30, n % 3, f"INFO request {n} served") for n in range(20)]
    path = tmp_path / "app.log"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    found, shown = document("overview", path), run("overview", path, "--utc").stdout
    assert [row["line"] for row in found["before"]] == [61]
    assert found["problems"][0]["where"].startswith("only node-1")
    part = shown[shown.index("Shortly before the trouble") :]
    assert "cache-v9 is warmed by hand" in part
    assert "app.log:61" in part
    assert f"from {found['problems'][0]['where']}" in shown


def test_overview_shows_warnings_where_there_is_no_problem(tmp_path: Path) -> None:
    rows = [f"2026-11-29T10:{n:02d}:00Z INFO request {n} served" for n in range(60)]
    rows += [f"2026-11-29T11:{n:02d}:00Z WARN quota of tenant a is nearly used" for n in range(7)]
    path = tmp_path / "app.log"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    shown = run("overview", path, "--utc").stdout
    assert "No problem was found" in shown
    part = shown[shown.index("Warnings, those that came most") :]
    assert "app.log:61" in part
    assert "7 × " in part
