from __future__ import annotations

import time
from typing import Any

import pytest

from coordinator.working import slots_of
from kernel.contracts import Request, Source


def test_what_where_when_and_ids_of_a_plain_request() -> None:
    text = "Why does the checkout service return 503 on node-7 since 03:00? Look at req-id=8f3a2b1c and ERR_POOL_42."
    assert slots_of(Request(text=text, sources=[Source(name="checkout.log", path="/logs/checkout.log")])) == {
        "what": "Why does the checkout service return 503 on node-7 since 03:00?",
        "where": ["checkout.log", "checkout"],
        "when": ["03:00"],
        "ids": ["node-7", "req-id=8f3a2b1c", "ERR_POOL_42"],
    }


def test_labels_come_first() -> None:
    labels = {
        "instance": "10.0.0.7:9090",
        "service": "payments",
        "alertname": "HighErrorRate",
        "severity": "page",
    }
    found = slots_of(Request(text="Errors in service checkout", labels=labels))
    assert found["where"] == ["payments", "10.0.0.7:9090", "checkout"]
    assert found["ids"] == ["HighErrorRate"]


@pytest.mark.parametrize(
    ("text", "slot", "value"),
    [
        ("为什么 checkout 服务从凌晨3点到4点一直报错？请看 node-7。", "what", "为什么 checkout 服务从凌晨3点到4点一直报错？"),
        ("为什么 checkout 服务从凌晨3点到4点一直报错？请看 node-7。", "where", ["checkout"]),
        ("为什么 checkout 服务从凌晨3点到4点一直报错？请看 node-7。", "when", ["凌晨3点到4点"]),
        ("为什么 checkout 服务从凌晨3点到4点一直报错？请看 node-7。", "ids", ["node-7"]),
        ("过去30分钟主机db-1很慢", "when", ["过去30分钟"]),
        ("过去30分钟主机db-1很慢", "where", ["db-1"]),
        ("昨日 checkoutサービスが遅い", "where", ["checkout"]),
        ("昨日 checkoutサービスが遅い", "when", ["昨日"]),
        ("slow between 03:00 and 03:30 UTC", "when", ["between 03:00 and 03:30 UTC"]),
        ("errors 2026-11-29T03:00:00Z to 2026-11-29T03:30:00Z", "when", ["2026-11-29T03:00:00Z to 2026-11-29T03:30:00Z"]),
        ("what failed in the last 15 minutes", "when", ["in the last 15 minutes"]),
        ("it broke 2 hours ago, and last night", "when", ["2 hours ago", "last night"]),
        ("see /var/log/nginx/error.log on 10.1.2.3:8080", "ids", ["/var/log/nginx/error.log", "10.1.2.3:8080"]),
        ("trace 4bf92f3577b34da6a3ce929d0e0e4736, ticket OPS-12", "ids", ["4bf92f3577b34da6a3ce929d0e0e4736", "OPS-12"]),
        ("run 123e4567-e89b-12d3-a456-426614174000", "ids", ["123e4567-e89b-12d3-a456-426614174000"]),
        ("db1.eu.example.com does not answer, see app.log", "where", ["db1.eu.example.com"]),
        ("the service is down", "where", None),
        ("why is it slow", "ids", None),
        ("why is it slow", "when", None),
        ("a\nb", "what", "a"),
    ],
)  # fmt: skip
def test_a_slot(text: str, slot: str, value: Any) -> None:
    assert slots_of(Request(text=text)).get(slot) == value


def test_slots_are_short_however_long_the_request_is() -> None:
    text = "why " * 200 + "? " + " ".join(f"node-{n}" for n in range(100)) + "x" * 100_000
    found = slots_of(Request(text=text, labels={"service": "s" * 5000}))
    assert len(found["what"]) <= 241
    assert len(found["ids"]) == 12
    assert [len(place) for place in found["where"]] == [120]


@pytest.mark.parametrize(
    "unit", ["a-1-", "1.1.", "ab:", "/a", "the a ", "服务a", "12:00-", "A_1_", "0a", "x", "x服", "1", "a."]
)
def test_no_text_makes_it_slow(unit: str) -> None:
    started = time.process_time()
    slots_of(Request(text=unit * 20_000))
    assert time.process_time() - started < 0.5
