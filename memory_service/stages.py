"""The formula of fading as the database computes it, for a whole batch of due memories at once."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, text

from kernel.database import UtcDateTime
from memory_service import fading

#: What a batch of a night comes to, one row a memory; `gone` is 1 where it leaves the index.
_TABLE = {
    "sqlite": "CREATE TEMP TABLE IF NOT EXISTS memory_night "
    "(pk INTEGER PRIMARY KEY, rev INTEGER, kept TEXT, tier TEXT, next REAL, gone INTEGER)",
    "postgresql": "CREATE TEMP TABLE IF NOT EXISTS memory_night "
    "(pk INTEGER PRIMARY KEY, rev INTEGER, kept TEXT, tier TEXT, next DOUBLE PRECISION, gone INTEGER)",
}
#: Far behind every moment, where fading says infinity: engines have no common word for it.
_NO_END = 1e300
#: `fading.falls_to`, `fading.level` and `fading.stage`, word for word; a property test holds them together.
_FALLS = (
    "CASE WHEN level <= {threshold} THEN last_access_at "
    f"ELSE last_access_at + half_life_s * ln(level / {{threshold}}) / {math.log(2)!r} END"
)
_STAGED = f"""
    WITH due AS ({{due}}),
    levelled AS (
        SELECT pk, rev, status, tier AS was, last_access_at, half_life_s, importance, expires_at,
            importance * (1 + {fading.ACCESS_BOOST} * ln(1.0 + access_count))
            * (1 + {fading.EMOTION_BOOST} * emotion)
            * (1 + {fading.ASSOCIATION_BOOST} * ln(CASE WHEN weight > 1 THEN weight ELSE 1 END)) AS level
        FROM due
    ),
    timed AS (
        SELECT pk, rev, status, was, {_FALLS.format(threshold=fading.HOT)} AS hot_until,
            {{least}}(
                {_FALLS.format(threshold=fading.ARCHIVE)},
                CASE WHEN importance < {fading.UNIMPORTANT} THEN last_access_at + {fading.UNUSED_SECONDS}
                     ELSE {_NO_END} END,
                coalesce(expires_at, {_NO_END})
            ) AS archived_at,
            coalesce(expires_at + {fading.GRACE_SECONDS}, {_NO_END}) AS deleted_at
        FROM levelled
    ),
    staged AS (
        SELECT pk, rev, status, was, hot_until, archived_at, deleted_at, CASE
            WHEN status <> 'active' THEN 'deleted'
            WHEN :at + {fading.SLACK} >= deleted_at THEN 'deleted'
            WHEN :at + {fading.SLACK} >= archived_at THEN 'archived'
            WHEN :at + {fading.SLACK} >= hot_until THEN 'cold'
            ELSE 'hot' END AS tier
        FROM timed
    )
    SELECT pk, rev, was, status, tier,
        CASE tier WHEN 'hot' THEN 'active' WHEN 'cold' THEN 'active' ELSE tier END AS kept,
        CASE tier
            WHEN 'deleted' THEN {fading.NEVER}
            WHEN 'archived' THEN {{least}}(:at + {fading.RETENTION_SECONDS}, deleted_at)
            WHEN 'cold' THEN {{least}}(archived_at, deleted_at)
            ELSE {{least}}(hot_until, archived_at, deleted_at) END AS next
    FROM staged
"""  # noqa: S608 numbers of the module fading only
_DUE = (
    "SELECT * FROM memory_state WHERE status = :status AND next_transition_at <= :at "
    "ORDER BY next_transition_at, pk LIMIT :batch"
)
_LEAST = {"sqlite": "min", "postgresql": "least"}
_FILL = (
    "INSERT INTO memory_night (pk, rev, kept, tier, next, gone) "
    "SELECT pk, rev, kept, tier, next, CASE WHEN kept <> status THEN 1 ELSE 0 END FROM ({staged}) AS found"
)
#: What is erased is left to the erasure, which sets its state too.
_MOVE = text(
    "UPDATE memory_state SET status = night.kept, tier = night.tier, next_transition_at = night.next, "
    "rev = night.rev + night.gone FROM memory_night AS night "
    "WHERE night.pk = memory_state.pk AND night.tier <> 'deleted'"
)
_ENQUEUE = text(
    "INSERT INTO memory_outbox (pk, rev, enqueued_at, attempts, last_error) "
    "SELECT pk, rev + 1, :at, 0, '' FROM memory_night WHERE gone = 1 AND tier <> 'deleted' "
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
    """Return the query that stages the rows of another: pk, rev, was, status, tier, kept, next; takes `:at`."""
    return _STAGED.format(due=due, least=_LEAST[dialect])


def stage_due(connection: Connection, status: str, at: float, batch: int) -> Batch | None:
    """Put the next due memories of a status into the table of the night; None where nothing is due."""
    dialect = connection.dialect.name
    connection.execute(text(_TABLE[dialect]))
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
    """Give the staged memories their state, and tell the relay of those that leave the index."""
    connection.execute(_MOVE)
    connection.execute(_ENQUEUE, {"at": moment})


def _of_tier(connection: Connection, tier: str) -> list[int]:
    found = connection.execute(
        text("SELECT pk FROM memory_night WHERE tier = :tier ORDER BY pk"), {"tier": tier}
    )
    return list(found.scalars())
