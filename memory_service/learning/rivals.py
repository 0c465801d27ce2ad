"""Rivals: two facts that say the same of one thing with another value, told without a key that would join them."""

from __future__ import annotations

from collections.abc import Iterable

from kernel.contracts import MemoryHit
from memory_service.domain import normal
from memory_service.learning.near import told


def rivals(text: str, hits: Iterable[MemoryHit]) -> list[MemoryHit]:
    """Return the facts that a new one differs from in its names and numbers alone, behind what both are about.

    "the pool of checkout is 90" and "… is 120" are rivals; what node-7 has and what node-9 has are two things.
    """
    return [hit for hit in hits if hit.kind == "fact" and _differs(text, hit.text)]


def _differs(one: str, other: str) -> bool:
    first, second = told(one), told(other)
    if first.words != second.words or first.exact == second.exact or first.negations != second.negations:
        return False
    return bool(told(_common(normal(one), normal(other))).words)


def _common(one: str, other: str) -> str:
    """Return what two texts begin with, as far as it is whole words."""
    length = next(
        (n for n, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    begun = one[:length]
    return begun if begun[-1:].isspace() or not begun[-1:].isascii() else begun.rpartition(" ")[0]
