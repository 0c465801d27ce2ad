"""The last line is read by scripts: its form is fixed."""

from __future__ import annotations

import re
from pathlib import Path

from tests.chaos.checker import Verdict, percentile
from tests.chaos.exits import exits
from tests.chaos.figures import last_line, table


def test_the_last_line() -> None:
    storm = Verdict("storm", runs=150, ended=150, kills=37, redis_restarts=2, recovery=[1.0, 2.0, 4.25])
    storm.unknown = [{"why": "kill of worldly"}]
    cancel = Verdict("cancel", runs=3, ended=3, cancel_end=[0.5], cancel_socket=[0.05, 0.0874])
    assert last_line([storm, cancel]) == (
        "chaos: runs=153 ended=153 lost=0 duplicates=0 unknown=1 (each explained) kills=37 redis_restarts=2 "
        "recovery_p95=4.2s cancel_p95=87ms budget_over=0"
    )


def test_what_is_not_explained_is_said() -> None:
    verdict = Verdict("storm", runs=1, ended=1, unknown=[{"why": ""}])
    assert "unknown=1 (NOT ALL EXPLAINED)" in last_line([verdict])


def test_the_table_names_each_broken_promise() -> None:
    verdict = Verdict(
        "storm", runs=2, ended=1, lost=["x: stuck as working"], broken=[f"b{n}" for n in range(20)]
    )
    text = table([verdict])
    assert re.search(r"^storm +2 +1 +1 .*BROKEN$", text, re.MULTILINE)
    assert "BROKEN storm: x: stuck as working" in text
    assert "and 9 more" in text


def test_percentiles_are_nearest_ranks() -> None:
    values = [float(n) for n in range(1, 101)]
    assert (percentile(values, 0.5), percentile(values, 0.95), percentile(values, 1.0)) == (50.0, 95.0, 100.0)
    assert percentile([3.0], 0.95) == 3.0
    assert percentile([], 0.95) == 0.0


def test_exits_are_read_from_supervisors_log(tmp_path: Path) -> None:
    log = tmp_path / "supervisord.log"
    log.write_text(
        "2026 INFO spawned: 'worldly-2' with pid 5\n2026 INFO exited: worldly-2 (exit status 0; expected)\n"
        "2026 INFO spawned: 'worldly-2' with pid 6\n"
        "2026 WARN exited: worldly-2 (terminated by SIGKILL; not expected)\n"
    )
    assert [(row["pid"], row["how"]) for row in exits(log)] == [
        (5, "exit status 0"),
        (6, "terminated by SIGKILL"),
    ]
