"""The routine: a plan in two rounds of calls, changes out of the session, and what it cannot do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import re2

from agents.runtime.spec import AgentSpec, DoneTurn
from kernel.contracts import Outcome, SessionTurn

Ask = Callable[..., tuple[Outcome, list[DoneTurn]]]


def tools(turns: list[DoneTurn]) -> list[list[str]]:
    return [[call.tool for call in turn.calls] for turn in turns]


def after(outcome: Outcome, text: str = "plan two days in Lisbon") -> SessionTurn:
    return SessionTurn(
        run_id="r0", text=text, answer=outcome.answer, agents=["travel_planner"], facts=outcome.facts
    )


def days(outcome: Outcome) -> list[tuple[str, str]]:
    plan: dict[str, Any] = outcome.facts["travel_plan"]
    return [(day["morning"]["id"], day["afternoon"]["id"]) for day in plan["days"]]


def test_a_plan_takes_two_rounds_of_parallel_calls(ask: Ask) -> None:
    outcome, turns = ask("plan two days in Lisbon")
    assert tools(turns) == [["get_weather", "get_attractions", "get_hotels"], ["get_route"] * 4]
    assert outcome.not_done == []
    assert not outcome.partial
    assert outcome.answer.startswith("Lisbon, 2 days:")
    for told in (
        "Day 1 (sunny, 15 to 24 °C",
        "Day 2 (rain, 13 to 18 °C",
        "Pensão Sete Colinas, 1 night, 78 EUR",
        "km, ",
    ):
        assert told in outcome.answer
    plan = outcome.facts["travel_plan"]
    assert len({sight for day in days(outcome) for sight in day}) == 4
    assert all(plan["days"][1][half]["indoor"] for half in ("morning", "afternoon"))
    assert len(plan["legs"]) == 4


def test_chinese_is_answered_in_chinese(ask: Ask) -> None:
    outcome, _ = ask("成都三天怎么玩，想看历史")
    assert outcome.answer.startswith("成都3天行程：")
    assert "上午: 武侯祠" in outcome.answer.replace("：", ": ")
    assert "晚，共" in outcome.answer
    assert len(days(outcome)) == 3


def test_a_follow_up_changes_one_sight_and_asks_for_less(ask: Ask) -> None:
    first, before = ask("plan two days in Lisbon, we like nature")
    old = first.facts["travel_plan"]["days"][0]["morning"]
    outcome, turns = ask("swap the morning sight for one with more history", [after(first)])
    assert tools(turns) == [["get_attractions"], ["get_route", "get_route"]]
    assert sum(map(len, tools(turns))) < sum(map(len, tools(before)))
    new = outcome.facts["travel_plan"]["days"][0]["morning"]
    assert new["interests"]["history"] > old["interests"]["history"]
    assert f"{new['name']['en']} instead of {old['name']['en']}" in outcome.answer
    changed, kept = outcome.facts["travel_plan"], first.facts["travel_plan"]
    assert changed["days"][0]["afternoon"] == kept["days"][0]["afternoon"]
    assert changed["days"][1] == kept["days"][1]
    assert changed["hotel"] == kept["hotel"]
    assert {leg["end"] for leg in changed["legs"]} == {s for day in days(outcome) for s in day}


def test_the_session_goes_on_from_the_changed_plan(ask: Ask) -> None:
    first, _ = ask("plan two days in Lisbon")
    second, _ = ask("换掉第二天下午的景点，要自然风景", [after(first)])
    third, turns = ask("replace the afternoon of the last day with more art", [after(first), after(second)])
    assert days(second)[1][1] == "oceanario"
    assert days(third)[1][0] == days(second)[1][0]
    art = [
        outcome.facts["travel_plan"]["days"][1]["afternoon"]["interests"]["art"]
        for outcome in (second, third)
    ]
    assert art[0] < art[1] == 5
    assert days(third)[0] == days(first)[0]
    assert tools(turns) == [["get_attractions"], ["get_route"]]


def test_a_sight_may_be_named_even_when_its_name_holds_the_city(ask: Ask) -> None:
    first, _ = ask("京都两天，看艺术")
    index, half = next(
        (i, h) for i, day in enumerate(days(first)) for h, sight in enumerate(day) if sight == "museum"
    )
    outcome, turns = ask("swap the Kyoto National Museum for nature", [after(first)])
    assert days(outcome)[index][half] != "museum"
    assert tools(turns)[0] == ["get_attractions"]


def test_where_nothing_fits_better_the_plan_stays(ask: Ask) -> None:
    first, _ = ask("plan two days in Lisbon, history please")
    top = first.facts["travel_plan"]["days"][0]["morning"]
    assert top["interests"]["history"] == 5
    outcome, turns = ask("swap the morning sight for one with more history", [after(first)])
    assert outcome.facts == first.facts
    assert "No other sight has more history" in outcome.answer
    assert tools(turns) == [["get_attractions"]]


@pytest.mark.parametrize("text", ["swap the morning of day 7", "swap it", "thanks, lovely"])
def test_an_unclear_wish_keeps_the_plan_and_says_what_to_say(ask: Ask, text: str) -> None:
    first, _ = ask("plan two days in Lisbon")
    outcome, turns = ask(text, [after(first)])
    assert turns == []
    assert outcome.facts == first.facts
    assert "morning" in outcome.answer


def test_other_days_plan_the_same_city_again(ask: Ask) -> None:
    first, _ = ask("plan two days in Lisbon")
    outcome, _ = ask("make it three days", [after(first)])
    assert outcome.answer.startswith("Lisbon, 3 days:")


@pytest.mark.parametrize(
    ("text", "place"),
    [("plan two days in Atlantis", "Atlantis"), ("去火星玩三天", "火星"), ("三天东京都游", "东京都")],
)
def test_an_unknown_city_is_named_with_those_that_are_known(ask: Ask, text: str, place: str) -> None:
    first, _ = ask("plan two days in Lisbon")
    for session in ([], [after(first)]):
        outcome, turns = ask(text, session)
        assert turns == []
        assert f"“{place}”" in outcome.answer
        assert "Kyoto" in outcome.answer or "京都" in outcome.answer
        assert [note.why for note in outcome.not_done] == [f"{place}: not known"]
        assert bool(outcome.facts) == bool(session)


def test_no_city_at_all_says_so(ask: Ask) -> None:
    outcome, _ = ask("swap the morning sight")
    assert outcome.answer.startswith("No city I know is named")
    assert outcome.facts == {}


def test_more_days_than_the_weather_knows(ask: Ask) -> None:
    outcome, _ = ask("plan seven days in Kyoto")
    assert len(days(outcome)) == 3
    assert [note.what for note in outcome.not_done] == ["7 days"]


def test_what_failed_is_said_and_the_rest_is_planned(ask: Ask) -> None:
    outcome, _ = ask("plan two days in Lisbon", broken=("get_weather", "get_route"))
    assert len(days(outcome)) == 2
    assert "°C" not in outcome.answer
    assert [note.what.split()[0] for note in outcome.not_done] == ["get_weather", *["get_route"] * 4]
    assert outcome.not_done[0].why == "get_weather broke"


@pytest.mark.parametrize("how", [{"broken": ("get_attractions",)}, {"tools": ()}])
def test_without_sights_there_is_no_plan(ask: Ask, how: dict[str, Any]) -> None:
    outcome, _ = ask("plan two days in Lisbon", **how)
    assert outcome.partial
    assert outcome.facts == {}
    assert outcome.answer.startswith("No plan for Lisbon")


def test_a_plan_of_another_shape_in_the_session_is_passed_over(ask: Ask) -> None:
    turn = SessionTurn(run_id="r", text="", answer="", facts={"travel_plan": {"days": "two"}})
    outcome, _ = ask("swap the morning sight", [turn])
    assert outcome.answer.startswith("No city I know")


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("plan two days in Lisbon", True),
        ("Plan me a 3-day trip to Kyoto", True),
        ("三天 成都", True),
        ("里斯本两天怎么玩", True),
        ("suggest a weekend in Atlantis", True),
        ("去火星旅行三天", True),
        ("why does checkout return 503 since two days", False),
        ("查一下最近三天的日志", False),
        ("restart the service in two days", False),
        ("订单服务三天内报错，找出原因", False),
    ],
)
def test_the_patterns_leave_other_agents_their_requests(agent: AgentSpec, text: str, ours: bool) -> None:
    assert any(re2.search(f"(?i){pattern}", text) for pattern in agent.handles) is ours
