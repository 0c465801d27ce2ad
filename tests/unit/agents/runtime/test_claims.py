"""Which numbers of a text are claims, and which of them what the tools returned proves."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.runtime.claims import claims, numbers
from agents.runtime.proofs import Proofs

RESULTS = [
    {
        "window": {"from": "2026-11-29T10:00:00.000Z", "to": "2026-11-29T11:30:10.000Z"},
        "events": 12_345,
        "lines": 12_400,
        "levels": {"error": 120, "fatal": 3, "info": 12_222},
        "services": {"checkout": 9000, "payment": 3101, "cart": 244},
        "problems": [
            {"count": 80, "score": 0.91, "first": {"line": 4711, "time": "2026-11-29T10:45:00.000Z", "quote": "x"}},
            {"count": 43, "score": 0.4, "first": {"line": 12, "time": "2026-11-29T11:00:00.000Z", "quote": "pool of 20 is empty after 5 attempts"}},
        ],
        "silence": {"seconds": 412.0},
    },
    {"total": 77, "hits": [{"line": 900, "quote": "timeout after 3000 ms"}], "new": [{"before": 10, "after": 150}]},
]  # fmt: skip
TEXTS = ["why did 500 requests fail on 2026-11-29?"]
QUOTES = ["GET /cart took 8250 ms, 9 retries"]

PROVED = [
    "There are 120 errors.",
    "There are 12,345 events in 12,400 lines.",
    "12345 events were read.",
    "In all, 123 errors and fatal lines.",  # a sum of two levels
    "错误 120 条，事件共 12,345 个。",
    "错误１２０条。",
    "共１２，３４５条事件。",
    "一百二十次错误。",
    "三个服务受影响。",
    "Three services report it.",
    "Two problems stand out.",
    "The pool timed out 80 times (35% fewer than before).".replace(" (35% fewer than before)", ""),
    "About 1% of all events are errors: 120 of 12,345.",
    "0.97% of the events are errors.",
    "错误占 0.97%。",
    "A 15x rise: from 10 to 150.",
    "It rose 15 times, by 140 events.",
    "It failed 15 times more often.",
    "The log was silent for 412 s.",
    "The trouble lasted 45 minutes.",  # 10:45 to 11:30:10
    "It began 15 minutes later, and the log covers 1.5 hours.",
    "持续 45 分钟。",
    "The pool of 20 is empty.",
    "It gave up after 5 attempts.",
    "Calls time out after 3000 ms.",
    "The user asked why 500 requests failed.",
    "The slowest took 8250 ms, after 9 retries.",
    "77 lines match.",
    "errors: 120",
    "Errors rose from 10 to 150.",
]

REFUSED = [
    ("There are 121 errors.", "121"),
    ("About 12k events were read.", "12k"),
    ("Some 12,000 events were read.", "12,000"),
    ("1.2万条事件。", "1.2万"),
    ("There are 4711 errors.", "4711"),  # a line number is no count
    ("It failed 3000 times.", "3000"),  # a timeout in ms is no count
    ("There are 20 errors.", "20"),  # the size of a pool is no count
    ("共有 999 条错误。", "999"),
    ("共有９９９条错误。", "９９９"),
    ("出现了九百九十九次。", "九百九十九"),
    ("错误数量：999", "999"),
    ("57% of the requests failed.", "57"),
    ("The outage lasted 8 days.", "8"),
    ("Seventeen errors, or rather seven errors.", "seven"),
    ("errors: 121", "121"),
    ("Errors rose to 151.", "151"),
    ("The pool has a size of 64.", "64"),
    ("2 million events were read.", "2 million"),
]

NO_CLAIMS = [
    'It says "999 errors" and `888 lines` and ``777``.',
    "它说“999 次错误”，又说「888」。",
    "See app.log:999, lines 998-999, line 997 and 996.",
    "见第 999 行，行号 998，app.log:997。",
    "At 2026-11-29T10:20:30.123Z, at 10:21, on Nov 28, 2026 and 29 November 2026.",
    "2026年11月28日 9点31分，北京时间 09:32（UTC+8）。",
    "HTTP 500 and status 503, exit code 137, port 5432, PID 4242, 端口 6379，状态码 502。",
    "Version 2.1, v1.2.3, 1.2.3.4, 10.0.0.7:8080, sha256, p99, UTF-8, pod-77, web-1, req-123abc.",
    "Request 7f9c3a21 on node-13 and blk_388 of /var/log/app-77/x.log at https://x.example/66.",
    "1. First\n2) Second\n3、第三",
    "Most likely cause (score 0.87): the pool.",
    "Seen before [mem:12345678-0000|99 errors].",
    "The 3rd attempt, issue #55, attempt 4.",
    "Raise the limit to 64 connections and retry up to 7 times.",
    "建议把连接池增加到 64。",
    "no number at all",
]


@pytest.mark.parametrize("sentence", PROVED)
def test_what_the_tools_returned_may_be_said(sentence: str) -> None:
    proofs = Proofs(RESULTS, TEXTS, QUOTES)
    assert [claim.text for claim in claims(sentence) if not proofs.prove(claim)] == []


def test_the_sentences_that_are_allowed_do_claim_numbers() -> None:
    assert [s for s in PROVED if not claims(s)] == []


@pytest.mark.parametrize(("sentence", "number"), REFUSED)
def test_what_no_tool_returned_is_found(sentence: str, number: str) -> None:
    proofs = Proofs(RESULTS, TEXTS, QUOTES)
    bad = [claim for claim in claims(sentence) if not proofs.prove(claim)]
    assert [sentence[claim.start : claim.start + len(claim.text)] for claim in bad] == [number]


@pytest.mark.parametrize("sentence", NO_CLAIMS)
def test_what_only_names_something_is_no_claim(sentence: str) -> None:
    assert claims(sentence) == []


def test_what_was_not_returned_at_all_proves_nothing() -> None:
    proofs = Proofs([])
    assert [c.text for c in claims("120 errors in 3 services") if not proofs.prove(c)] == ["120", "3"]


def test_numbers_of_a_text_are_read_in_every_script() -> None:
    assert numbers("1,234 和 ５６７ and 8.5") == {1234.0, 567.0, 8.5}


@given(st.text(alphabet='0123456789,.:/-_ abk%万次条个第`"\n“”', max_size=300))
def test_no_text_breaks_the_reader_of_claims(text: str) -> None:
    proofs = Proofs(RESULTS)
    for claim in claims(text):
        proofs.prove(claim)
        assert 0 <= claim.start < len(text)


@pytest.mark.parametrize(
    "piece", ["a", "a/", "1", "1,", "a.", "`", "1-", "_1", '"', "1 a ", "line 1 ", "[mem:"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (40_000 // len(piece))
    start = time.process_time()
    claims(text)
    assert time.process_time() - start < 3
