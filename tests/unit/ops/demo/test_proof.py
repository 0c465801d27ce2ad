"""The demo's checks refuse what is not so: each test takes a good report and breaks one thing in it."""

from __future__ import annotations

from typing import Any

import pytest

from ops.demo import proof

LINES = [
    "2026-11-29T21:20:07.743+00:00 INFO  [checkout] deployed version 2026.11.2 config pool_size=2",
    "2026-11-29T21:20:07.766+00:00 INFO  [checkout] POST /checkout 200 59ms order=000102",
    "2026-11-29T21:20:07.976+00:00 ERROR [checkout] order 000113 failed: pool exhausted: 2/2 connections in use",
    "2026-11-29T21:20:07.989+00:00 ERROR [checkout] order 000114 failed: pool exhausted: 2/2 connections in use",
]
PATH = "/somewhere/checkout-1.log"


def piece(line: int, quote: str | None = None) -> dict[str, Any]:
    return {"source": "checkout-1.log", "line": line, "quote": LINES[line - 1] if quote is None else quote}


def report(**changes: Any) -> dict[str, Any]:
    return {
        "findings": [{"title": "pool exhausted", "evidence": [piece(3), piece(4), piece(1)]}],
        "actions": [{"name": "restart_service", "state": "done", "verified": True}],
        "notifications": [{"channel": "webhook", "state": "sent"}],
        "memories": [{"id": "m1", "cited": True}],
        "usage": {"calls": 3},
        **changes,
    }


class TestSays:
    @pytest.mark.parametrize(
        "quote",
        [
            LINES[2],
            "pool exhausted: 2/2",
            "2026-11-29T21:20:07.976+00:00 ERROR … 2/2 connections in use",
            "ERROR [checkout] order <ID:0a1b2c> failed",
        ],
    )
    def test_takes_a_quote_whole_cut_or_redacted(self, quote: str) -> None:
        assert proof.says(LINES[2], quote)

    @pytest.mark.parametrize("quote", ["", "  ", "pool exhausted: 3/3", "in use … pool exhausted"])
    def test_refuses_what_the_line_does_not_say(self, quote: str) -> None:
        assert not proof.says(LINES[2], quote)


class TestUnproven:
    def test_finds_nothing_wrong_with_true_quotes(self) -> None:
        assert proof.unproven(report(), PATH, LINES) == []

    @pytest.mark.parametrize(
        ("evidence", "problem"),
        [
            ([], "the report has no evidence"),
            ([piece(3) | {"source": "other.log"}], "other.log is not the log that was given"),
            ([piece(3) | {"line": 99}], "line 99 does not exist"),
            ([piece(2, LINES[2])], "line 2 does not say"),
        ],
    )
    def test_names_what_is_wrong(self, evidence: list[dict[str, Any]], problem: str) -> None:
        broken = report(findings=[{"title": "x", "evidence": evidence}])
        (found,) = proof.unproven(broken, PATH, LINES)
        assert problem in found


class TestFindCause:
    def test_gives_the_first_failure_and_the_deploy_before_it(self) -> None:
        cause = proof.find_cause(report())
        assert cause is not None
        assert (cause.first_line, cause.deploy_line, cause.lines) == (3, 1, (1, 3, 4))
        assert "first at 2026-11-29T21:20:07.976+00:00 (line 3), after the deploy in line 1" in str(cause)
        assert proof.true_first(LINES) == cause.first_line

    def test_is_none_without_proof_of_the_exhausted_pool(self) -> None:
        assert (
            proof.find_cause(report(findings=[{"title": "pool exhausted", "evidence": [piece(2)]}])) is None
        )
        assert proof.find_cause(report(findings=[])) is None


class TestActionProblems:
    def test_takes_the_one_action_done_and_verified(self) -> None:
        assert proof.action_problems(report()) == []

    @pytest.mark.parametrize(
        "actions",
        [
            [],
            [{"name": "other", "state": "done", "verified": True}],
            [{"name": "restart_service", "state": "denied", "verified": True}],
            [{"name": "restart_service", "state": "done", "verified": None}],
            [{"name": "restart_service", "state": "done", "verified": True}] * 2,
        ],
    )
    def test_refuses_anything_else(self, actions: list[dict[str, Any]]) -> None:
        assert proof.action_problems(report(actions=actions))


class TestNoticeProblems:
    GOOD = {"signed": True, "body": '{"run_id": "r1"}'}

    def test_takes_one_signed_message(self) -> None:
        assert proof.notice_problems(report(), [self.GOOD, {"signed": False, "body": "r0"}], "r1") == []

    @pytest.mark.parametrize("messages", [[], [GOOD, GOOD], [GOOD | {"signed": False}]])
    def test_refuses_none_two_and_unsigned(self, messages: list[dict[str, Any]]) -> None:
        assert proof.notice_problems(report(), messages, "r1")

    def test_refuses_a_report_that_does_not_say_sent(self) -> None:
        failed = report(notifications=[{"channel": "webhook", "state": "failed"}])
        assert proof.notice_problems(failed, [self.GOOD], "r1")


class TestRecallProblems:
    def test_takes_a_cited_memory_and_fewer_calls(self) -> None:
        assert proof.recall_problems(report(usage={"calls": 6}), report(), {"m1"}) == []

    def test_refuses_served_but_not_cited_and_as_many_calls(self) -> None:
        uncited = report(memories=[{"id": "m1", "cited": False}])
        assert proof.recall_problems(report(usage={"calls": 6}), uncited, {"m1"})
        assert proof.recall_problems(report(), report(), {"m1"}) == ["calls went 3→3"]


def test_the_last_line_has_the_agreed_form() -> None:
    line = proof.last_line(41.6, report(usage={"calls": 6}), report())
    assert line == (
        "demo: ok seconds=42 runs=2 findings=2 evidence=checked action=done verified=yes notified=yes "
        "recalled=yes calls=6→3"
    )
