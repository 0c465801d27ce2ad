from __future__ import annotations

from sqlalchemy import text

from memory_service.forgetting import stages, tonight
from tests.integration.memory_service.forgetting.test_archive import upkeep
from tests.integration.memory_service.test_decay import fill, snapshot
from tests.integration.memory_service.world import World


def test_a_dry_run_says_what_the_night_then_does_and_writes_nothing(desk: World) -> None:
    fill(desk)
    desk.remember("maintenance of node-7", kind="episode", importance=0.6, namespace="b", half_life_days=2)
    desk.pass_days(20)
    before = snapshot(desk)
    told = upkeep(desk).tonight({})
    assert snapshot(desk) == before
    moves = {(move["kind"], move["from"], move["to"]): move["memories"] for move in told["moves"]}
    reached: dict[str, int] = {}
    for (_, _, tier), count in moves.items():
        reached[tier] = reached.get(tier, 0) + count
    night = desk.memory.decay()
    assert reached == {tier: count for tier, count in night.counts.items() if tier != "batches"}
    after = upkeep(desk).tonight({})
    assert after["moves"] == []
    assert (told["done_at"], after["done_at"]) == (None, desk.now.isoformat())
    assert upkeep(desk).fade()["done_at"] == desk.now.isoformat(), "why it does not run again is said"


def test_examples_are_of_the_asked_namespace_alone(desk: World) -> None:
    for namespace in ("default", "b"):
        for number in range(5):
            desk.remember(
                f"pool {number} of {namespace}", kind="episode", importance=0.6, namespace=namespace
            )
    desk.pass_days(60)
    (move,) = upkeep(desk).tonight({"namespace": "b"})["moves"]
    assert (move["memories"], len(move["examples"])) == (10, 3)
    assert all(one["text"].endswith("of b") for one in move["examples"])


def test_the_histogram_counts_every_active_memory(desk: World) -> None:
    desk.remember("as strong as can be", importance=1.0)
    desk.remember("in the middle", importance=0.55)
    desk.remember("soon gone", kind="episode", importance=0.6)
    desk.pass_days(30)
    bars = [bar["memories"] for bar in upkeep(desk).tonight({})["strengths"]]
    assert bars == [0, 0, 0, 1, 1, 0, 0, 0, 1, 0]


def test_due_memories_are_found_by_index_without_a_sort_of_all(desk_on_sqlite: World) -> None:
    fill(desk_on_sqlite)
    asked = {"status": "active", "at": 1.0, "batch": 10}
    with desk_on_sqlite.database.reading() as session:
        for due in (stages._DUE, tonight._DUE):
            plan = session.connection().execute(
                text(f"EXPLAIN QUERY PLAN {stages.staged('sqlite', due)}"), asked
            )
            steps = " ".join(str(row) for row in plan)
            assert "ix_memory_state_due" in steps
            assert "TEMP B-TREE" not in steps
            assert "SCAN memory_state" not in steps
