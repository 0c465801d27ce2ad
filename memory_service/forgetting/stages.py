"""The formula of fading as the database computes it, for a whole batch of due memories at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, text

from kernel.database import UtcDateTime
from memory_service.forgetting import fading

#: What a batch of a night comes to, one row a memory; `gone` is 1 where it leaves the index.
_TABLE = "CREATE TEMP TABLE IF NOT EXISTS memory_night (pk INTEGER PRIMARY KEY, tier TEXT, next {real}, gone INTEGER)"
_REAL = {"sqlite": "REAL", "postgresql": "DOUBLE PRECISION"}
_LEAST = {"sqlite": "min", "postgresql": "least"}
_MOST = {"sqlite": "max", "postgresql": "greatest"}
#: Far behind every moment, where fading says infinity: engines have no common word for it.
_NO_END = 1e300
#: Below this no strength is told apart; a logarithm must be of something.
_LEAST_LEVEL = 1e-9
#: How many half-lives lie between the two thresholds: with it one logarithm a row is enough for both.
_APART = math.log2(fading.HOT / fading.ARCHIVE)
#: `fading.level`; logarithms are most of the work, hence the shortcuts for what is usual.
_LEVEL = (
    f"importance * (1 + {fading.EMOTION_BOOST} * emotion) "
    f"* (CASE access_count WHEN 0 THEN 1.0 ELSE 1 + {fading.ACCESS_BOOST} * ln(1.0 + access_count) END) "
    f"* (CASE WHEN weight > 1 THEN 1 + {fading.ASSOCIATION_BOOST} * ln(1.0 * weight) ELSE 1.0 END)"
)
#: `fading.strength` at `:at`, before the clamp; a memory used after that moment has not begun to fade.
STRENGTH = (
    f"{_LEVEL} * exp(-{math.log(2)!r} * (CASE WHEN :at > last_access_at THEN :at - last_access_at ELSE 0 END) "
    "/ half_life_s)"
)
#: `falls_to` and `stage` in SQL, with one logarithm a row; a property test holds the two together.
_STAGED = f"""
    WITH timed AS MATERIALIZED (
        SELECT pk, tier AS was, status, last_access_at + half_life_s * {1 / math.log(2)!r} * ln({{most}}(
            {1 / fading.ARCHIVE!r} * {_LEVEL}, {_LEAST_LEVEL})) AS falls, half_life_s * {_APART!r} AS apart, {{least}}(
            CASE WHEN importance < {fading.UNIMPORTANT} THEN last_access_at + {fading.UNUSED_SECONDS}
                ELSE {_NO_END} END,
            coalesce(expires_at, {_NO_END})) AS ends,
            coalesce(expires_at + {fading.GRACE_SECONDS}, {_NO_END}) AS deleted_at
        FROM ({{due}}) AS due
    )
    SELECT pk, was, CASE
        WHEN status <> 'active' OR :at + {fading.SLACK} >= deleted_at THEN 'deleted'
        WHEN :at + {fading.SLACK} >= falls OR :at + {fading.SLACK} >= ends THEN 'archived'
        WHEN :at + {fading.SLACK} >= falls - apart THEN 'cold' ELSE 'hot' END AS tier,
        CASE WHEN status <> 'active' OR :at + {fading.SLACK} >= deleted_at THEN {fading.NEVER}
        WHEN :at + {fading.SLACK} >= falls OR :at + {fading.SLACK} >= ends
            THEN {{least}}(:at + {fading.RETENTION_SECONDS}, deleted_at)
        WHEN :at + {fading.SLACK} >= falls - apart THEN {{least}}(falls, ends)
        ELSE {{least}}(falls - apart, ends) END AS next
    FROM timed
"""  # noqa: S608 numbers of the module fading only
_DUE = (
    "SELECT pk, status, tier, importance, emotion, access_count, weight, half_life_s, last_access_at, expires_at "
    "FROM memory_state WHERE status = :status AND next_transition_at <= :at "
    "ORDER BY next_transition_at, pk LIMIT :batch"
)
_FILL = (
    "INSERT INTO memory_night (pk, tier, next, gone) "
    "SELECT pk, tier, next, CASE WHEN tier IN ('archived', 'deleted') THEN 1 ELSE 0 END FROM ({staged}) AS found"
)
#: One row after the other by its number: a join would keep all rows in a second table first.
_MOVE = text(
    "UPDATE memory_state SET (status, rev, tier, next_transition_at) = "
    "(SELECT CASE n.gone WHEN 1 THEN 'archived' ELSE memory_state.status END, memory_state.rev + n.gone, n.tier, "
    "n.next FROM memory_night n WHERE n.pk = memory_state.pk) "
    "WHERE pk IN (SELECT pk FROM memory_night WHERE tier <> 'deleted')"
)
_ENQUEUE = text(
    "INSERT INTO memory_outbox (pk, rev, enqueued_at, attempts, last_error) "
    "SELECT pk, rev, :at, 0, '' FROM memory_state "
    "WHERE pk IN (SELECT pk FROM memory_night WHERE tier = 'archived') "
    "ON CONFLICT (pk) DO UPDATE SET rev = excluded.rev, enqueued_at = excluded.enqueued_at, attempts = 0"
).bindparams(bindparam("at", type_=UtcDateTime()))


@dataclass(frozen=True)
class Batch:
    """What one batch comes to: memories by the tier they reach, and who is archived and deleted."""

    counts: dict[str, int]
    archived: list[int]
    deleted: list[int]
    last: int


def staged(dialect: str, due: str) -> str:
    """Return the query that stages the rows of another: pk, was, tier, next; takes `:at`."""
    return _STAGED.format(due=due, least=_LEAST[dialect], most=_MOST[dialect])


def stage_due(connection: Connection, status: str, at: float, batch: int) -> Batch | None:
    """Put the next due memories of a status into the table of the night; None where nothing is due."""
    dialect = connection.dialect.name
    connection.execute(text(_TABLE.format(real=_REAL[dialect])))
    connection.execute(text("DELETE FROM memory_night"))
    fill = text(_FILL.format(staged=staged(dialect, _DUE)))
    found = connection.execute(fill, {"status": status, "at": at, "batch": batch}).rowcount
    if not found:
        return None
    told = connection.execute(text("SELECT tier, count(*) FROM memory_night GROUP BY tier ORDER BY tier"))
    counts = {row[0]: int(row[1]) for row in told}
    last = connection.execute(text("SELECT max(pk) FROM memory_night")).scalar_one()
    return Batch(counts, _of_tier(connection, "archived"), _of_tier(connection, "deleted"), last)


def move(connection: Connection, moment: object) -> None:
    """Give the staged memories their state, and tell the relay of those that leave the index.

    Those to be deleted are left to the erasure.
    """
    connection.execute(_MOVE)
    connection.execute(_ENQUEUE, {"at": moment})


def _of_tier(connection: Connection, tier: str) -> list[int]:
    found = connection.execute(
        text("SELECT pk FROM memory_night WHERE tier = :tier ORDER BY pk"), {"tier": tier}
    )
    return list(found.scalars())
