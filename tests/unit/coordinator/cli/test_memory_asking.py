"""What commands of the memory refuse before they ask: ids too short for one memory, kinds that there are none of."""

from __future__ import annotations

from typing import get_args

import pytest

from coordinator.cli.memory_asking import KINDS, kinds_of, unknown, whole
from kernel.errors import Correctable
from memory_service.domain import Kind


@pytest.mark.parametrize(
    ("told", "words"), [("", "no id"), (" ", "no id"), ("76bf", "too short"), ("7654321", "too short")]
)
def test_an_id_that_may_name_more_than_one_is_refused_with_what_to_give(told: str, words: str) -> None:
    with pytest.raises(Correctable, match=words) as refused:
        whole(told)
    assert "nightdesk memory list" in refused.value.next_step


def test_the_beginning_of_an_id_is_enough() -> None:
    assert whole(" 902f28eb ") == "902f28eb"
    assert "'902f28eb' in 'copy'" in unknown("902f28eb", "copy").what


def test_kinds_are_those_of_the_memory_and_no_others() -> None:
    assert get_args(Kind) == KINDS
    assert kinds_of(["fact", "episode"]) == ["fact", "episode"]
    with pytest.raises(Correctable, match="no kind 'banana'") as refused:
        kinds_of(["fact", "banana"])
    assert "preference" in refused.value.next_step
