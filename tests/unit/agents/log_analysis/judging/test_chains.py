from __future__ import annotations

from typing import Any

from agents.log_analysis.judging.chains import chain, chain_text


def row(service: str, time: str, **more: Any) -> dict[str, Any]:
    first = {"source": f"{service}.log", "line": 1, "time": time}
    return {"level": "error", "services": [service], "first": first, **more}


def told(*rows: dict[str, Any]) -> list[str]:
    return chain_text({"problems": list(rows)}, rows[0])


def test_the_chain_is_in_order_of_first_errors() -> None:
    rows = [
        row("web", "2026-01-01T00:00:03.000Z"),
        row("db", "2026-01-01T00:00:01.000Z"),
        row("api", "2026-01-01T00:00:02.000Z", chronic=True),
    ]
    assert [service for service, _, _ in chain({"problems": rows})] == ["db", "web"]


def test_times_of_one_day_are_told_without_it() -> None:
    texts = told(row("web", "2026-01-01T10:00:03.000Z"), row("db", "2026-01-01T10:00:01.000Z"))
    assert texts == ["First error of each service, by its stamp: db (10:00:01.000Z) → web (10:00:03.000Z)"]


def test_times_of_two_days_are_told_with_their_dates() -> None:
    texts = told(row("web", "2026-01-02T00:00:03.000Z"), row("db", "2026-01-01T23:59:01.000Z"))
    assert texts == [
        "First error of each service, by its stamp: db (2026-01-01 23:59:01.000Z) → web (2026-01-02 00:00:03.000Z)"
    ]


def test_failures_more_than_a_day_apart_are_no_cascade() -> None:
    texts = told(
        row("web", "2026-01-09T10:00:03.000Z"),
        row("db", "2026-01-09T10:00:01.000Z"),
        row("mail", "2026-01-01T22:01:49.000Z"),
    )
    assert texts == [
        "First error of each service, by its stamp: db (10:00:01.000Z) → web (10:00:03.000Z)",
        "More than a day apart, so hardly the same failure: mail (2026-01-01 22:01:49.000Z)",
    ]


def test_failures_without_times_have_no_order() -> None:
    assert told(row("web", ""), row("db", "")) == []
    assert told(row("web", ""), row("db", "2026-01-01T10:00:01.000Z")) == []


def test_one_service_is_no_chain() -> None:
    assert told(row("web", "2026-01-09T10:00:03.000Z")) == []


def test_failures_along_ids_are_told() -> None:
    chain = {"services": ["db", "api", "web"], "count": 7, "id": "t-1"}
    paths = {"kind": "trace", "paths": 40, "failed": 9, "chains": [chain]}
    first = row("db", "2026-01-01T00:00:01.000Z")
    assert chain_text({"problems": [first], "paths": paths}, first) == [
        "Along 9 of 40 trace ids the failure ran db → api → web (7 of them, such as `t-1`)"
    ]


def test_an_order_along_ids_against_that_of_the_stamps_is_explained() -> None:
    rows = [row("web", "2026-01-01T10:00:00.000Z"), row("db", "2026-01-01T10:00:00.005Z")]
    paths = {
        "kind": "trace",
        "paths": 40,
        "failed": 9,
        "chains": [{"services": ["db", "web"], "count": 7, "id": "t"}],
    }
    texts = chain_text({"problems": rows, "paths": paths}, rows[1])
    assert texts[0].startswith("First error of each service, by its stamp: web ")
    assert texts[2].startswith("Errors of one id within 1 s are one failure: the service called last ")
