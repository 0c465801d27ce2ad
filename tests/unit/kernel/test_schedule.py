from __future__ import annotations

from datetime import UTC, datetime

from kernel.broker import MAINTENANCE, MEMORY
from kernel.schedule import schedule
from kernel.settings import Settings
from memory_service.tasks import DOORBELLS

HOUR = 3600.0


def test_the_memory_is_compared_each_hour_and_whole_each_night_and_fades_each_night() -> None:
    entries = schedule(Settings(), maintenance=MAINTENANCE, memory=MEMORY)
    of_memory = {name: entry for name, entry in entries.items() if entry["task"].startswith("memory.")}
    assert {entry["options"]["queue"] for entry in of_memory.values()} == {MEMORY}
    assert {entry["task"].removeprefix("memory.") for entry in of_memory.values()} <= set(DOORBELLS)
    assert (entries["compare-memory"]["task"], entries["compare-memory"]["schedule"]) == (
        "memory.reconcile",
        HOUR,
    )
    nightly = entries["nightly-compare-memory"]
    assert (nightly["task"], nightly["args"]) == ("memory.reconcile", ("full",))
    assert (entries["flush-reinforcements"]["task"], entries["flush-reinforcements"]["schedule"]) == (
        "memory.reinforce",
        60.0,
    )
    # the night's jobs are due once between two noons, one behind the other
    noon = datetime(2026, 11, 2, 12, tzinfo=UTC)
    jobs = [entries[name]["schedule"] for name in ("nightly-decay", "nightly-compare-memory")]
    assert [(job.hour, job.minute) for job in jobs] == [({3}, {10}), ({3}, {40})]
    for job in jobs:
        job.nowfun = lambda: noon
        assert job.remaining_estimate(noon).total_seconds() < 16 * HOUR
