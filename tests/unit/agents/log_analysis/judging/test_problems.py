"""Problems are ranked by what came first, unless a log holds nothing but trouble, or is a window of another."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.judging.problems import problems
from agents.log_analysis.judging.reasons import doubts_of
from agents.log_analysis.scanning.summary import summarise
from agents.log_analysis.scanning.within import within
from tests.support.log_scans import START, log, read

NOISE = [(n, "ERROR web - cannot render the footer") for n in range(0, 600, 20)]
CAUSE = [(n + 1, f"ERROR store - disk full: no space left on device, order {n}") for n in range(0, 600, 5)]


def test_in_a_log_of_errors_alone_nothing_is_chronic(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*NOISE, *CAUSE))
    first, second = problems(scan, summary)
    assert "disk full" in first.profile.message
    assert first.score > 1
    assert (first.chronic, second.chronic) == (False, False)
    assert "nothing but trouble" in first.doubts[0]
    assert doubts_of([{"doubts": list(first.doubts)}]) == list(first.doubts)


def test_with_healthy_lines_beside_it_what_is_always_there_is_chronic(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*NOISE, *CAUSE, *((n, "INFO web - served") for n in range(600))))
    assert all(p.chronic for p in problems(scan, summary))


def test_among_errors_alone_one_that_begins_late_is_not_chronic_and_the_others_are(tmp_path: Path) -> None:
    late = [(n, "ERROR db - connection refused by 10.0.0.3") for n in range(400, 600, 10)]
    scan, summary = read(tmp_path, log(*NOISE, *late))
    found = problems(scan, summary)
    assert [("refused" in p.profile.message, p.chronic) for p in found] == [(True, False), (False, True)]


def test_a_window_is_judged_by_its_own_lines_and_chronic_by_the_whole_log(tmp_path: Path) -> None:
    healthy = [(n, f"INFO web - served {n}") for n in range(600)]
    pool = [(n, f"ERROR db - pool exhausted: {n}/500 connections") for n in range(100, 600, 7)]
    scan, whole = read(tmp_path, log(*healthy, *NOISE, *pool))
    view = within(scan, START + 300, START + 400)
    summary = summarise(view)
    assert (summary.start, summary.end) == (START + 300, START + 400)
    found = problems(view, summary, whole)
    assert [p.group.count for p in found] == [14, 6]
    assert [p.chronic for p in found] == [False, True]
    assert "303/500" in found[0].profile.message
    assert view.body(0).read(found[0].profile.line, found[0].profile.line)[0].endswith("303/500 connections")
    assert "100/500" in scan.profiles[found[0].group.template].message
    assert len(summarise(scan).groups) == len(whole.groups)


@pytest.mark.parametrize(
    ("line", "count"),
    [
        ("WARN node: Got exception while serving blk_{n} to /10.0.0.{n}", 1),
        ("WARN node: transfer of {n} failed", 1),
        ("INFO wsgi: HTTP exception thrown: no instance found for {n}", 1),
        ("WARN node: nightly check done, 0 failed, {n} items", 0),
        ("WARN node: transfer of {n} failed, the retry succeeded", 0),
        ("WARN node: search term=exception {n}", 0),
        ("INFO node: {n} exceptions are configured", 0),
        ("DEBUG wsgi: HTTP exception thrown: {n}", 0),
    ],
)
def test_what_complains_again_and_again_is_a_possible_cause_where_nothing_is_worse(
    scan_of, line: str, count: int
) -> None:
    rows = [
        f"2026-11-28T08:{n // 60:02}:{n % 60:02}Z "
        + (line.format(n=n) if n % 30 == 7 else f"INFO node: served block {n}")
        for n in range(600)
    ]
    scan = scan_of("\n".join(rows))
    found = problems(scan, summarise(scan))
    assert len(found) == count
    assert all(0 < problem.score < 0.4 for problem in found)
    worse = scan_of("\n".join([*rows, "2026-11-28T08:20:00Z ERROR node: disk is full"]))
    assert [p.kind.key for p in problems(worse, summarise(worse))] == ["disk_full"]


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("WARN option drain_timeout is deprecated; use stop-timeout (no effect)", False),
        ("WARN unknown setting server.tls.certificate.expired_days, ignored", False),
        ("WARN the flag --timeout is obsolete", False),
        ("WARN property connectTimeout is not used any more", False),
        ("WARN request_timeout: no answer from the ledger", True),
        ("WARN option drain_timeout: the ledger timed out", True),
    ],
)
def test_a_word_of_trouble_in_the_name_of_a_setting_is_none(scan_of, line: str, found: bool) -> None:
    rows = [f"2026-11-28T08:00:{n:02}Z {line if n % 3 == 1 else f'INFO served {n}'}" for n in range(60)]
    scan = scan_of("\n".join(rows))
    assert bool(problems(scan, summarise(scan))) is found
