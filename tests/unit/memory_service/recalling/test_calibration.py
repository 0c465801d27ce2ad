"""Cut-offs by rule: measured on pairs whose answer is known, for embedders that know much, little and nothing."""

from __future__ import annotations

import random
import zlib

import pytest

from memory_service import lexical
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.port import Vector, unit
from memory_service.recalling.calibration import UNRELATED_SHOWN, Pair, Spread, measure
from memory_service.recalling.cutoffs import shipped_pairs
from memory_service.scoring import Scale

PAIRS = shipped_pairs()


class ByTopic:
    """Knows the topic of every text of the pairs; its cosines lie between `floor` and 1."""

    name = "test/topics"
    scale = Scale(low=0, middle_cut=0, high_cut=1)

    def __init__(self, floor: float, noise: float = 0.2) -> None:
        self._floor, self._noise = floor, noise
        topics = sorted({pair.topic for pair in PAIRS})
        self._axis = {
            text: topics.index(pair.topic) for pair in PAIRS for text in (pair.question, pair.memory)
        }

    def passages(self, texts: list[str]) -> list[Vector]:
        return [self.question(text) for text in texts]

    def question(self, text: str) -> Vector:
        rng = random.Random(zlib.crc32(text.encode()))
        own = [rng.gauss(0, self._noise / 5) for _ in range(24)]
        own[self._axis[text]] += 1
        shared = (self._floor / (1 - self._floor)) ** 0.5
        return unit([shared, *unit(own)])


class Nothing(ByTopic):
    """A model that was never trained: every text anywhere."""

    def question(self, text: str) -> Vector:
        rng = random.Random(zlib.crc32(text.encode()))
        return unit([rng.gauss(0, 1) for _ in range(200)])


def test_the_shipped_pairs_are_enough_and_in_both_languages() -> None:
    assert len(PAIRS) >= 40
    assert len({pair.question for pair in PAIRS}) == len({pair.memory for pair in PAIRS}) == len(PAIRS)
    across = [pair for pair in PAIRS if not lexical.share_script(pair.question, pair.memory)]
    assert len(across) >= 8
    assert sum(pair.question.isascii() for pair in PAIRS) >= 15
    assert sum(not pair.question.isascii() for pair in PAIRS) >= 15


@pytest.mark.parametrize("floor", [0.0, 0.5, 0.75])
def test_the_rules_hold_whatever_the_cosines_of_a_model(floor: float) -> None:
    found = measure(ByTopic(floor), PAIRS)
    assert found.scale.low == pytest.approx(floor, abs=0.15)
    assert found.unrelated_middle <= UNRELATED_SHOWN
    assert found.unrelated.most < found.scale.high_cut
    assert found.scale.middle_cut + 0.05 <= found.scale.high_cut + 1e-9
    assert found.related_middle == 1
    assert found.related_high > 0.5
    assert not found.useless


def test_a_model_of_spelling_sees_less_than_one_of_meaning() -> None:
    spelling, meaning = measure(HashEmbedder(), PAIRS), measure(ByTopic(0.5), PAIRS)
    assert 0.5 < spelling.related_middle < meaning.related_middle
    assert not spelling.useless


def test_a_model_that_knows_nothing_is_called_useless_on_pairs_without_common_words() -> None:
    apart = [pair for pair in PAIRS if not lexical.share_script(pair.question, pair.memory)] * 3
    assert measure(Nothing(0), apart).useless


def test_a_handful_of_pairs_is_refused() -> None:
    with pytest.raises(ValueError, match="say nothing"):
        measure(HashEmbedder(), [Pair("a", "b", "c")] * 3)


def test_a_spread_tells_quantiles_and_bars() -> None:
    told = Spread.of([0.0, 0.1, 0.2, 0.3, 1.0])
    assert (told.least, told.median, told.most, told.count) == (0.0, 0.2, 1.0, 5)
    assert sum(told.bars) == 5
    assert told.bars[-1] == 1
