"""The delivery row: who may send, and what an open outcome becomes."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from agents.notification.delivery import CLAIM_SECONDS, Claim, claim, settle
from agents.runtime.tools import ToolContext
from kernel.clock import now
from kernel.database import Database
from kernel.records import DeliveryRow

pytestmark = pytest.mark.integration


@pytest.fixture
def database(ctx: ToolContext) -> Database:
    return ctx.resources.database


def _claim(database: Database, call_id: str = "c1", *, resend: bool = False) -> Claim:
    return claim(database, run_id="r", channel="x", call_id=call_id, resend=resend)


def test_of_many_claims_at_once_one_wins(database: Database) -> None:
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda n: _claim(database, f"c{n}"), range(8)))
    assert sorted(c.mine for c in claims) == [False] * 7 + [True]


def test_a_sent_message_stays_sent(database: Database) -> None:
    settle(database, _claim(database).key, "sent", "HTTP 200")
    again = _claim(database, "c2", resend=True)
    assert (again.mine, again.state, again.answer) == (False, "sent", "HTTP 200")


def test_a_failed_one_may_be_tried_again_and_is_counted(database: Database) -> None:
    settle(database, _claim(database).key, "failed", "HTTP 503")
    again = _claim(database, "c2")
    assert again.mine
    with database.reading() as session:
        assert session.get_one(DeliveryRow, again.key).attempts == 2


@pytest.mark.parametrize("resend", [True, False])
def test_after_a_dead_sender_only_a_deduplicating_channel_sends_again(
    database: Database, resend: bool
) -> None:
    assert _claim(database).mine
    again = _claim(database, resend=resend)  # the same call, taken over by another worker
    assert (again.mine, again.state) == ((True, "claimed") if resend else (False, "unknown"))
    assert _claim(database, resend=False).mine is False


@pytest.mark.parametrize("resend", [True, False])
def test_another_call_waits_for_a_live_claim(database: Database, resend: bool) -> None:
    first = _claim(database)
    other = _claim(database, "c2", resend=resend)
    assert (other.mine, other.state) == (False, "claimed")
    with database.writing("test") as session:
        session.get_one(DeliveryRow, first.key).updated_at = now() - timedelta(seconds=CLAIM_SECONDS + 1)
    assert _claim(database, "c2", resend=resend).mine is resend
