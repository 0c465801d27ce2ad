"""The judge is fair: it counts before it answers, knows keys where receivers do, and repeats its moods for a seed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.chaos.world import MOODS, Ledger, World, WorldProcess

pytestmark = pytest.mark.integration


@pytest.fixture
def world(tmp_path: Path) -> Iterator[WorldProcess]:
    with WorldProcess(tmp_path / "world.jsonl", seed=1, rate=0.0) as process:
        yield process


def post(world: WorldProcess, key: str, kind: str) -> Any:
    return httpx.post(f"{world.url}/effect", json={"key": key, "kind": kind}, timeout=1.0).json()


def happened(world: WorldProcess, key: str) -> int:
    return int(httpx.get(f"{world.url}/happened", params={"key": key}).json()["times"])


@pytest.mark.parametrize(("kind", "times"), [("keyed", 1), ("probe", 2), ("unsafe", 2), ("idempotent", 2)])
def test_only_keys_make_a_repeat_harmless(world: WorldProcess, kind: str, times: int) -> None:
    assert post(world, "k", kind)["applied"] is True
    post(world, "k", kind)
    assert happened(world, "k") == times
    assert [line["applied"] for line in world.lines()].count(True) == times


@pytest.mark.parametrize("mood", MOODS)
def test_a_mood_counts_before_or_after_and_gives_no_good_answer(world: WorldProcess, mood: str) -> None:
    world.tell(key="k", mood=mood)
    try:
        answer = httpx.post(f"{world.url}/effect", json={"key": "k", "kind": "probe"}, timeout=0.5)
    except httpx.HTTPError:
        assert mood.startswith(("hang", "drop"))
    else:
        assert answer.status_code == 500
        assert mood.startswith("fail")
    assert happened(world, "k") == (0 if mood.endswith("_before") else 1)
    assert [(line["mood"], line["applied"]) for line in world.lines()] == [(mood, mood.endswith("_after"))]


def test_the_webhook_drops_an_id_that_it_has_seen(world: WorldProcess) -> None:
    for _ in range(2):
        httpx.post(f"{world.url}/hook", json={"run_id": "r"}, headers={"X-Nightdesk-Id": "r:webhook"})
    assert [(line["run"], line["applied"]) for line in world.lines()] == [("r", True), ("r", False)]


def test_a_seed_repeats_the_moods(tmp_path: Path) -> None:
    def moods(seed: str) -> list[str]:
        ledger = Ledger(tmp_path / f"{seed}.jsonl")
        ledger.close()
        world = World(ledger, seed=seed, rate=0.5)
        return [world.mood(f"key-{n}", 1) for n in range(100)]

    assert moods("1") == moods("1") != moods("2")
    assert 30 < 100 - moods("1").count("good") < 70
