"""Long, killed, stopped and hogging work: real workers on one Redis and one database, messages back after two seconds."""

from __future__ import annotations

import signal
import time

import pytest

from tests.support.little_fleet import LEASE_SECONDS, TICK_SECONDS, Fleet, until

pytestmark = pytest.mark.integration

#: A dead worker is noticed after lease and tick; the rest is for a busy machine.
RECOVERY_SECONDS = LEASE_SECONDS + TICK_SECONDS + 15.0
#: Longer than the lease (2 s), the visibility time-out (2 s) and every tick.
LONG = 4.5


def test_symptom_01_a_long_tool_call_is_not_redelivered_while_it_runs(fleet: Fleet) -> None:
    run_id = fleet.play([[("wait", {"what": "s01", "seconds": LONG})]])
    fleet.begun("s01")
    first = fleet.assignment(run_id).lease_until
    until(lambda: fleet.assignment(run_id).lease_until > first + LEASE_SECONDS, fleet.logs)
    assert fleet.ended(run_id).state == "succeeded"
    assert fleet.marks("s01") == ["wait s01 begins", "wait s01 ends"]
    assert (fleet.assignment(run_id).fence, fleet.assignment(run_id).attempts) == (1, 0)


def test_symptom_02_a_worker_killed_in_the_middle_and_the_run_ends_without_doing_step_one_again(
    fleet: Fleet,
) -> None:
    middle = ("wait", {"what": "s02-two", "seconds": 3.0})
    run_id = fleet.play([[("step", {"what": "s02-one"})], [middle], [("step", {"what": "s02-three"})]])
    busy, idle = fleet.holder("s02-two")
    fleet.kill(busy)
    killed = time.monotonic()
    fleet.begun("s02-two", times=2)
    assert time.monotonic() - killed < RECOVERY_SECONDS
    assert fleet.ended(run_id).state == "succeeded"
    assert fleet.marks("s02") == [
        "step s02-one done",
        "wait s02-two begins",
        "wait s02-two begins",
        "wait s02-two ends",
        "step s02-three done",
    ]
    assert fleet.pid(idle) in fleet.makers("s02-three")


def test_symptom_03_a_kill_between_the_effect_and_its_record_does_not_do_it_twice(fleet: Fleet) -> None:
    wait = [("wait", {"what": "s03-before", "seconds": 0.5})]
    run_id = fleet.play([wait, [("send", {"what": "s03-sent"})]])
    busy, _ = fleet.holder("s03-before")
    fleet.arm(busy, "call.effect:after", after="s03-sent")
    fleet.processes[busy].wait(60)  # it died behind the effect, before the record
    assert fleet.marks("s03-sent") == ["send s03-sent done"]
    assert [c.state for c in fleet.calls(run_id)] == ["done", "claimed"]
    assert fleet.ended(run_id).state == "succeeded"
    assert fleet.marks("s03-sent") == ["send s03-sent done"]
    sent = fleet.calls(run_id)[-1]
    assert (sent.state, sent.result) == ("done", {"value": "seen in the world"})


def test_symptom_04_a_time_out_starts_no_second_attempt_beside_the_first(fleet: Fleet) -> None:
    run_id = fleet.play(
        [[("block_briefly", {"what": "s04a", "seconds": 3.0})], [("step", {"what": "s04a-after"})]]
    )
    assert fleet.ended(run_id).state == "succeeded"
    call = fleet.calls(run_id)[0]
    assert (call.state, call.attempts) == ("failed", 1)
    assert call.result is not None
    assert "took longer than 1 s" in call.result["error"]["message"]
    until(lambda: "block s04a ends" in fleet.marks(), fleet.logs)  # it never heard of it
    assert [m for m in fleet.marks("s04a") if m.startswith("block")] == [
        "block s04a begins",
        "block s04a ends",
    ]


def test_symptom_04_a_late_write_of_a_worker_that_lost_its_lease_is_rejected(fleet: Fleet) -> None:
    run_id = fleet.play([[("wait", {"what": "s04b", "seconds": 1.0})], [("step", {"what": "s04b-after"})]])
    busy, idle = fleet.holder("s04b")
    fleet.signal(busy, signal.SIGSTOP)  # alive, and out of the world for longer than its lease
    try:
        fleet.begun("s04b", times=2)
        taken = fleet.assignment(run_id)
        assert (taken.fence > 1, taken.worker.endswith(f":{fleet.pid(idle)}")) == (True, True)
    finally:
        fleet.signal(busy, signal.SIGCONT)
    assert fleet.ended(run_id).state == "succeeded"
    until(lambda: "lease_lost" in fleet.log(busy) or "no longer ours" in fleet.log(busy), fleet.logs)
    assert fleet.makers("s04b-after") == {fleet.pid(idle)}
    assert {c.fence for c in fleet.calls(run_id)} == {taken.fence}
    assert fleet.marks("s04b-after") == ["step s04b-after done"]


def test_symptom_06_a_tool_that_holds_the_loop_does_not_let_the_lease_lapse(fleet: Fleet) -> None:
    run_id = fleet.play([[("hog", {"what": "s06", "seconds": LONG})]])
    assert fleet.ended(run_id).state == "succeeded"
    assert fleet.marks("s06") == ["hog s06 begins", "hog s06 ends"]
    assert (fleet.assignment(run_id).fence, fleet.assignment(run_id).attempts) == (1, 0)


def test_celery_05_work_that_kills_its_worker_each_time_stops_at_the_limit_with_a_dead_letter(
    fleet: Fleet,
) -> None:
    from sqlmodel import select

    from kernel.records import DeadLetterRow

    run_id = fleet.play([[("poison", {"what": "c05"})]])
    for times in (1, 2, 3):  # the limit; a supervisor brings each of them back
        until(lambda n=times: len(fleet.marks("c05")) == n, fleet.logs)
        dead = until(
            lambda: [n for n, p in fleet.processes.items() if p.poll() is not None], lambda: "nobody died"
        )
        if times < 3:
            fleet.start(*dead)
    ended = fleet.ended(run_id)
    assert (ended.state, "died 3 times" in ended.reason) == ("failed", True)
    assert fleet.marks("c05") == ["poison c05 begins"] * 3
    with fleet.database.reading() as db:
        letters = db.exec(select(DeadLetterRow).where(DeadLetterRow.subject == f"{run_id}:job")).all()
    assert len(letters) == 1
