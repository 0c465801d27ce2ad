"""What status says of a memory worker that refused to start, and for how long."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

from kernel.clock import now
from kernel.refusals import last_refusal, note_refusal


def test_a_refusal_is_told_until_the_memory_opens_or_nobody_tries_any_more(tmp_path: Path) -> None:
    assert last_refusal(tmp_path, now()) == ""
    note_refusal(tmp_path, "the memory index in x is open in process 7")
    told = last_refusal(tmp_path, now())
    assert told == "a memory worker did not start: the memory index in x is open in process 7"
    assert last_refusal(tmp_path, now() + timedelta(minutes=3)) == ""
    note_refusal(tmp_path, "")
    assert last_refusal(tmp_path, now()) == ""
    note_refusal(tmp_path, "")
