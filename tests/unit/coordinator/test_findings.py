"""Findings of one cause from two workers of a split part are one, with the proof of both; others stay apart."""

from __future__ import annotations

import pytest

from coordinator.findings import findings_of
from kernel.contracts import Evidence, Finding, Outcome
from kernel.records import AssignmentRow


def found(score: float = 0.8, key: str = "pool", service: str = "shop", **fields: object) -> Finding:
    pattern = fields.pop("pattern", "pool exhausted")
    told = (
        f'{fields.pop("lines", 3)} lines tell of it. Service: {service}. Pattern: "{pattern}".'
        if service
        else ""
    )
    title = f"{service}: pool exhausted"
    return Finding(**{"title": title, "score": score, "key": key, "detail": told, **fields})


def proof(source: str, *lines: int) -> list[Evidence]:
    return [Evidence(source=source, line=line, quote=f"line {line}") for line in lines]


def part(key: str, *findings: Finding, of: str = "analyse") -> AssignmentRow:
    outcome = Outcome(findings=[*findings]).model_dump(mode="json")
    inputs = {"part_of": of} if of else {}
    return AssignmentRow(id=key, run_id="r", key=key, agent="a", queue="q", inputs=inputs, outcome=outcome)


def test_one_cause_in_two_parts_is_one_finding_with_the_proof_of_both() -> None:
    one = found(0.6, lines=3, evidence=proof("a", *range(1, 8)), reasons=["new"], severity="critical")
    other = found(0.9, lines=5, evidence=proof("b", 9, 10), reasons=["new", "rises"], against=proof("b", 2))
    (joined,) = findings_of([part("analyse", one), part("analyse_2", other)])
    assert joined.score == 0.9
    assert joined.severity == "critical"
    assert [(e.source, e.line) for e in joined.evidence[:4]] == [("b", 9), ("a", 1), ("b", 10), ("a", 2)]
    assert len(joined.evidence) == 6
    assert joined.reasons == ["new", "rises"]
    assert joined.against == other.against
    assert "3 lines" in joined.detail
    assert joined.detail.endswith('5 lines tell of it. Service: shop. Pattern: "pool exhausted".')


@pytest.mark.parametrize(
    "other",
    [
        {"service": "bank"},
        {"key": "disk"},
        {"key": ""},
        {"service": "", "title": "another matter"},
    ],
)
def test_another_cause_stays_a_finding_of_its_own(other: dict[str, str]) -> None:
    assert len(findings_of([part("analyse", found()), part("analyse_2", found(**other))])) == 2


def test_errors_of_no_kind_are_one_only_where_their_lines_say_the_same() -> None:
    vague = [found(key="error"), found(key="error", pattern="other"), found(key="error", lines=9)]
    parts = [part(f"analyse_{n}", finding) for n, finding in enumerate(vague)]
    assert len(findings_of(parts)) == 2


def test_without_a_service_titles_say_what_is_the_same_whatever_their_values() -> None:
    one = found(service="", title="5 of 8 logins failed for <PHONE:1a2b3c>")
    other = found(service="", title="12 of 30 logins failed for <PHONE:ffffff>")
    assert len(findings_of([part("analyse", one), part("analyse_2", other)])) == 1


def test_only_parts_of_one_assignment_are_joined() -> None:
    assert len(findings_of([part("analyse", found(), of=""), part("check", found(), of="")])) == 2
    assert len(findings_of([part("analyse", found()), part("check", found(), of="check")])) == 2


def test_the_likeliest_come_first_and_no_more_than_a_report_holds() -> None:
    many = [found(n / 100, key=f"k{n}") for n in range(30)]
    told = findings_of(
        [part("analyse", *many), AssignmentRow(id="x", run_id="r", key="x", agent="a", queue="q")]
    )
    assert [finding.score for finding in told] == [n / 100 for n in range(29, 9, -1)]


def test_two_of_one_worker_stay_two() -> None:
    told = findings_of([part("analyse", found(0.9), found(0.5)), part("analyse_2", found(0.7))])
    assert [finding.score for finding in told] == [0.9, 0.5]
