"""Measured cut-offs are stored with their space and used by recall at once."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from kernel.errors import Correctable
from memory_service.embed.hash import HashEmbedder
from memory_service.recall import Question, Recall
from memory_service.recalling.calibration import Pair
from memory_service.recalling.cutoffs import Cutoffs, shipped_pairs
from memory_service.scoring import Scale, Weights
from memory_service.tables import EmbedSpaceRow
from tests.integration.memory_service.world import World, world


def space_of(desk: World) -> EmbedSpaceRow:
    with desk.database.reading() as session:
        return session.exec(select(EmbedSpaceRow)).one()


def test_measuring_stores_the_cut_offs_and_recall_uses_them_at_once(desk: World) -> None:
    strict = HashEmbedder()
    strict.scale = Scale(low=0.0, middle_cut=0.95, high_cut=0.99)  # seeds that let nothing pass
    cutoffs = Cutoffs(desk.database, space_of(desk).id, strict, now=lambda: desk.now)
    weights = Weights.of(0.6, 0.25, 0.15)
    recall = Recall(desk.store, desk.index, strict, weights, scale=cutoffs.scale)
    desk.remember("checkout returned 503 because its pool was exhausted")
    question = Question(text="why does checkout return 503, is the pool exhausted?")
    assert recall.ask(question, desk.now) == []

    dry = cutoffs.calibrate({"dry_run": True})
    assert (dry["stored"], space_of(desk).calibration) == (False, {})
    assert recall.ask(question, desk.now) == []

    told = cutoffs.calibrate({})
    assert told["before"]["middle_cut"] == 0.95
    assert [hit.tier for hit in recall.ask(question, desk.now)] == ["high"]
    kept = space_of(desk).calibration
    assert kept["scale"] == told["scale"] == dry["scale"]
    assert (kept["pairs"], kept["measured_at"]) == (len(shipped_pairs()), desk.now.isoformat())
    assert kept["unrelated"]["count"] > 2000

    other_process = Cutoffs(desk.database, space_of(desk).id, HashEmbedder())
    assert other_process.scale() == Scale(**kept["scale"])


def test_without_a_measurement_the_seeds_of_the_embedder_hold(desk: World) -> None:
    cutoffs = Cutoffs(desk.database, space_of(desk).id, HashEmbedder())
    assert cutoffs.scale() == HashEmbedder.scale
    assert Cutoffs(desk.database, "gone", HashEmbedder()).scale() == HashEmbedder.scale


def test_a_model_that_tells_nothing_apart_is_not_stored(tmp_path: Path) -> None:
    with world(tmp_path) as desk:
        shifted = shipped_pairs()
        memories = [pair.memory for pair in shifted]
        wrong = [Pair(str(i), p.question, memories[i - 7]) for i, p in enumerate(shifted)]
        cutoffs = Cutoffs(desk.database, space_of(desk).id, HashEmbedder(), pairs=wrong)
        assert cutoffs.calibrate({"dry_run": True})["useless"] is True
        with pytest.raises(Correctable, match="cannot tell what belongs together"):
            cutoffs.calibrate({})
        assert space_of(desk).calibration == {}
        assert cutoffs.scale() == HashEmbedder.scale


def test_a_question_of_another_shape_is_refused_and_odd_figures_are_passed_by(desk: World) -> None:
    cutoffs = Cutoffs(desk.database, space_of(desk).id, HashEmbedder())
    with pytest.raises(Correctable, match="cannot be read"):
        cutoffs.calibrate({"dry_run": "perhaps"})
    with desk.database.writing("test") as session:
        session.exec(select(EmbedSpaceRow)).one().calibration = {"scale": {"low": "?"}}
    assert Cutoffs(desk.database, space_of(desk).id, HashEmbedder()).scale() == HashEmbedder.scale
