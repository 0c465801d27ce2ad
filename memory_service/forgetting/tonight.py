"""What a night would do, and how strong memories are now: read, never written."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Connection, text

from kernel.database import Database
from memory_service.forgetting.stages import STRENGTH, staged

#: Bars of the histogram of strengths, from 0 to 1.
BARS = 10
#: Memories shown of each kind of move, and characters shown of each.
_EXAMPLES, _CHARACTERS = 3, 80

_DUE = (
    "SELECT pk, status, CASE status WHEN 'active' THEN tier ELSE status END AS tier, importance, emotion, "
    "access_count, weight, half_life_s, last_access_at, expires_at "
    "FROM memory_state WHERE status IN ('active', 'archived', 'quarantined') AND next_transition_at <= :at"
)
_COUNTS = (
    "SELECT m.kind, night.was, night.tier, count(*) AS number FROM ({staged}) AS night "
    "JOIN memory m ON m.pk = night.pk GROUP BY m.kind, night.was, night.tier ORDER BY m.kind, night.was, night.tier"
)
_SHOWN = (
    "SELECT kind, was, tier, id, told FROM (SELECT m.kind, night.was, night.tier, m.id, m.text AS told, "
    "row_number() OVER (PARTITION BY m.kind, night.was, night.tier ORDER BY night.pk) AS place "
    "FROM ({staged}) AS night JOIN memory m ON m.pk = night.pk WHERE m.namespace = :namespace) AS shown "
    "WHERE place <= :most ORDER BY kind, was, tier, place"
)
_STRENGTHS = (
    "SELECT CASE WHEN strength >= 1 THEN :bars - 1 ELSE floor(strength * :bars) END AS bar, count(*) AS number "
    "FROM (SELECT {strength} AS strength FROM memory_state WHERE status = 'active') AS fading GROUP BY 1 ORDER BY 1"
)


def preview(database: Database, at: datetime, namespace: str) -> dict[str, Any]:
    """Return the moves that are due by kind, with examples from one namespace, and a histogram of strengths."""
    moment = at.timestamp()
    with database.reading() as session:
        connection = session.connection()
        moves = _moves(connection, moment, namespace)
        found = connection.execute(text(_STRENGTHS.format(strength=STRENGTH)), {"at": moment, "bars": BARS})
        bars = {int(row.bar): int(row.number) for row in found}
    strengths = [
        {"from": number / BARS, "to": (number + 1) / BARS, "memories": bars.get(number, 0)}
        for number in range(BARS)
    ]
    return {"at": at.isoformat(), "moves": moves, "strengths": strengths}


def _moves(connection: Connection, at: float, namespace: str) -> list[dict[str, Any]]:
    night = staged(connection.dialect.name, _DUE)
    asked = {"at": at, "namespace": namespace, "most": _EXAMPLES}
    examples: dict[tuple[str, str, str], list[dict[str, str]]] = {}
    for row in connection.execute(text(_SHOWN.format(staged=night)), asked):
        shown = {"id": row.id, "text": row.told[:_CHARACTERS]}
        examples.setdefault((row.kind, row.was, row.tier), []).append(shown)
    return [
        {
            "kind": row.kind,
            "from": row.was,
            "to": row.tier,
            "memories": int(row.number),
            "examples": examples.get((row.kind, row.was, row.tier), []),
        }
        for row in connection.execute(text(_COUNTS.format(staged=night)), {"at": at})
    ]
