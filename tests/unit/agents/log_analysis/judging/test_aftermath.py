"""What came after a problem."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.log_analysis.formats.times import iso
from agents.log_analysis.judging.aftermath import RECOVERED, aftermath, following, trouble_of
from agents.log_analysis.judging.problems import problems
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import summarise


def stamp(second: int) -> str:
    return f"2026-01-01T{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}Z"


def scanned(scan_of: Callable[..., Scan], last: int, *, said: bool) -> Scan:
    rows = [f"{stamp(n)} INFO served {n}" for n in range(0, 1000, 5)]
    rows += [f"{stamp(n)} ERROR connection refused by db" for n in range(301, last, 10)]
    rows += [f"{stamp(last + 1)} INFO connection to db restored"] if said else []
    return scan_of("\n".join(sorted(rows)))


@pytest.mark.parametrize(("last", "said"), [(600, True), (600, False), (999, False)])
def test_recovery_and_quiet(scan_of: Callable[..., Scan], last: int, said: bool) -> None:
    scan = scanned(scan_of, last, said=said)
    summary = summarise(scan)
    after = aftermath(scan, summary, problems(scan, summary)[0])
    assert (after.recovered is not None) is said
    assert (after.healthy is not None) is (last == 600)
    if after.healthy is not None:
        assert after.quiet > 300
        assert after.healthy.time > problems(scan, summary)[0].group.last.time


def test_what_is_said_all_day_is_no_recovery(scan_of: Callable[..., Scan]) -> None:
    rows = [f"{stamp(n)} INFO retry succeeded after {n % 3} attempts" for n in range(0, 1000, 40)]
    rows += [f"{stamp(n)} ERROR connection refused by db" for n in range(301, 600, 10)]
    scan = scan_of("\n".join(sorted(rows)))
    summary = summarise(scan)
    found = problems(scan, summary)
    assert aftermath(scan, summary, found[0], trouble_of(found)).recovered is None


@pytest.mark.parametrize("text", ["pool recovered", "back to normal", "reconnected to redis", "数据库已恢复"])
def test_words_of_recovery(text: str) -> None:
    assert RECOVERED.search(text)


def test_a_log_without_times_tells_nothing(scan_of: Callable[..., Scan]) -> None:
    scan = scan_of("INFO fine\nERROR connection refused\nINFO restored")
    summary = summarise(scan)
    assert aftermath(scan, summary, problems(scan, summary)[0]).recovered is None


def cascade(scan_of: Callable[..., Scan]) -> Scan:
    """Return a log in which one line tells of the root, and other errors go on for a minute after it."""
    rows = [f"{stamp(n)} INFO auth - served {n}" for n in range(0, 3000, 5)]
    rows += [f"{stamp(601)} ERROR auth - Lost connection to redis: connection refused"]
    rows += [f"{stamp(n)} ERROR orders - cannot authorise order {n}" for n in range(602, 662, 3)]
    return scan_of("\n".join(sorted(rows)))


def test_the_trouble_ends_with_the_last_line_of_all_that_it_brought_about(
    scan_of: Callable[..., Scan],
) -> None:
    scan = cascade(scan_of)
    summary = summarise(scan)
    found = problems(scan, summary)
    trouble = trouble_of(found)
    assert trouble is not None
    assert (iso(trouble.first.time), iso(trouble.last.time)) == (
        "2026-01-01T00:10:01.000Z",
        "2026-01-01T00:10:59.000Z",
    )
    after = following(scan, summary, trouble, found[0], None)
    assert (after.events, after.errors) == (468, 0)
    assert after.ordinary is not None
    assert iso(after.ordinary.time) == "2026-01-01T00:49:55.000Z"
    root = next(p for p in found if p.group.count == 1)
    alone, whole = aftermath(scan, summary, root), aftermath(scan, summary, root, trouble)
    assert (round(alone.quiet), round(whole.quiet)) == (2394, 2336)


def test_what_begins_days_later_is_another_trouble(scan_of: Callable[..., Scan]) -> None:
    rows = [f"{stamp(n)} ERROR connection refused by db" for n in range(301, 400, 10)]
    rows += [f"2026-01-{day:02}T00:00:00Z INFO served" for day in range(2, 9)]
    rows += ["2026-01-09T00:00:00Z ERROR cannot parse order 17"]
    scan = scan_of("\n".join(rows))
    summary = summarise(scan)
    found = problems(scan, summary)
    trouble = trouble_of(found)
    assert trouble is not None
    assert iso(trouble.last.time).startswith("2026-01-01")
    assert following(scan, summary, trouble, found[0], None).errors == 1


def test_without_times_what_stands_below_came_after(scan_of: Callable[..., Scan]) -> None:
    scan = scan_of("INFO fine\nERROR connection refused\nINFO fine\nINFO fine")
    summary = summarise(scan)
    found = problems(scan, summary)
    trouble = trouble_of(found)
    assert trouble is not None
    assert (trouble.last.line, following(scan, summary, trouble, found[0], None).events) == (2, 2)
