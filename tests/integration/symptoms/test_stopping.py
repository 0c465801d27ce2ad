"""Drain, cancel and decisions over the life and death of real workers."""

from __future__ import annotations

import asyncio
import signal
import time

import pytest

from coordinator.app import make_parts
from kernel.errors import Refused
from tests.support.little_fleet import DRAIN_SECONDS, PATIENCE, Fleet, cancel, until
from tests.support.promptness import quickest

pytestmark = pytest.mark.integration

#: For an interpreter to end on a busy machine, after its work has.
EXIT_SECONDS = 20.0


def decide(fleet: Fleet, run_id: str, call: str) -> None:
    async def once() -> None:
        parts = make_parts(fleet.settings)
        try:
            await parts.decisions.decide(run_id, call, "approved", by="ann")
        finally:
            await parts.close()

    asyncio.run(once())


def test_symptom_05_a_worker_told_to_end_keeps_its_task_and_ends_it_with_exit_code_zero(fleet: Fleet) -> None:
    run_id = fleet.play([[("wait", {"what": "s05", "seconds": 3.0})]])
    busy, _ = fleet.holder("s05")
    pid = fleet.pid(busy)
    assert fleet.end(busy) == 0
    assert fleet.ended(run_id).state == "succeeded"
    assert fleet.marks("s05") == ["wait s05 begins", "wait s05 ends"]
    assert fleet.makers("s05") == {pid}
    assert fleet.assignment(run_id).attempts == 0


def test_drain_hands_back_what_does_not_end_in_time_and_exits_zero(fleet: Fleet) -> None:
    run_id = fleet.play([[("wait", {"what": "drain-back", "seconds": DRAIN_SECONDS + 2.0})]])
    busy, idle = fleet.holder("drain-back")
    began = time.monotonic()
    assert fleet.end(busy) == 0
    assert time.monotonic() - began < DRAIN_SECONDS + EXIT_SECONDS
    fleet.begun("drain-back", times=2)
    assert fleet.assignment(run_id).attempts == 0  # handed back, not lost
    cancel(fleet, run_id)
    assert fleet.ended(run_id).state == "cancelled"
    assert fleet.pid(idle) in fleet.makers("drain-back")


def test_drain_is_not_held_by_a_thread_that_hears_nothing(fleet: Fleet) -> None:
    fleet.play([[("block", {"what": "drain-stuck", "seconds": 90.0})]])
    busy, _ = fleet.holder("drain-stuck")
    began = time.monotonic()
    assert fleet.end(busy) == 0
    assert time.monotonic() - began < DRAIN_SECONDS + EXIT_SECONDS
    assert "block drain-stuck ends" not in fleet.marks()
    fleet.begun("drain-stuck", times=2)  # the other worker has it
    (other,) = [n for n in fleet.processes if n.startswith("worker")]
    fleet.kill(other)  # nor is the next test held by it


def test_celery_20_a_cancel_during_a_drain_still_stops_the_work(fleet: Fleet) -> None:
    names = (f"c20-{number}" for number in range(9))

    def cut() -> float:
        fleet.ensure("worker-a", "worker-b")
        what = next(names)
        run_id = fleet.play([[("wait", {"what": what, "seconds": 60.0})]])
        busy, _ = fleet.holder(what)
        fleet.signal(busy, signal.SIGTERM)
        until(lambda: fleet.pid(busy) not in fleet.carded(), fleet.logs)  # it drains: its card is down
        said = cancel(fleet, run_id)
        until(lambda: fleet.assignment(run_id).state == "cancelled", fleet.logs)
        took = time.monotonic() - said
        assert fleet.processes.pop(busy).wait(PATIENCE) == 0
        assert fleet.ended(run_id).state == "cancelled"
        assert fleet.marks(what) == [f"wait {what} begins"]
        return took

    quickest(cut, within=1.0)


def test_celery_19_a_cancel_said_while_no_worker_was_up_holds(little: Fleet) -> None:
    little.ensure("worker-a")
    little.kill("worker-a")  # nobody takes its card down: work is queued for it
    run_id = little.play([[("step", {"what": "c19"})]])
    until(lambda: (row := little.run(run_id)) and row.state == "working", little.logs)
    assert little.assignment(run_id).state == "queued"
    cancel(little, run_id)
    little.ensure("worker-a", "worker-b")
    assert little.ended(run_id).state == "cancelled"
    later = little.play([[("step", {"what": "c19-later"})]])
    assert little.ended(later).state == "succeeded"  # the queue has been worked off
    assert little.marks("c19") == ["step c19-later done"]


def test_symptom_11_an_approval_reaches_another_process_after_the_asking_worker_died(fleet: Fleet) -> None:
    run_id = fleet.play([[("risky", {"what": "s11"})], [("step", {"what": "s11-after"})]])
    until(lambda: (row := fleet.run(run_id)) and row.state == "waiting", fleet.logs)
    asked = fleet.assignment(run_id).worker.rpartition(":")[2]
    fleet.kill(fleet.name_of(int(asked)))
    decide(fleet, run_id, "job.1.1")
    with pytest.raises(Refused, match="already approved"):
        decide(fleet, run_id, "job.1.1")
    assert fleet.ended(run_id).state == "succeeded"
    assert fleet.marks("s11") == ["risky s11 done", "step s11-after done"]
    assert int(asked) not in fleet.makers("s11")


def waits(fleet: Fleet, what: str) -> float:
    """Return the 95th of a hundred of how long runs of another tenant wait for a worker."""
    runs = [
        fleet.play([[("step", {"what": f"{what}-{number:02d}"})]], namespace="other") for number in range(20)
    ]
    waited = []
    for run_id in runs:
        created, started = fleet.ended(run_id).created_at, fleet.assignment(run_id).started_at
        assert started is not None
        waited.append((started - created).total_seconds())
    return sorted(waited)[-2]


def test_symptom_20_wedged_jobs_delay_nobody_else(fleet: Fleet) -> None:
    free = waits(fleet, "s20-free")
    wedged = [[(kind, {"what": f"s20-{kind}", "seconds": 90.0})] for kind in ("block", "wait")]
    runs = [fleet.play([calls], namespace="wedged") for calls in wedged]
    for kind in ("block", "wait"):
        fleet.begun(f"s20-{kind}")
    # two seconds; where the machine is busy with other things, no more than it takes anyhow
    assert waits(fleet, "s20-other") < max(2.0, 2 * free)
    assert not [m for m in fleet.marks("s20-") if m.endswith("ends")]  # both are wedged to this moment
    for run_id in runs:
        cancel(fleet, run_id)
        assert fleet.ended(run_id).state == "cancelled"


def test_symptom_20_hung_threads_of_tools_do_not_hold_the_commits_of_others(little: Fleet) -> None:
    little.ensure("worker-a")
    hung = [[("block_briefly", {"what": f"s20-hung-{n:02d}", "seconds": 90.0}) for n in range(40)]]
    run_id = little.play(hung)
    little.begun("s20-hung", times=30)
    other = little.play([[("step", {"what": "s20-beside"})]])
    assert little.ended(other).state == "succeeded"
    assert little.ended(run_id).state == "succeeded"
    assert not [m for m in little.marks("s20-hung") if m.endswith("ends")]  # they hang to this moment
    assert {c.state for c in little.calls(run_id)} == {"failed"}
    little.kill("worker-a")  # forty of its threads hang on
