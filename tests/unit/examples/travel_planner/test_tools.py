"""The tools over the file they read."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from agents.runtime.spec import AgentSpec
from kernel.contracts import Effect
from kernel.errors import Correctable
from kernel.settings import Settings

Call = Callable[..., Any]


def test_every_tool_only_reads_and_says_when_to_use_it(agent: AgentSpec) -> None:
    tools = agent.tools(Settings())
    assert [tool.name for tool in tools] == ["get_weather", "get_attractions", "get_hotels", "get_route"]
    for tool in tools:
        assert tool.effect is Effect.read
        assert "Example: {" in tool.description
        assert all(field["description"] for field in tool.parameters["properties"].values())


async def test_weather_for_the_days_asked(call: Call) -> None:
    found = await call("get_weather", city="里斯本", days=3)
    assert [day["sky"]["en"] for day in found["days"]] == ["sunny", "rain", "cloudy"]
    assert len((await call("get_weather", city="lisboa"))["days"]) == 2


async def test_an_interest_orders_the_sights(call: Call) -> None:
    found = await call("get_attractions", city="Kyoto", interest="food")
    assert found["attractions"][0]["id"] == "nishiki"
    scores = [sight["interests"]["food"] for sight in found["attractions"]]
    assert scores == sorted(scores, reverse=True)


async def test_hotels_cheapest_first_with_the_whole_price(call: Call) -> None:
    hotels = (await call("get_hotels", city="Chengdu", nights=2))["hotels"]
    assert [(hotel["price"], hotel["total"]) for hotel in hotels] == [(45, 90), (98, 196)]


async def test_a_route_by_id_or_name_is_as_long_in_both_directions(call: Call) -> None:
    there = await call("get_route", city="Lisbon", start="castelo", end="National Tile Museum")
    back = await call("get_route", city="Lisbon", start="国家瓷砖博物馆", end="castelo")
    assert (there["km"], there["by"]) == (back["km"], back["by"]) == (2.3, "tram")
    far = await call("get_route", city="Lisbon", start="torre", end="oceanario")
    near = await call("get_route", city="Lisbon", start="castelo", end="miradouro")
    assert (far["by"], near["by"]) == ("metro", "walk")


@pytest.mark.parametrize("city", ["Atlantis", "东京都", "Lisbonne", ""])
async def test_an_unknown_city_names_those_that_are_known(call: Call, city: str) -> None:
    with pytest.raises(Correctable) as error:
        await call("get_weather", city=city)
    assert city in error.value.what
    assert "Lisbon (里斯本), Kyoto (京都), Chengdu (成都)" in error.value.next_step


async def test_an_unknown_place_says_where_ids_come_from(call: Call) -> None:
    with pytest.raises(Correctable, match="no place called 'moon'"):
        await call("get_route", city="Lisbon", start="castelo", end="moon")


@pytest.mark.parametrize(
    ("name", "arguments"), [("get_weather", {"days": 4}), ("get_attractions", {"interest": "war"})]
)
async def test_the_schema_refuses_what_is_not_offered(
    call: Call, name: str, arguments: dict[str, Any]
) -> None:
    with pytest.raises(Correctable, match="bad arguments"):
        await call(name, city="Lisbon", **arguments)
