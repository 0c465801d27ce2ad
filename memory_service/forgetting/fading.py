"""How memories fade: strength in closed form, tiers, and the moment a memory must be looked at again."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from memory_service.domain import Status

DAY = 86_400.0
#: Strength from which a memory is hot, and below which it leaves the index (issue 4: below 0.2).
HOT, ARCHIVE = 0.5, 0.2
#: A memory this unimportant leaves the index after 90 days without use, however slowly it fades.
UNIMPORTANT, UNUSED_SECONDS = 0.5, 90 * DAY
#: How long an expired memory is kept before it is deleted, and an archived one where nothing else is said.
GRACE_SECONDS, RETENTION_SECONDS = 7 * DAY, 365 * DAY
#: Seconds by which a moment counts as reached: two engines round the same moment differently (by a millionth),
#: and what is due must have moved for each of them.
SLACK = 0.001
#: Share of the way to importance 1 that one citation goes.
REINFORCEMENT = 0.1
#: How much use, emotion and being told again add to strength.
ACCESS_BOOST, EMOTION_BOOST, ASSOCIATION_BOOST = 0.1, 0.2, 0.05


@dataclass(frozen=True, slots=True)
class Fading:
    """All that strength depends on; times in epoch seconds."""

    importance: float
    weight: int
    emotion: float
    access_count: int
    half_life: float
    last_access: float
    expires: float | None = None


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a memory stands at a moment, and when it has to be looked at again."""

    status: Status
    tier: Literal["hot", "cold", "archived", "deleted"]
    next_at: float


def level(fading: Fading) -> float:
    """Return the strength at the last use, before the clamp."""
    return (
        fading.importance
        * (1 + ACCESS_BOOST * math.log1p(fading.access_count))
        * (1 + EMOTION_BOOST * fading.emotion)
        * (1 + ASSOCIATION_BOOST * math.log(max(fading.weight, 1)))
    )


def strength(fading: Fading, at: float) -> float:
    """Return importance x boosts x 2^-(days without use / half-life), clamped to 0..1."""
    idle = max(0.0, at - fading.last_access)
    return float(min(1.0, level(fading) * 2 ** (-idle / fading.half_life)))


def falls_to(fading: Fading, threshold: float) -> float:
    """Return the moment at which the strength reaches a threshold."""
    start = level(fading)
    if start <= threshold:
        return fading.last_access
    return fading.last_access + fading.half_life * math.log2(start / threshold)


def stage(fading: Fading, at: float) -> Stage:
    """Return the stage of an active memory at a moment.

    Compared are times, not strengths: a memory that is due has then certainly moved, whatever the rounding.
    """
    deleted_at = fading.expires + GRACE_SECONDS if fading.expires is not None else math.inf
    archived_at = falls_to(fading, ARCHIVE)
    if fading.importance < UNIMPORTANT:
        archived_at = min(archived_at, fading.last_access + UNUSED_SECONDS)
    if fading.expires is not None:
        archived_at = min(archived_at, fading.expires)
    reached = at + SLACK
    if reached >= deleted_at:
        return Stage(Status.deleted, "deleted", NEVER)
    if reached >= archived_at:
        return Stage(Status.archived, "archived", min(at + RETENTION_SECONDS, deleted_at))
    hot_until = falls_to(fading, HOT)
    if reached >= hot_until:
        return Stage(Status.active, "cold", min(archived_at, deleted_at))
    return Stage(Status.active, "hot", min(hot_until, archived_at, deleted_at))


#: An open end, as every engine can compare it (2100-01-01).
NEVER = 4_102_444_800.0
