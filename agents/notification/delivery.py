"""Deliveries: the row that makes a message one per run and channel, claimed before it is sent."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

from agents.notification.message import delivery_key
from kernel.clock import now
from kernel.contracts import Value
from kernel.database import Database
from kernel.records import DeliveryRow

#: A claim of another call older than this is dead: no sender works longer (webhook 8 s, mail four steps of 8 s).
CLAIM_SECONDS = 60

State = Literal["claimed", "sent", "failed", "unknown"]


class Claim(Value):
    """Whether this call may send now; if not, `state` and `answer` say what is stored."""

    key: str
    mine: bool
    state: State
    answer: str = ""


def claim(database: Database, *, run_id: str, channel: str, call_id: str, resend: bool) -> Claim:
    """Claim the one message of a run to a channel.

    Free: never tried, or surely not delivered. An open claim (its sender died, or it cannot know) is given out
    again only where the receiver drops repeats (`resend`); elsewhere it becomes `unknown`. While a claim is open,
    `answer` holds the call that made it.
    """
    key = delivery_key(run_id, channel)
    with database.writing("delivery.claim", durable=True) as session:
        row = session.get(DeliveryRow, key)
        if row is None:
            row = DeliveryRow(key=key, run_id=run_id, channel=channel)
        elif row.state == "sent":
            return Claim(key=key, mine=False, state="sent", answer=row.answer)
        elif row.state == "claimed" and row.answer != call_id and _fresh(row):
            return Claim(
                key=key, mine=False, state="claimed", answer="another call of this run is sending it"
            )
        elif row.state in ("claimed", "unknown") and not resend:
            if row.state == "claimed":
                row.state, row.answer = "unknown", "the sender died before it knew"
                session.add(row)
            return Claim(key=key, mine=False, state="unknown", answer=row.answer)
        row.state, row.answer = "claimed", call_id
        row.attempts, row.updated_at = row.attempts + 1, now()
        session.add(row)
    return Claim(key=key, mine=True, state="claimed")


def settle(database: Database, key: str, state: State, answer: str) -> None:
    """Store how a claimed message ended."""
    with database.writing("delivery.settle", durable=True) as session:
        row = session.get_one(DeliveryRow, key)
        row.state, row.answer, row.updated_at = state, answer, now()
        session.add(row)


def _fresh(row: DeliveryRow) -> bool:
    return now() - row.updated_at < timedelta(seconds=CLAIM_SECONDS)
