"""Scans are kept by the bytes they take; a call that is given up ends without them."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from agents.log_analysis.scanning.library import Library
from agents.log_analysis.sources.files import LogFile
from kernel.errors import Retryable


def logs(folder: Path, count: int) -> list[LogFile]:
    made = []
    for number in range(count):
        path = folder / f"{number}.log"
        path.write_text("".join(f"2026-03-01T06:00:{n % 60:02}Z INFO tick {n}\n" for n in range(500)))
        made.append(LogFile(name=path.name, path=path))
    return made


def test_a_scan_is_made_once_and_anew_when_the_file_has_changed(tmp_path: Path) -> None:
    library, (file,) = Library(), logs(tmp_path, 1)
    first = library.scan([file], tmp_path, 1 << 30)
    assert library.scan([file], tmp_path, 1 << 30) is first
    file.path.write_text("2026-03-01T06:00:00Z ERROR other\n")
    assert library.scan([file], tmp_path, 1 << 30).facts[0].lines == 1


def test_the_oldest_go_once_all_take_too_much(tmp_path: Path) -> None:
    files = logs(tmp_path, 3)
    one = Library().scan(files[:1], tmp_path, 1 << 30).memory
    library = Library(most=one * 2 + 1)
    scans = [library.scan([file], tmp_path, 1 << 30) for file in files]
    assert library.scan(files[2:], tmp_path, 1 << 30) is scans[2]
    assert library.scan(files[1:2], tmp_path, 1 << 30) is scans[1]
    assert library.scan(files[:1], tmp_path, 1 << 30) is not scans[0]


def test_a_stopped_scan_is_returned_and_not_kept(tmp_path: Path) -> None:
    library, (file,), stop = Library(), logs(tmp_path, 1), threading.Event()
    stop.set()
    stopped = library.scan([file], tmp_path, 1 << 30, stop=stop)
    assert stopped.stopped
    assert stopped.facts[0].notes == [f"reading was stopped after 0 of {file.path.stat().st_size:,} bytes"]
    assert library.scan([file], tmp_path, 1 << 30).facts[0].lines == 500


def test_a_call_that_waits_for_another_ends_when_it_is_given_up(tmp_path: Path) -> None:
    library, (file,), stop = Library(), logs(tmp_path, 1), threading.Event()
    key = (file.key, ("name:" + file.name, 0, 0, 0))
    lock = library._locks.setdefault(key, threading.Lock())
    with lock:  # as another call does while it reads
        stop.set()
        with pytest.raises(Retryable):
            library.scan([file], tmp_path, 1 << 30, stop=stop)
