"""What the doctor finds when SQL and the index were brought apart by hand, and what it mends."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text, update
from sqlmodel import col, select

from kernel import metrics
from kernel.errors import Retryable
from memory_service.consistency.drift import window
from memory_service.domain import Status
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Vector
from memory_service.index.port import audience
from memory_service.reading import by_ids
from memory_service.relay import point_of
from memory_service.tables import JobRunRow, MemoryAuditRow, MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import World, world

STRANGER = "00000000-0000-0000-0000-0000000000aa"


def findings(told: dict[str, Any]) -> dict[str, tuple[int, bool]]:
    return {finding["what"]: (finding["count"], finding["mended"]) for finding in told["findings"]}


def bring_apart(desk: World, ids: list[str]) -> None:
    """One missing, two stale (one of them ahead), one orphaned, one in somebody else's audience."""
    memories = by_ids(desk.database, ids)
    vector = HashEmbedder().question("x")
    points = [point_of(memories[id_], vector) for id_ in ids]
    desk.index.delete(ids[:4])
    old = replace(points[1], payload={**points[1].payload, "rev": 0})
    ahead = replace(points[2], payload={**points[2].payload, "rev": 99})
    theirs = replace(
        points[3], payload={**points[3].payload, "audience": audience("default", "bob", past=False)}
    )
    desk.index.upsert([old, ahead, theirs, replace(points[4], id=STRANGER)])


def test_the_doctor_tells_each_difference_and_mends_it(desk: World) -> None:
    ids = [desk.remember(f"memory number {n} of the pool") for n in range(6)]
    assert desk.doctor.examine() == {
        "well": True,
        "memories": 6,
        "points": 6,
        "space": "hash-ngram-256-256-1",
        "findings": [],
    }
    bring_apart(desk, ids)
    wrong = {
        "active memories that are not in the index": 1,
        "points of another revision than SQL's": 2,
        "points without an active memory": 1,
        "points that stand in another audience": 1,
    }
    told = desk.doctor.examine()
    assert (told["well"], findings(told)) == (False, {what: (n, False) for what, n in wrong.items()})
    assert all(finding["means"] and finding["next_step"] for finding in told["findings"])
    mended = desk.doctor.examine(repair=True)
    assert (mended["well"], findings(mended)) == (True, {what: (n, True) for what, n in wrong.items()})
    assert desk.doctor.examine()["findings"] == []
    assert desk.texts("memory number 3 of the pool")[0] == "memory number 3 of the pool"


def test_the_archive_s_words_are_put_back_and_left_over_ones_removed(desk: World) -> None:
    ids = [desk.remember(f"memory number {n} of the pool") for n in range(3)]
    memories = by_ids(desk.database, ids)
    with desk.database.writing("test") as session:
        session.execute(
            update(MemoryStateRow)
            .where(col(MemoryStateRow.pk) == memories[ids[0]].pk)
            .values(status=Status.archived.value)
        )
        session.connection().execute(
            text("INSERT INTO memory_archive (rowid, words) VALUES (:pk, 'w1')"), {"pk": memories[ids[1]].pk}
        )
    told = findings(desk.doctor.examine(repair=True))
    assert told["archived memories without their words"] == (1, True)
    assert told["words of memories that are not archived"] == (1, True)
    assert desk.doctor.examine()["findings"] == []


def test_a_changed_audit_row_is_told_and_cannot_be_mended(desk: World) -> None:
    desk.remember("memory of the pool")
    desk.remember("another memory of the pool")
    with desk.database.writing("test") as session:
        row = session.exec(select(MemoryAuditRow)).first()
        assert row is not None
        row.actor = "nobody"
        session.add(row)
    told = desk.doctor.examine(repair=True)
    assert (told["well"], findings(told)) == (False, {"a broken link in the audit": (1, False)})


def test_an_outbox_that_is_stuck_is_told_with_its_error_and_emptied_when_that_is_mended(
    tmp_path: Path,
) -> None:
    class Away(HashEmbedder):
        away = True

        def passages(self, texts: list[str]) -> list[Vector]:
            if self.away and "memory of the pool" in texts:
                raise Retryable("the embedder is away")
            return super().passages(texts)

    embedder = Away()
    with world(tmp_path, embedder=embedder) as desk:
        desk.remember("memory of the pool", relay=False)
        with pytest.raises(Retryable):
            desk.relay.drain()
        told = desk.doctor.examine(repair=True)
        [finding] = told["findings"]
        assert (told["well"], finding["count"], finding["mended"]) == (False, 1, False)
        assert "the embedder is away" in finding["means"]
        embedder.away = False
        assert desk.doctor.examine(repair=True)["well"] is True
        assert desk.doctor.examine()["findings"] == []


def test_comparing_by_samples_comes_round_to_every_memory_and_is_noted_for_the_metric(
    desk: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    ids = sorted(desk.remember(f"memory number {n} of the pool") for n in range(9))
    monkeypatch.setattr("memory_service.relay.WINDOW", 4)
    desk.index.delete([ids[1], ids[6]])
    found = [desk.relay.sample() for _ in range(3)]
    assert [(drift.missing, drift.looked_at) for drift in found] == [(1, 4), (1, 4), (0, 1)]
    assert metrics.read_rows(desk.database, desk.now).samples["nightdesk_memory_index_drift"] == {
        ("full",): 0.0,
        ("sample",): 0.0,
    }
    assert desk.relay.drain() == 2
    assert desk.drift() == 0
    desk.index.delete([ids[1], ids[2]])
    assert desk.drift() == 2
    told = metrics.read_rows(desk.database, desk.now).samples["nightdesk_memory_index_drift"]
    assert told["full",] == 2.0
    with desk.database.reading() as session:
        noted = session.get(JobRunRow, ("reconcile", "full"))
    assert noted is not None
    assert noted.counts["missing"] == 2


def test_windows_agree_at_their_edges_whatever_is_missing_on_either_side(desk: World) -> None:
    ids = sorted(desk.remember(f"memory number {n} of the pool") for n in range(20))
    gone = {ids[0], ids[3], ids[4], ids[5], ids[19]}
    desk.index.delete(sorted(gone))
    strangers = [f"{n:08x}-0000-4000-8000-000000000000" for n in (0, 0x40000000, 0xFFFFFFFF)]
    memory = by_ids(desk.database, [ids[1]])[ids[1]]
    desk.index.upsert([replace(point_of(memory, HashEmbedder().question("x")), id=id_) for id_ in strangers])
    for size in (1, 2, 3, 7, 19, 20, 50):
        missing, orphaned, after = [], [], ""
        while True:
            found = window(desk.database, desk.index, after, size)
            missing += found.missing
            orphaned += found.orphaned
            if not found.after:
                break
            after = found.after
        assert (sorted(missing), sorted(orphaned)) == (sorted(gone), strangers), size


def test_what_is_on_its_way_is_no_drift(desk: World) -> None:
    desk.remember("memory of the pool", relay=False)
    assert desk.drift() == 0
    desk.relay.drain()
    with desk.database.writing("test") as session:
        row = session.exec(select(MemoryRow)).one()
        state = session.get(MemoryStateRow, row.pk)
        assert state is not None
        state.rev += 1  # by somebody who forgot the outbox
        session.add(state)
    assert desk.drift() == 1
