"""What is granted, what refuses, and in what words."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from kernel.budgets import Amount, Ask, Budget, Budgets, Scope, ScopeKind, Spender, judge, refusal
from kernel.settings import Settings

CALL = Ask(fixed=Amount(model_calls=1))
ANSWER = Ask(fixed=Amount(model_calls=1, tokens=100), each=Amount(tokens=1), units=1000, least=256)


def caps(**limits: float) -> Budget:
    return Budget.model_validate(limits)


class TestJudge:
    def test_without_a_limit_all_is_granted(self) -> None:
        assert judge(ANSWER, [Budget().caps], [(10**9,) * 5]).units == 1000

    def test_the_last_call_is_granted_and_no_other(self) -> None:
        limits = [caps(model_calls=50).caps]
        assert judge(CALL, limits, [(49, 0, 0, 0, 0)]).refused is None
        verdict = judge(CALL, limits, [(50, 0, 0, 0, 0)])
        assert (verdict.refused, verdict.spent) == ((0, 0), 50)

    def test_a_tight_budget_lowers_the_answer_but_not_to_nothing(self) -> None:
        limits = [caps(tokens=10_000).caps, caps(tokens=5_000).caps]
        tight = judge(ANSWER, limits, [(0, 0, 0, 0, 0), (0, 0, 4_400, 0, 0)])
        assert (tight.units, tight.tight) == (500, 1)
        assert judge(ANSWER, limits, [(0, 0, 0, 0, 0), (0, 0, 4_644, 0, 0)]).units == 256
        assert judge(ANSWER, limits, [(0, 0, 0, 0, 0), (0, 0, 4_645, 0, 0)]).refused == (1, 2)

    def test_money_lowers_the_answer_too(self) -> None:
        ask = ANSWER.model_copy(update={"each": Amount(tokens=1, cost=0.00001)})
        assert judge(ask, [caps(cost=1.0).caps], [(0, 0, 0, 995_000_000, 0)]).units == 500

    def test_what_is_not_asked_for_does_not_refuse(self) -> None:
        assert judge(CALL, [caps(tool_calls=0, seconds=0).caps], [(0,) * 5]).refused is None
        assert not CALL.limited_by(Scope(kind=ScopeKind.run, budget=caps(tool_calls=0)))
        assert CALL.limited_by(Scope(kind=ScopeKind.run, budget=caps(model_calls=5)))


def test_small_prices_add_up_without_drift() -> None:
    assert Amount(cost=0.1).counts[3] * 10 == Amount(cost=1.0).counts[3] == 10**9
    assert Amount(cost=1e-12).counts[3] == 0 or Amount(cost=1e-9).counts[3] == 1


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        (ScopeKind.run, "r", "budget: 50 of 50 model calls of this run are spent"),
        (ScopeKind.assignment, "a", "budget: 50 of 50 model calls of this assignment are spent"),
        (ScopeKind.namespace, "支付", "budget: 50 of 50 model calls of namespace '支付' on 2026-11-30 (UTC) are spent"),
        (ScopeKind.day, "", "budget: 50 of 50 model calls of the desk on 2026-11-30 (UTC) are spent"),
    ],
)  # fmt: skip
def test_the_words_of_a_refusal(kind: ScopeKind, name: str, words: str) -> None:
    scope = Scope(kind=kind, name=name, day="2026-11-30", budget=Budget(model_calls=50))
    assert refusal(scope, 0, 50, CALL) == words


def test_the_words_where_something_is_left_say_what_is_needed() -> None:
    scope = Scope(kind=ScopeKind.run, budget=Budget(tokens=1000, cost=0.5))
    told = refusal(scope, 2, 900, ANSWER)
    assert told == "budget: 900 of 1000 tokens of this run are spent, and the next one may take 356"
    assert "0.25 of 0.5 dollars" in refusal(scope, 3, 250_000_000, ANSWER)


def test_scopes_are_the_assignment_the_run_the_namespace_and_the_day() -> None:
    budgets = Budgets(namespace=Budget(cost=1), namespaces={"payments": Budget(cost=5)})
    spender = Spender(run_id="r", assignment_id="r:a", namespace="payments", name="r:a.1")
    scopes = budgets.scopes(spender, "2026-11-30")
    assert [scope.kind for scope in scopes] == list(ScopeKind)
    assert scopes[2].budget.cost == 5
    planner = spender.model_copy(update={"assignment_id": "", "namespace": "other"})
    scopes = budgets.scopes(planner, "2026-11-30")
    assert [scope.kind for scope in scopes] == list(ScopeKind)[1:]
    assert scopes[1].budget.cost == 1


def test_budgets_come_from_the_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTDESK_RUN_BUDGET", '{"model_calls": 3}')
    monkeypatch.setenv("NIGHTDESK_NAMESPACE_BUDGETS", '{"payments": {"cost": 5}}')
    budgets = Settings(max_tokens=7).budgets
    assert budgets.run == Budget(model_calls=3)
    assert budgets.namespaces == {"payments": Budget(cost=5)}
    assert budgets.assignment == Budget(tokens=7, cost=2.0)
    assert budgets.day == budgets.namespace == Budget()


@pytest.mark.parametrize("wrong", ['{"model_call": 3}', '{"tokens": -1}'])
def test_a_budget_with_a_slip_is_refused(monkeypatch: pytest.MonkeyPatch, wrong: str) -> None:
    monkeypatch.setenv("NIGHTDESK_DAY_BUDGET", wrong)
    with pytest.raises(ValidationError, match="day_budget"):
        Settings()
