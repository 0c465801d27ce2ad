"""What came after a problem."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from agents.log_analysis.judging.aftermath import RECOVERED, aftermath
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


@pytest.mark.parametrize("text", ["pool recovered", "back to normal", "reconnected to redis", "数据库已恢复"])
def test_words_of_recovery(text: str) -> None:
    assert RECOVERED.search(text)


def test_a_log_without_times_tells_nothing(scan_of: Callable[..., Scan]) -> None:
    scan = scan_of("INFO fine\nERROR connection refused\nINFO restored")
    summary = summarise(scan)
    assert aftermath(scan, summary, problems(scan, summary)[0]).recovered is None
