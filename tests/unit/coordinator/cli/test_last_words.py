"""What is read at the end of a dead worker's log: its error's sentence, of this start and of no other line."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.cli.last_words import last_words, log_size

SENTENCE = "sources.yaml cannot be used: because sources.网关.nope: Extra inputs. Mend the file."
TRACEBACK = 'Traceback (most recent call last):\n  File "a.py", line 1, in <module>\n    raise x\n'


@pytest.mark.parametrize(
    ("log", "said"),
    [
        (f"2026-11-29 info ready\n\x1b[31m{SENTENCE}\x1b[0m\n", SENTENCE),
        (
            f"{TRACEBACK}kernel.errors.Fatal: no AGENT: because it must be one\n",
            "no AGENT: because it must be one",
        ),
        (f"{TRACEBACK}ValueError: first\n\nDuring it:\n\n{TRACEBACK}KeyError: 'x'\n", "KeyError: 'x'"),
        (
            f"{TRACEBACK}ValidationError: 1 error\nlog_zone\n  No zone\n",
            "ValidationError: 1 error log_zone No zone",
        ),
        ('{"event": "worker_ready"}\n', ""),
        (f"{SENTENCE}\nUser information: uid=0 euid=0\n\n", ""),
        (TRACEBACK, ""),
        ("", ""),
    ],
)
def test_the_error_is_read_and_nothing_else(tmp_path: Path, log: str, said: str) -> None:
    path = tmp_path / "worker.log"
    path.write_text(log, encoding="utf-8")
    assert last_words(path) == said


def test_an_earlier_start_says_nothing_of_this_one(tmp_path: Path) -> None:
    path = tmp_path / "worker.log"
    assert (log_size(path), last_words(path)) == (0, "")
    path.write_text(f"{TRACEBACK}ValueError: old\n", encoding="utf-8")
    size = log_size(path)
    assert last_words(path, since=size) == ""
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{SENTENCE}\n")
    assert last_words(path, since=size) == SENTENCE
    path.write_text(f"{SENTENCE}\n", encoding="utf-8")  # turned over since
    assert last_words(path, since=100_000) == SENTENCE
