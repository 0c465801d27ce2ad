"""What recall hands out: a hit of a memory, and two lists of hits side by side."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Literal

from kernel.contracts import MemoryHit
from memory_service.domain import Memory, key_hash
from memory_service.recalling.ranking import DIGITS

_DAY = 86_400.0
#: What a preference fills that says how to answer (memory_service.learning.tastes).
_STYLES = frozenset({"language", "length"})


def beside(hits: list[MemoryHit], brought: list[MemoryHit]) -> list[MemoryHit]:
    """Return hits with what a rewording brought: never as a fact, and no place is certified where two orders meet."""
    known = {hit.id for hit in hits}
    new = [hit.model_copy(update={"tier": "middle"}) for hit in brought if hit.id not in known]
    merged = [hit.model_copy(update={"certified": False}) for hit in [*hits, *new]]
    return sorted(merged, key=lambda hit: (-hit.score, hit.id)) if new else hits


def newest(facts: Iterable[Memory]) -> list[Memory]:
    """Return the one fact that holds of each key; a clock that was set back may have two of them hold at once."""
    held: dict[tuple[str, str], Memory] = {}
    for fact in facts:
        of = (fact.user, key_hash(fact.key))
        if (fact.valid_from, fact.pk) >= ((known := held.setdefault(of, fact)).valid_from, known.pk):
            held[of] = fact
    return list(held.values())


def age_days(memory: Memory, at: datetime) -> float:
    """Return how long ago it was told; never less than nothing, whatever a clock did since."""
    return round(max(0.0, (at - memory.recorded_at).total_seconds()) / _DAY, 3)


def hit_of(
    memory: Memory, of: Literal["high", "middle"], explain: dict[str, float], at: datetime, *, certified: bool
) -> MemoryHit:
    """Return a memory as it is served: with its tier, its age and source, and why it was found."""
    return MemoryHit(
        id=memory.id,
        kind=memory.kind,
        text=memory.text,
        tier=of,
        score=round(sum(explain.values()), DIGITS),
        age_days=age_days(memory, at),
        source=memory.source_ref or memory.source_kind,
        slots=memory.slots,
        explain={name: round(part, DIGITS) for name, part in explain.items()},
        certified=certified,
    )


def with_standing(hits: list[MemoryHit], preferences: list[MemoryHit], most: int) -> list[MemoryHit]:
    """Return the first hits with the preferences that hold whatever is asked behind them: they take no place of a hit.

    That a preference holds is as sure where it is also about the question a little. How somebody is to be answered is
    about no question with which it has no word in common, however near an embedder thinks it.
    """
    held = {hit.id: hit for hit in preferences}
    hits = [hit for hit in hits if hit.id not in held or not _of_style(hit)][:most]
    sure = [
        hit.model_copy(update={"tier": "high"}) if hit.id in held and held[hit.id].tier == "high" else hit
        for hit in hits
    ]
    known = {hit.id for hit in hits}
    return sure + [hit for hit in preferences if hit.id not in known]


def _of_style(hit: MemoryHit) -> bool:
    styled = not _STYLES.isdisjoint(hit.slots)
    return styled and not hit.explain.get("keywords")
