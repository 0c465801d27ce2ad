"""What the broker's trouble does to a worker: each row of the reference's list of threads that concerns it, and garbage.

A real redis-server and a real worker process with one slot, so that a credit that is not given back is seen at once.
"""

from __future__ import annotations

import base64
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import celery
import kombu
import pytest

from kernel.broker import Doorbell, make_celery, queue_keys
from kernel.dead_letters import KEPT_BYTES
from kernel.errors import Retryable
from kernel.redaction import Redactor
from kernel.settings import Settings
from tests.support.broker_fleet import Fleet, fleet, until, worker
from tests.support.garbage import GARBAGE, sound

pytestmark = pytest.mark.integration

#: Where a message of ours without a priority goes.
URGENT = queue_keys("coordinator")[1]
MEND = (
    "kernel/transport.py was written for Celery and kombu 5.7.0. Run the `stock` tests of this file against the new "
    "versions: where they fail, upstream has mended the fault, and our mend can go; then raise the versions here."
)


@pytest.fixture(scope="module")
def settled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    """One worker for all tests that leave it as it was."""
    with fleet(tmp_path_factory.mktemp("settled")) as made:
        yield made


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Fleet]:
    """A worker and a Redis of the test's own."""
    with fleet(tmp_path / "own") as made:
        yield made


def works(made: Fleet, what: str, task: str = "early") -> None:
    """The worker that was there takes and ends a task."""
    made.send(task, what)
    made.wait(f"{what} done")
    assert made.worker.poll() is None


# --- row 15 (celery#4308, kombu#2421, celery#1113): an undecodable message kills the worker


@pytest.mark.parametrize("kind", GARBAGE)
def test_garbage_ends_no_worker_and_costs_no_credit_row_15(settled: Fleet, kind: str) -> None:
    raw, words = GARBAGE[kind]
    before = len(settled.letters())
    with settled.client as client:
        client.lpush("coordinator", raw)
    works(settled, f"after {kind}")
    letter = until(lambda: settled.letters()[before:])[0]
    assert letter["queue"] == "coordinator"
    assert words in letter["reason"]
    assert int(letter["size"]) == len(raw)
    assert letter["first_bytes"]
    assert letter["first_bytes"].isprintable()
    kept = base64.b64decode(letter["body"]) if "body" in letter else None
    assert kept == (raw if len(raw) <= KEPT_BYTES else None)
    until(lambda: settled.unacked == 0)  # `done` is written a moment before the worker's acknowledgement


def test_fifty_megabytes_are_not_decoded_row_15(settled: Fleet) -> None:
    raw = sound(body="A" * (50 * 1024 * 1024))
    before = len(settled.letters())
    with settled.client as client:
        client.lpush("coordinator", raw)
    del raw
    works(settled, "after 50 MB")
    letter = until(lambda: settled.letters()[before:])[0]
    assert "message may have 4,194,304" in letter["reason"]
    assert "body" not in letter


def test_garbage_in_bulk_strands_no_credit_row_15(settled: Fleet) -> None:
    before = len(settled.letters())
    raw, _ = GARBAGE["a tag that no Redis can hold"]
    with settled.client as client:
        client.lpush("coordinator", *[raw] * 50)
    works(settled, "after fifty")
    until(lambda: len(settled.letters()) == before + 50)


@pytest.mark.parametrize("raw", [b"not json", b"5", b'{"properties": 7}', b'{"body": "x", "properties": {}}'])
def test_a_broadcast_of_garbage_ends_no_worker(settled: Fleet, raw: bytes) -> None:
    with settled.client as client:
        assert client.publish("/0.celery.pidbox", raw) == 1
    works(settled, f"after broadcast {raw!r}")
    assert settled.app.control.ping(timeout=30, limit=1)


def test_secrets_of_a_dead_letter_are_hidden_and_other_scripts_shown(settled: Fleet) -> None:
    before = len(settled.letters())
    with settled.client as client:
        client.lpush("coordinator", "磁盘满了 password=hunter2secret 请重启".encode())
    letter = until(lambda: settled.letters()[before:])[0]
    assert "磁盘满了" in letter["first_bytes"]
    assert "hunter2secret" not in letter["first_bytes"]


# --- row 16 (va/notification-api#991): an unregistered name is dropped


def test_an_unregistered_name_is_kept_and_told_row_16(settled: Fleet) -> None:
    before = len(settled.letters())
    settled.send("nobody", "lost-one")
    letter = until(lambda: settled.letters()[before:])[0]
    assert (letter["task"], letter["subject"]) == ("test.nobody", "lost-one")
    until(lambda: settled.app.AsyncResult("lost-one").state == "FAILURE")


# --- Redis is emptied: reference, 2.17


def test_messages_arrive_after_flushall_without_a_new_connection(own: Fleet) -> None:
    """Worker and producer stay connected; kombu's own routing table is gone."""
    with own.client as client:
        client.flushall()
        works(own, "after the flush")
        works(own, "a late one", task="late")
        assert client.exists("_kombu.binding.coordinator") == 0
        works(own, "another")


# --- row 10 (kombu#582, kombu#970, and 5.7.0): a restart of Redis with an unacknowledged message


def restart_with_an_unacked_message(made: Fleet, *, at_once: bool) -> None:
    made.send("late", "long", held=True)
    made.wait("long began")
    until(lambda: made.unacked == 1)
    made.server.kill()
    if not at_once:
        until(lambda: made.worker.poll() is not None or "Cannot connect" in made.log, lambda: made.log)
    made.server.start()


@pytest.mark.parametrize("slots", [1, 2], ids=["no slot free", "waiting for more"])
@pytest.mark.parametrize("at_once", [False, True], ids=["for a while", "at once"])
def test_a_restart_of_redis_with_an_unacked_message_row_10(tmp_path: Path, slots: int, at_once: bool) -> None:
    with fleet(tmp_path / "own", slots=slots) as own:
        restart_with_an_unacked_message(own, at_once=at_once)
        until(lambda: "Connection to broker lost" in own.log, lambda: own.log)
        own.go_on()
        own.wait("long done")
        works(own, "next")
        until(lambda: own.unacked == 0, lambda: own.log)
        assert own.seen.count("long began") == 1
        assert own.stop() == 0


def test_connections_killed_over_an_unacked_message_row_10(tmp_path: Path) -> None:
    """Redis lives on, so that a restored message would run again at once."""
    with fleet(tmp_path / "own", slots=2) as own:
        own.send("late", "long", held=True)
        own.wait("long began")
        with own.client as client:
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            client.execute_command("CLIENT", "KILL", "TYPE", "pubsub")
        works(own, "next")
        own.go_on()
        own.wait("long done")
        until(lambda: own.unacked == 0, lambda: own.log)
        assert own.seen.count("long began") == 1


# --- rows 8 and 9 (celery#8030, #8091, #9054, #8990; kombu#2582, #2561)


def test_redis_restarted_twice_under_a_settled_worker_rows_8_and_9(own: Fleet) -> None:
    for n in range(2):
        own.server.kill()
        own.server.start()
        works(own, f"after restart {n}")
    assert own.stop() == 0


# --- rows 11 and 12 (kombu#2629, celery#10205)


def test_killed_connections_are_made_again_rows_11_and_12(own: Fleet) -> None:
    with own.client as client:
        for n in range(5):
            client.execute_command("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            works(own, f"canary {n}")
    assert own.app.control.ping(timeout=30, limit=1)


# --- row 13 (celery#4453)


def test_a_redis_that_stands_still_row_13(own: Fleet) -> None:
    """Longer than the time-out of a socket, which is 15 s: the worker lives and goes on at once."""
    os.kill(own.server.pid, signal.SIGSTOP)
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            own.worker.wait(16)
    finally:
        os.kill(own.server.pid, signal.SIGCONT)
    works(own, "after the stop")


# --- row 14 (celery#5716): Redis is full


def fill(made: Fleet) -> None:
    with made.client as client:
        client.set("ballast", b"x" * 1024)
        client.config_set("maxmemory", 1)


def test_a_full_redis_loses_no_message_that_it_took_row_14(own: Fleet) -> None:
    """What waits when a worker looks is taken with its copy, also what a foreign client sent."""
    own.send("late", "holds the slot", held=True)
    own.wait("holds the slot began")
    own.send("late", "waits")
    with own.client as client:
        client.lpush("coordinator", sound("test.late", "foreign"))
    fill(own)
    with pytest.raises(Retryable, match="the broker did not take a message"):
        Doorbell(own.app, Redactor()).ring("test.early", "refused", queue_name="coordinator")
    own.go_on()
    own.wait("waits done")
    own.wait("foreign done")
    with own.client as client:
        client.config_set("maxmemory", 0)
    works(own, "after")
    until(lambda: own.unacked == 0)
    assert "message_without_copy" not in own.log
    assert (own.seen.count("waits began"), own.seen.count("foreign began")) == (1, 1)


def test_a_message_that_was_popped_is_worked_on_without_its_copy_row_14(own: Fleet) -> None:
    """A foreign client's message left its list for a worker that waited; then Redis is full."""
    own.worker.send_signal(signal.SIGSTOP)
    with own.client as client:
        client.lpush("coordinator", sound("test.late", "foreign"))
        until(lambda: client.llen("coordinator") == 0)
        fill(own)
        own.worker.send_signal(signal.SIGCONT)
        own.wait("foreign done")
        client.config_set("maxmemory", 0)
    works(own, "after")
    until(lambda: own.unacked == 0)
    assert own.log.count("message_without_copy") == 1
    assert own.seen.count("foreign began") == 1


def test_a_worker_starts_on_a_full_redis_row_14(own: Fleet, tmp_path: Path) -> None:
    own.send("late", "holds the slot", held=True)
    own.wait("holds the slot began")
    own.send("early", "waits")
    fill(own)
    with worker(tmp_path / "second", own.server) as second:
        until(lambda: "waits done" in second.seen, lambda: second.log[-3000:])
        assert second.worker.poll() is None
        assert second.stop() == 0


# --- row 6 (celery#7950): a message lost between BRPOP and the copy for redelivery


def test_a_worker_killed_before_it_reads_what_it_waited_for_row_6(own: Fleet, tmp_path: Path) -> None:
    """It stands still, so that Redis's answer lies unread in its socket; then it is killed."""
    victim = own
    with ExitStack() as stack:
        for n in range(4):
            victim.worker.send_signal(signal.SIGSTOP)
            own.send("early", f"message {n}")
            own.send("late", f"late message {n}")
            victim.worker.kill()
            victim.worker.wait()
            with own.client as client:
                assert client.llen(URGENT) == 2
            victim = stack.enter_context(worker(tmp_path / f"worker-{n}", own.server))
            victim.wait(f"message {n} done")
            victim.wait(f"late message {n} done")


def test_no_message_goes_to_a_worker_that_waits_beside_the_one_that_is_woken_row_6(
    own: Fleet, tmp_path: Path
) -> None:
    """Two workers wait: the token is for one of them, and the other one, which is killed, must get nothing."""
    with ExitStack() as stack, own.client as client:
        for n in range(4):
            other = stack.enter_context(worker(tmp_path / f"other-{n}", own.server))
            until(lambda: sum(c["cmd"] == "brpop" for c in client.client_list()) == 2)
            other.worker.send_signal(signal.SIGSTOP)
            own.send("early", f"message {n}")
            own.send("late", f"late message {n}")
            other.worker.kill()
            other.worker.wait()
            own.wait(f"message {n} done")
            own.wait(f"late message {n} done")


def test_messages_whose_tokens_are_lost_are_found_all_the_same(own: Fleet) -> None:
    own.worker.send_signal(signal.SIGSTOP)
    for n in range(5):
        own.send("early", f"message {n}")
    with own.client as client:
        client.delete("nightdesk:wake:coordinator")
    own.worker.send_signal(signal.SIGCONT)
    for n in range(5):
        own.wait(f"message {n} done")


def test_no_token_outlives_its_message(own: Fleet) -> None:
    for n in range(20):
        own.send("early", f"message {n}")
    for n in range(20):
        own.wait(f"message {n} done")
    with own.client as client:
        until(lambda: client.llen("nightdesk:wake:coordinator") == 0)
        assert [client.llen(key) for key in queue_keys("coordinator")] == [0, 0, 0, 0]


def test_a_foreign_client_is_heard_at_once(own: Fleet) -> None:
    """It knows neither our transport nor our priorities."""
    plain = celery.Celery(broker=own.server.url)
    sender: Any = plain.send_task
    sender("test.early", args=["foreign"], queue="coordinator")
    own.wait("foreign done")
    plain.close()


# --- the versions, and that the mend is still needed


def test_the_versions_are_those_that_the_mend_was_written_for() -> None:
    assert (celery.__version__, kombu.__version__) == ("5.7.0", "5.7.0"), MEND


def test_stock_a_message_that_is_no_json_still_ends_the_worker(tmp_path: Path) -> None:
    with fleet(tmp_path / "stock", program="stock_worker") as made:
        with made.client as client:
            client.lpush("coordinator", b"not json")
        assert until(lambda: made.worker.poll() is not None or None) is not None, MEND
        assert made.worker.returncode == 1, MEND


def test_stock_a_restart_with_an_unacked_message_still_ends_the_worker(tmp_path: Path) -> None:
    with fleet(tmp_path / "stock", program="stock_worker", slots=2) as made:
        restart_with_an_unacked_message(made, at_once=True)
        until(lambda: "Connection to broker lost" in made.log, lambda: MEND)
        made.go_on()  # it ends when its task has
        until(lambda: made.worker.poll() is not None, lambda: MEND)
        assert made.worker.returncode == 1, MEND
        assert "has no attribute 'hostname'" in made.log, MEND


def test_a_worker_killed_while_it_restores_holds_up_the_others_for_seconds(
    tmp_path: Path, redis_url: str
) -> None:
    app = make_celery(Settings(redis_url=redis_url, data_dir=tmp_path), "test")
    with app.connection_for_read() as connection:
        assert connection.default_channel.qos.unacked_mutex_expire == 10
    app.close()
