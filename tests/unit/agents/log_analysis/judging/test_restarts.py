from __future__ import annotations

from pathlib import Path

from agents.log_analysis.judging.restarts import restarts
from agents.log_analysis.scanning.scan import Scan
from tests.support.log_scans import log, read


def _told(scan: Scan, summary) -> list[tuple[str, int]]:
    return [(scan.services[r.service], r.row.line) for r in restarts(scan, summary)]


def _syslog(*lines: tuple[float, str, int, str]) -> str:
    return log(*((t, f"web-1 {program}[{pid}]: {text}") for t, program, pid, text in lines))


def test_a_start_in_the_middle_is_a_restart_and_the_first_is_none(tmp_path: Path) -> None:
    lines = [
        (0.0, "shop", 7, "Starting shop server v1.2"),
        (1.0, "shop", 7, "Server listening on 0.0.0.0:8080"),
    ]
    lines += [(10.0 + n * 10, "shop", 7, f"served {n}") for n in range(300)]
    lines += [
        (3100.0, "shop", 8, "Starting shop server v1.2"),
        (3101.0, "shop", 8, "Server listening on 0.0.0.0:8080"),
    ]
    lines += [(3200.0 + n * 10, "shop", 8, f"served {n}") for n in range(300)]
    scan, summary = read(tmp_path, _syslog(*lines))
    assert _told(scan, summary) == [("shop", 303)]


def test_a_process_id_that_changes_for_good_is_a_restart(tmp_path: Path) -> None:
    lines = [(n * 10.0, "shop", 11 if n < 200 else 99, f"served {n}") for n in range(400)]
    scan, summary = read(tmp_path, _syslog(*lines))
    found = restarts(scan, summary)
    assert len(found) == 1
    assert abs(found[0].row.line - 200) <= 8
    assert "11" in found[0].how
    assert "99" in found[0].how


def test_workers_side_by_side_and_sessions_are_no_restarts(tmp_path: Path) -> None:
    lines = [(n * 10.0, "sshd", 1000 + n % 7, f"Connection {n} closed") for n in range(400)]
    lines += [(n * 100.0, "systemd", 1, f"Started Session {n} of user ann.") for n in range(40)]
    scan, summary = read(tmp_path, _syslog(*lines))
    assert restarts(scan, summary) == []
