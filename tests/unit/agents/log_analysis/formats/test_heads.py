from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.record import Record

REFERENCE = datetime(2026, 11, 29, 12, tzinfo=UTC)
AT = "2026-11-29 10:20:01.123"
IDS = "65b1c2d3e4f5a6b7,a1b2c3d4e5f60718"


def parse(line: str) -> Record:
    return Parser(REFERENCE).parse(line)


@pytest.mark.parametrize(
    ("line", "service", "logger"),
    [
        (f"{AT} ERROR 1 --- [nio-8080-exec-1] c.e.shop.Checkout : pay failed", "c.e.shop.Checkout", ""),
        (f"{AT} ERROR 1 --- [nio-8080-exec-1] Checkout : pay failed", "", "Checkout"),
        (f"{AT} ERROR 1 --- [shop] [nio-8080-exec-1] c.e.shop.Checkout   : pay failed", "shop", ""),
        (f"{AT} ERROR 1 --- [shop] [  main] [{IDS.replace(',', '-')}] c.e.Checkout : pay failed", "shop", ""),
        (f"{AT} ERROR [shop,{IDS},true] 1 --- [nio-8080-exec-1] c.e.Checkout : pay failed", "shop", ""),
        (f"{AT} ERROR [shop,,] 1 --- [nio-8080-exec-1] c.e.Checkout : pay failed", "shop", ""),
        (f"{AT} ERROR 7 --- [TID:65b1c2d3e4f5a6b7.62.17] [main] c.e.Checkout : pay failed", "c.e.Checkout", ""),
        (f"{AT} [main] ERROR c.e.Checkout - pay failed", "c.e.Checkout", ""),
        (f"{AT} [pool-1-thread-2] ERROR c.e.Checkout -- pay failed", "c.e.Checkout", ""),
        (f"{AT} ERROR [shop] [{IDS}] [main] c.e.Checkout - pay failed", "shop", ""),
        (f"{AT} [main] ERROR [traceId=65b1 spanId=a1b2] c.e.Checkout - pay failed", "c.e.Checkout", ""),
        (f"{AT} [main] ERROR c.e.Checkout requestId=abc user=7 - pay failed", "c.e.Checkout", ""),
        (f"{AT} ERROR c.e.Checkout {{requestId=abc, user=7}} - pay failed", "c.e.Checkout", ""),
        (f"{AT} ERROR [c.e.Checkout] (default task-1) pay failed", "c.e.Checkout", ""),
        (f"{AT} ERROR c.e.Checkout [main] pay failed", "c.e.Checkout", ""),
        (f"{AT} SEVERE [main] org.apache.catalina.core.Context.start pay failed", "org.apache.catalina.core.Context.start", ""),
        (f"{AT} 12 ERROR nova.api [req-65b1c2d3-e4f5-a6b7-c8d9-e0f1a2b3c4d5 me] pay failed", "nova.api", ""),
        (f"{AT} - INFO  [QuorumPeer[myid=1]/0:0:0:0:2181:FastLeader@774] - pay failed", "", "FastLeader"),
        (f"[{AT}][ERROR][o.e.b.Checkout] [node-1] pay failed", "o.e.b.Checkout", ""),
        (f"[{AT}] [ERROR] [main] [Checkout] pay failed", "", "Checkout"),
        (f"{AT} +08:00 [ERR] [Shop.Checkout] pay failed", "Shop.Checkout", ""),
        ("[10:20:01 ERR] Shop.Checkout: pay failed", "Shop.Checkout", ""),
        ("2026-11-29T10:20:01.123+0800\tERROR\tpkg/file.go:12\tpay failed", "", ""),
        ("2026-11-29T10:20:01.123+0800\terror\tpkg/file.go:12\tpay failed", "", ""),
        ("2026-11-29T10:20:01.123+0800\tERROR\tshop.pay\tpkg/file.go:12\tpay failed", "", "shop.pay"),
        ("1.764411601123e+09\tERROR\tsetup\tpay failed", "", "setup"),
        ("10:20AM ERR pay failed", "", ""),
        ("2026-11-29T10:20:01Z ERR internal/pay/pay.go:33 > pay failed", "", ""),
        ("2026-11-29 10:20:01,123 - shop.pay - ERROR - pay failed", "shop.pay", ""),
        ("2026-11-29 10:20:01,123 - root - ERROR - pay failed", "", ""),
        ("2026-11-29 10:20:01,123 shop.pay ERROR pay failed", "shop.pay", ""),
        ("2026-11-29 10:20:01,123 | ERROR    | shop.pay:run:33 - pay failed", "shop.pay", ""),
        ("[2026-11-29 10:20:01,123] ERROR in checkout: pay failed", "", "checkout"),
        ("[2026-11-29 10:20:01,123: ERROR/ForkPoolWorker-2] pay failed", "", ""),
        ("ERROR:shop.pay:pay failed", "shop.pay", ""),
        ("ERROR:root:pay failed", "", ""),
        ("E, [2026-11-29T10:20:01.123456 #12] ERROR -- shop: pay failed", "", "shop"),
        ("2026-11-29T10:20:01.1Z ERROR request{id=12}: shop::pay: pay failed", "shop::pay", ""),
        ("[2026-11-29T10:20:01Z ERROR shop::pay] pay failed", "shop::pay", ""),
        (f"{AT} ERROR fx - pay failed", "fx", ""),
        (f"{AT} ERROR [fx] pay failed", "", "fx"),
        (f"{AT} fx ERROR pay failed", "", "fx"),
        (f"{AT} fx[12]: ERROR pay failed", "", "fx"),
        (f"{AT} ERROR [支付网关] pay failed", "支付网关", ""),
        (f"{AT} [支付网关] [错误] pay failed", "支付网关", ""),
        (f"{AT} 【支付网关】错误：pay failed", "支付网关", ""),
        (f"{AT} ERROR [支付网关] [main] c.e.Checkout - pay failed", "支付网关", ""),
        (f"{AT} ERROR 支付网关 - pay failed", "支付网关", ""),
    ],
)  # fmt: skip
def test_a_head_is_told_from_the_message(line: str, service: str, logger: str) -> None:
    record = parse(line)
    assert record.time is not None or line.startswith("ERROR:")
    assert (record.message, record.service, record.logger) == ("pay failed", service, logger)
    assert record.level == (Level.info if " INFO " in line else Level.error)


@pytest.mark.parametrize(
    "message",
    [
        "timeout: no answer",
        "[order-12] failed to load",
        "[12/30] retry",
        "Retry - 3 of 5",
        "10.0.0.7:443 - refused",
        "upload (3 of 5) failed",
        "error[E0308]: mismatched types",
        "fetch /api/v1/items failed",
        "{broken",
    ],
)
def test_a_message_keeps_what_may_be_its_own(message: str) -> None:
    record = parse(f"{AT} ERROR {message}")
    assert (record.message, record.service, record.logger) == (message, "", "")


def test_a_word_before_a_level_in_a_sentence_is_no_service() -> None:
    assert parse(f"{AT} got ERROR from upstream").logger == ""
