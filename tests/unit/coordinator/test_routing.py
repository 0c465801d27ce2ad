"""Routing: parts of a plan by who reaches their sources, names in a text, and what nobody reaches."""

from __future__ import annotations

import pytest

from coordinator.routing import mentioned, route
from kernel.contracts import Card, PlannedAssignment, Request, Source
from kernel.sharing import free_key, goal_of, own_sources, sources_of

LOOK = PlannedAssignment(key="analyse", agent="log_analysis", goal="Find the cause.")
TELL = PlannedAssignment(key="notify", agent="notification", goal="Tell.", needs=["analyse"])


def card(worker: str, *sources: str, agent: str = "log_analysis") -> Card:
    return Card(agent=agent, purpose="p", queue=f"agents.{agent}", worker=worker, sources=list(sources))


TEAM = [card("w1", "checkout"), card("w2", "payments"), card("w3", agent="notification")]


def named(*names: str) -> list[Source]:
    return [Source(name=name) for name in names]


def test_without_a_named_source_the_plan_stays_as_it_is() -> None:
    path = [Source(name="/var/log/app.log", path="/var/log/app.log"), Source(name="a.log", artifact="f" * 64)]
    for sources in ([], path):
        routed = route([LOOK, TELL], sources, TEAM)
        assert routed.assignments == [LOOK, TELL]
        assert routed.queues == {"analyse": "agents.log_analysis", "notify": "agents.notification"}
        assert routed.missing == {}


def test_sources_of_different_workers_are_asked_of_each() -> None:
    routed = route([LOOK, TELL], named("checkout", "payments"), TEAM)
    one, two, tell = routed.assignments
    assert [one.key, two.key, tell.key] == ["analyse", "analyse_2", "notify"]
    assert sources_of(one.inputs) == ["checkout"]
    assert sources_of(two.inputs) == ["payments"]
    assert tell.needs == ["analyse", "analyse_2"]
    assert routed.queues["analyse"] == "agents.log_analysis@checkout"
    assert routed.queues["analyse_2"] == "agents.log_analysis@payments"


def test_sources_of_the_same_workers_stay_together() -> None:
    cards = [card("w1", "checkout", "payments"), card("w2", "payments", "checkout", "search"), card("w3")]
    routed = route([LOOK], named("checkout", "payments"), cards)
    assert [sources_of(a.inputs) for a in routed.assignments] == [["checkout", "payments"]]
    routed = route([LOOK], named("checkout", "search"), cards)
    assert [sources_of(a.inputs) for a in routed.assignments] == [["checkout"], ["search"]]


def test_paths_go_beside_a_name_only_where_everybody_reaches_it() -> None:
    mixed = [*named("checkout"), Source(name="/a.log", path="/a.log")]
    alone = route([LOOK], mixed, [card("w1", "checkout")])
    assert [(a.key, sources_of(a.inputs)) for a in alone.assignments] == [("analyse", ["checkout", "/a.log"])]
    assert alone.queues == {"analyse": "agents.log_analysis@checkout"}
    apart = route([LOOK], mixed, TEAM)
    assert [sources_of(a.inputs) for a in apart.assignments] == [["checkout"], ["/a.log"]]
    assert apart.queues["analyse_2"] == "agents.log_analysis"


def test_a_bare_word_is_a_name_where_a_card_carries_it() -> None:
    routed = route([LOOK], [Source(name="checkout", path="checkout")], TEAM)
    assert routed.assignments[0].inputs["sources"] == [{"name": "checkout"}]
    assert routed.unreached == []


def test_what_nobody_reaches_fails_alone_and_says_what_can_be_reached() -> None:
    routed = route([LOOK, TELL], named("checkout", "search"), TEAM)
    assert routed.unreached == ["search"]
    assert list(routed.missing) == ["analyse_2"]
    assert "'search'" in routed.missing["analyse_2"]
    assert "checkout, payments" in routed.missing["analyse_2"]


def test_a_file_name_that_is_no_source_is_left_to_the_agent() -> None:
    bare = [Source(name="app.log", path="app.log")]
    assert route([LOOK], bare, TEAM).assignments == [LOOK]
    assert route([LOOK], bare, TEAM).unreached == []


def test_a_name_is_waited_for_where_no_worker_has_any() -> None:
    routed = route([LOOK], named("checkout"), [card("w1")])
    assert (routed.assignments, routed.unreached) == ([LOOK], ["checkout"])


def test_keys_stay_within_their_length_and_apart_from_earlier_ones() -> None:
    long = LOOK.model_copy(update={"key": "a" * 31})
    routed = route([long], named("checkout", "payments"), TEAM, taken=["a" * 29 + "_2"])
    assert [a.key for a in routed.assignments] == ["a" * 31, "a" * 29 + "_3"]
    for a in routed.assignments:
        PlannedAssignment.model_validate(a.model_dump())


def test_a_playbook_may_name_the_sources() -> None:
    fixed = LOOK.model_copy(update={"inputs": {"sources": ["payments"]}})
    assert route([fixed], [], TEAM).queues == {"analyse": "agents.log_analysis@payments"}


def test_an_agent_without_a_worker_is_said_with_the_command_that_starts_one() -> None:
    assert "nightdesk worker log_analysis" in route([LOOK], [], []).missing["analyse"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("why does checkout fail?", ["checkout"]),
        ("Checkout is slow.", ["checkout"]),
        ("payments first, then checkout", ["payments", "checkout"]),
        ("checkout为什么失败？结账也是", ["checkout", "结账"]),
        ("pre-checkout, checkout_v2, checkouts, checkout.log and app.checkout", []),
        ("it", []),
    ],
)
def test_names_in_a_text(text: str, names: list[str]) -> None:
    found = mentioned(Request(text=text), [*TEAM, card("w4", "结账", "it")])
    assert [source.name for source in found] == names


def test_a_label_mentions_too() -> None:
    assert mentioned(Request(text="alert", labels={"service": "checkout"}), TEAM) == named("checkout")


@pytest.mark.parametrize("told", ["/srv/logs/name.log", "username", "plain word"])
def test_sources_that_a_playbook_writes_as_words_are_sources(told: str) -> None:
    look = LOOK.model_copy(update={"inputs": {"sources": [told]}})
    routed = route([look], [], [card("w1")])
    assert sources_of(routed.assignments[0].inputs) == [told]
    assert own_sources(look.inputs)[0].path == (told if "/" in told else None)


def test_keys_and_goals_of_parts() -> None:
    assert free_key("a" * 31, {"a" * 29 + "_2"}) == "a" * 29 + "_3"
    assert goal_of("look (a, b)", named("b"), named("a", "b")) == "look (b)"
    assert goal_of("look", named("b"), named("a", "b")) == "look (b)"
