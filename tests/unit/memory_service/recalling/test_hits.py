"""Hits beside the preferences that always hold."""

from __future__ import annotations

from kernel.contracts import MemoryHit
from memory_service.recalling.hits import with_standing


def wish(keywords: float, **slots: str) -> MemoryHit:
    explain = {"similarity": 0.1, "keywords": keywords}
    return MemoryHit(id="w", kind="preference", text="answer in Chinese", slots=slots, explain=explain)


HELD = MemoryHit(id="w", kind="preference", text="answer in Chinese", tier="high", slots={"language": "zh"})
FACTS = [MemoryHit(id=id_, text=id_) for id_ in ("one", "two")]


def test_how_to_answer_is_a_hit_only_of_a_question_that_shares_a_word_with_it() -> None:
    near, asked = wish(0.0, language="zh"), wish(0.2, language="zh")
    assert [h.id for h in with_standing([near, *FACTS], [HELD], 2)] == ["one", "two", "w"]
    assert with_standing([near, *FACTS], [HELD], 2)[-1] == HELD
    assert [(h.id, h.tier) for h in with_standing([asked, *FACTS], [HELD], 2)] == [
        ("w", "high"),
        ("one", "middle"),
    ]


def test_what_somebody_likes_besides_may_be_what_is_asked_for() -> None:
    assert [h.id for h in with_standing([wish(0.0), *FACTS], [HELD], 5)] == ["w", "one", "two"]
