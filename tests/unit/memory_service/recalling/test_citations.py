from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from memory_service.domain import Memory, Status, content_hash
from memory_service.recalling.citations import Checking, Citation, judge, supported, text_hash

NOW = datetime(2026, 11, 2, 9, tzinfo=UTC)
ID = "7f3a1b2c-0000-4000-8000-000000000001"
TEXT = "checkout — because of pool exhausted; restart_service(service=checkout) fixed it (verified)"
MEMORY = Memory(
    pk=1,
    id=ID,
    namespace="default",
    user="ann",
    kind="procedure",
    key="checkout|pool_exhausted|restart_service",
    text=TEXT,
    trust=0.8,
    content_hash=content_hash(TEXT),
    valid_from=NOW - timedelta(days=3),
    recorded_at=NOW - timedelta(days=3),
    status=Status.active,
    rev=1,
    importance=0.8,
    weight=1,
    half_life_s=1e6,
    last_access_at=0.0,
)
SAID = "The pool is exhausted again, and restarting checkout fixed it then."


def verdict(memory: Memory | None = MEMORY, *, served: bool = True, **fields: Any) -> tuple[str, str]:
    asked = Checking(
        namespace=fields.pop("namespace", "default"), user=fields.pop("user", "ann"), citations=[]
    )
    values = {"sentence": SAID, "text_hash": text_hash(TEXT), **fields}
    told = judge(Citation(id=ID, **values), memory, asked, served={ID} if served else set(), at=NOW)
    return told.verdict, told.why


def test_a_served_memory_that_still_holds_may_be_cited() -> None:
    assert verdict() == ("ok", "")
    assert verdict(text_hash="") == ("ok", "")


def test_what_is_not_there_and_what_is_anothers_are_answered_alike() -> None:
    nobody = verdict(None)
    assert nobody[0] == "unknown"
    for others in (replace(MEMORY, namespace="else"), replace(MEMORY, user="bob")):
        assert verdict(others) == verdict(others, served=False) == verdict(None, served=False) == nobody


def test_what_was_forgotten_or_withheld_and_never_served_is_as_if_it_were_not_there() -> None:
    for status in (Status.deleted, Status.quarantined):
        assert verdict(replace(MEMORY, status=status), served=False) == verdict(None)


def test_the_users_own_memory_that_was_not_served_is_foreign() -> None:
    assert verdict(served=False) == ("foreign", "it was not served to this run")
    assert verdict(replace(MEMORY, user=""), served=False)[0] == "foreign"


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"status": Status.deleted, "text": ""}, "it was forgotten"),
        (
            {"status": Status.archived, "valid_to": NOW},
            "it is no longer true: something newer stands in its place",
        ),
        ({"status": Status.quarantined}, "it was withdrawn"),
        ({"valid_to": NOW}, "it is no longer true: something newer stands in its place"),
        ({"expires_at": NOW.timestamp()}, "it has expired"),
        ({"text": TEXT + " by Bob"}, "its text has changed since it was served"),
    ],
)
def test_a_served_memory_that_does_not_hold_any_more_is_stale(changed: dict[str, Any], why: str) -> None:
    assert verdict(replace(MEMORY, **changed)) == ("stale", why)


def test_an_archived_memory_that_was_served_may_be_cited_and_so_comes_back() -> None:
    assert verdict(replace(MEMORY, status=Status.archived)) == ("ok", "")


def test_a_memory_asked_about_the_past_may_be_cited_for_it() -> None:
    closed = replace(MEMORY, valid_to=NOW - timedelta(days=1))
    assert verdict(closed, as_of=NOW - timedelta(days=2))[0] == "ok"
    assert verdict(closed, as_of=NOW)[0] == "stale"


@pytest.mark.parametrize(
    ("sentence", "memory", "stands"),
    [
        ("", TEXT, True),
        ("As before.", TEXT, True),
        ("Seen before: the pool again, as in .", TEXT, True),
        (
            "Most likely the connection pool of checkout is exhausted since 08:59 in checkout.log:17",
            TEXT,
            True,
        ),
        ("The certificate of the mail gateway expired on Sunday.", TEXT, False),
        ("Disk /var/lib/pg is full on node-9.", "node-7 lost its network for an hour", False),
        ("The owner of billing is Ann.", "billing belongs to Ann", True),
        ("结账服务的连接池又耗尽了。", "结账服务连接池耗尽，重启后恢复", True),
        ("邮件网关的证书已过期。", "结账服务连接池耗尽，重启后恢复", False),
        ("上次也是连接池耗尽，重启后恢复。", TEXT, True),
        ("上次也是 node-9 出了问题。", "node-7 lost its network for an hour", False),
        ("上次也是 node-7 出了问题。", "node-7 lost its network for an hour", True),
    ],
)
def test_a_sentence_must_say_something_of_what_it_cites(sentence: str, memory: str, *, stands: bool) -> None:
    assert supported(sentence, memory) is stands


def test_an_unsupported_citation_is_named() -> None:
    assert verdict(sentence="The certificate of the mail gateway expired on Sunday.")[0] == "unsupported"


@pytest.mark.parametrize(
    ("sentence", "there"),
    [
        ("如前所述", True),
        ("与上次相同。", True),
        ("这次和之前的情况一样", True),
        ("与上次相同，连接池耗尽", True),
        ("与上次相同，磁盘已满", False),
        ("此前的故障也是证书过期", False),
    ],
)
def test_a_chinese_sentence_that_only_points_back_claims_nothing(sentence: str, there: bool) -> None:
    assert supported(sentence, "结账服务返回 503：连接池耗尽，重启后恢复") is there


@pytest.mark.parametrize(
    ("sentence", "holds"),
    [
        ("billing 的连接池又耗尽了，重启后恢复", False),
        ("checkout 的连接池又耗尽了，重启后恢复", True),
        ("billing 与 checkout 的连接池又耗尽了", True),
        (
            "redis 的连接池又耗尽了，重启后恢复",
            True,
        ),  # no service that is known: a technical word of the language
        ("连接池又耗尽了，重启后恢复", True),
    ],
)
def test_a_service_without_a_digit_is_a_witness_across_languages(sentence: str, holds: bool) -> None:
    assert supported(sentence, TEXT, services=["billing", "checkout"]) is holds
