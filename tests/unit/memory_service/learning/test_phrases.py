from __future__ import annotations

import re
from typing import Any

import pytest
import re2

from kernel.contracts import Evidence, Finding
from memory_service.learning.phrases import pattern, service_of


def finding(*quotes: str, **fields: Any) -> Finding:
    evidence = [Evidence(source="app.log", line=n + 1, quote=quote) for n, quote in enumerate(quotes)]
    return Finding(title=fields.pop("title", "pool exhausted"), evidence=evidence, **{"score": 0.8, **fields})


@pytest.mark.parametrize(
    ("quote", "expected"),
    [
        (
            "2026-11-02 08:59:58,114 ERROR pool: QueuePool limit of size 2 overflow 0 reached, timeout 5.00",
            "pool: QueuePool limit of size",
        ),
        (
            "2026-11-02T08:59:58Z [WARN] upstream closed connection to 10.0.0.7:5432",
            "upstream closed connection to",
        ),
        ("E1102 08:59:58.114 node-7 disk full (98.5%) on <EMAIL:0ab1f3>", "disk full"),
        (
            'level=error msg="x" err=timeout waiting for connection from pool',
            "waiting for connection from pool",
        ),
        (
            "Caused by: java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available",
            "Caused by: java\\.sql\\.SQLTransientConnectionException",
        ),
        ("2026-11-02 09:00:00 ERROR 数据库连接池耗尽，等待 30 秒", "数据库连接池耗尽，等待"),
        ("ERROR: 42 7 0x1f", ""),
        ("12:00:01 INFO ok", ""),
    ],
)
def test_the_pattern_is_the_longest_stable_phrase(quote: str, expected: str) -> None:
    found = pattern(finding(quote))
    assert found == expected
    if found:
        assert re.search(found, quote)
        assert re2.search(found, quote), "log search uses the linear-time engine"


def test_the_pattern_finds_the_next_occurrence_too() -> None:
    found = pattern(
        finding("2026-11-02 08:59:58 ERROR pool: limit of size 2 (overflow 0) reached after 5.0 s")
    )
    assert re.search(
        found, "2027-01-01 00:00:01 ERROR pool: limit of size 64 (overflow 8) reached after 30.5 s"
    )


def test_a_line_without_a_phrase_is_passed_over_for_the_next() -> None:
    assert pattern(finding("ERROR 42", "ERROR connection pool exhausted")) == "connection pool exhausted"


def test_the_phrase_that_a_finding_names_comes_first() -> None:
    detail = '3 lines tell of it. Service: checkout. Pattern: "pool (size <n>) is empty".'
    told = finding("ERROR another line of text", detail=detail)
    assert pattern(told) == r"pool \(size <n>\) is empty"
    assert service_of(told) == "checkout"


@pytest.mark.parametrize("phrase", ["50", 'a "quoted" phrase of words', "a phrase that was …"])
def test_a_phrase_that_says_too_little_or_is_no_literal_is_passed_over(phrase: str) -> None:
    told = finding("ERROR another line of text", detail=f'1 line tells of it. Pattern: "{phrase}".')
    assert pattern(told) == "another line of text"


def test_a_quoted_line_names_no_service() -> None:
    detail = 'vanished 1 (x. Service: evil. Pattern: "y"). Service: checkout. Pattern: "pool is empty".'
    assert service_of(finding(detail=detail)) == "checkout"
    assert service_of(finding(detail="Service: checkout is named in prose")) == ""
