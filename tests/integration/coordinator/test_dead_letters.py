"""Dead letters from the stream into SQL and back out: once each, with two at it, and through faults."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import redis
from sqlmodel import select

from coordinator.app import Parts
from coordinator.dead_letters import count_kept
from kernel import faults
from kernel.broker import make_celery
from kernel.dead_letters import KEPT_BYTES, STREAM, bury, describe
from kernel.errors import Correctable, Refused
from kernel.records import AssignmentRow, AuditRow, DeadLetterRow, RunRow
from kernel.redaction import Redactor
from kernel.schema import migrate
from tests.support.garbage import sound
from tests.support.little_desk import make_settings

pytestmark = pytest.mark.integration

LISTS = ("coordinator", "coordinator\x06\x161", "coordinator\x06\x163", "coordinator\x06\x166")


def made(folder: Path, url: str) -> Parts:
    settings = make_settings(folder, url, assignments="[{key: job, agent: worker, goal: do it}]")
    return Parts(settings, make_celery(settings, "test"))


@pytest.fixture
async def parts(tmp_path: Path, redis_url: str) -> AsyncIterator[Parts]:
    found = made(tmp_path, redis_url)
    migrate(found.store.database)
    yield found
    await found.close()
    found.celery.close()


def put(parts: Parts, *messages: bytes, queue: str = "coordinator") -> None:
    with redis.Redis.from_url(parts.settings.redis_url) as client:
        for raw in messages:
            bury(client, describe(queue, raw, "it is not JSON", Redactor()))


def queued(parts: Parts) -> list[bytes]:
    with redis.Redis.from_url(parts.settings.redis_url) as client:
        found = [client.lrange(key, 0, -1) for key in LISTS]
    return [raw for part in found for raw in part]  # type: ignore[union-attr] # the stubs mix in awaitables


def letters(parts: Parts) -> list[DeadLetterRow]:
    with parts.store.database.reading() as db:
        return list(db.exec(select(DeadLetterRow).order_by(DeadLetterRow.id)).all())  # type: ignore[arg-type] # a column


def audited(parts: Parts) -> list[tuple[str, str, str]]:
    with parts.store.database.reading() as db:
        return [(row.actor, row.action, row.subject) for row in db.exec(select(AuditRow)).all()]


async def test_letters_are_taken_once_and_the_stream_is_emptied(parts: Parts) -> None:
    put(parts, "磁盘 not json".encode(), b"x" * (KEPT_BYTES + 1))
    assert await parts.dead_letters.take() == 2
    assert await parts.dead_letters.take() == 0
    first, second = letters(parts)
    assert (first.kind, first.queue, first.reason, first.size) == (
        "message",
        "coordinator",
        "it is not JSON",
        15,
    )
    assert (first.first_bytes, first.body) == ("磁盘 not json", "磁盘 not json".encode())
    assert (second.body, second.size) == (None, KEPT_BYTES + 1)
    assert await parts.redis.xlen(STREAM) == 0


async def test_two_reconcilers_keep_each_letter_once(parts: Parts, tmp_path: Path) -> None:
    put(parts, *(b"%d" % n for n in range(450)))
    other = made(tmp_path, parts.settings.redis_url)
    await asyncio.gather(*(side.dead_letters.take() for side in (parts, other, parts, other)))
    await other.close()
    other.celery.close()
    assert sorted(row.body or b"" for row in letters(parts)) == sorted(b"%d" % n for n in range(450))


@pytest.mark.parametrize(
    "label",
    [
        "dead_letters.take:before",
        "dead_letters.take:after",
        "dead_letters.forget:before",
        "dead_letters.forget:after",
    ],
)
async def test_a_fault_while_taking_loses_and_doubles_nothing(parts: Parts, label: str) -> None:
    put(parts, b"one", b"two")

    def strike(reached: str) -> None:
        if reached == label:
            raise faults.InjectedFault(label)

    faults.arm(strike)
    with pytest.raises(faults.InjectedFault):
        await parts.dead_letters.take()
    faults.arm(None)
    await parts.reconciler.tick_once()
    assert [row.body for row in letters(parts)] == [b"one", b"two"]
    assert await parts.redis.xlen(STREAM) == 0


async def test_entries_of_another_make_are_kept_too(parts: Parts) -> None:
    """Anybody can write to the stream."""
    await parts.redis.xadd(STREAM, {"x": "y"})
    await parts.redis.xadd(STREAM, {"size": "many", "body": "%%", "queue": "q", "reason": "r"})
    assert await parts.dead_letters.take() == 2
    assert [(row.queue, row.reason, row.body, row.size) for row in letters(parts)] == [
        ("", "", None, 0),
        ("q", "r", None, 0),
    ]


async def test_whoever_waits_for_a_request_that_cannot_be_read_is_told(parts: Parts) -> None:
    put(parts, sound("coordinator.submit", "run-1", body="W1tdLCB7fSwge3"))
    await parts.dead_letters.take()
    report = await asyncio.to_thread(lambda: parts.celery.AsyncResult("run-1").get(timeout=30))
    assert report["state"] == "failed"
    assert "could not be read: it is not JSON" in report["reason"]


async def test_a_run_that_exists_is_not_refused_by_garbage_under_its_id(parts: Parts) -> None:
    await parts.coordinator.submit("run-1", {"text": "do it"})
    put(parts, sound("coordinator.submit", "run-1", body="W1tdLCB7fSwge3"))
    await parts.dead_letters.take()
    assert parts.celery.AsyncResult("run-1").state == "accepted"


async def test_a_message_goes_back_as_it_was_and_may_go_again(parts: Parts) -> None:
    put(parts, b"one")
    await parts.dead_letters.take()
    assert await parts.dead_letters.replay(1, by="ann") == {"queue": "coordinator"}
    assert await parts.dead_letters.replay(1, by="ann") == {"queue": "coordinator"}
    assert queued(parts) == [b"one", b"one"]
    assert letters(parts)[0].state == "replayed"
    assert audited(parts) == [("ann", "dead_letter.replayed", "1")] * 2


async def test_a_message_that_was_not_kept_cannot_go_back(parts: Parts) -> None:
    put(parts, b"x" * (KEPT_BYTES + 1))
    await parts.dead_letters.take()
    with pytest.raises(Refused, match="at most 65,536 are kept"):
        await parts.dead_letters.replay(1, by="ann")
    assert letters(parts)[0].state == "kept"
    assert audited(parts) == []


async def test_given_up_work_becomes_a_new_run_of_the_same_request(parts: Parts) -> None:
    with parts.store.database.writing("test") as db:
        request = {"text": "why 磁盘?", "priority": "high", "namespace": "ops"}
        db.add(RunRow(id="old", state="failed", request=request, priority="high"))
        db.add(AssignmentRow(id="old:job", run_id="old", key="job", agent="worker", queue="agents.worker"))
        db.add(DeadLetterRow(queue="agents.worker", subject="old:job", reason="its worker died 3 times"))
        db.add(DeadLetterRow(queue="agents.worker", subject="gone:job", reason="its worker died 3 times"))
    run_id = (await parts.dead_letters.replay(1, by="ann"))["run_id"]
    (raw,) = queued(parts)
    envelope = json.loads(raw)
    assert (envelope["headers"]["task"], envelope["headers"]["id"]) == ("coordinator.submit", run_id)
    _, sent, _ = json.loads(base64.b64decode(envelope["body"]))
    assert sent == {**sent, "text": "why 磁盘?", "priority": "high", "namespace": "ops"}
    await parts.coordinator.submit(run_id, sent)
    snapshot = parts.store.snapshot(run_id)
    assert snapshot is not None
    assert (snapshot.run.state, snapshot.run.priority) == ("accepted", "high")
    assert audited(parts) == [("ann", "dead_letter.replayed", "1")]
    with pytest.raises(Refused, match="is not there any more"):
        await parts.dead_letters.replay(2, by="ann")


async def test_a_drop_lets_go_of_the_body_and_is_final(parts: Parts) -> None:
    put(parts, b"one", b"two", b"three")
    await parts.dead_letters.take()
    assert await parts.dead_letters.drop([2, 2], by="ann") == [2]
    with pytest.raises(Refused, match="already dropped"):
        await parts.dead_letters.drop([1, 2], by="ann")
    with pytest.raises(Refused, match="was dropped"):
        await parts.dead_letters.replay(2, by="ann")
    with pytest.raises(Correctable, match="no dead letter 9"):
        await parts.dead_letters.drop([9], by="ann")
    assert [(row.state, row.body is None) for row in letters(parts)] == [
        ("kept", False),
        ("dropped", True),
        ("kept", False),
    ]
    assert await parts.dead_letters.drop(None, by="ann") == [1, 3]
    with parts.store.database.reading() as db:
        assert count_kept(db) == 0
    assert audited(parts) == [
        ("ann", "dead_letter.dropped", "2"),
        ("ann", "dead_letter.dropped", "2 dead letters"),
    ]
