"""The travel planner's tools: weather, attractions, hotels and routes, all reads of the file it ships."""

from __future__ import annotations

from typing import Any, Literal

from travel_planner.places import City, Interest, cities, distance_km, find_city

from agents.runtime.tools import ToolContext, tool
from kernel.errors import Correctable

#: Streets are longer than a straight line by about this much.
_DETOUR = 1.3
_WALK_KM, _TRAM_KM = 1.5, 6.0
#: Minutes per kilometre and minutes of waiting.
_PACE = {"walk": (13.0, 0.0), "tram": (4.5, 6.0), "metro": (2.5, 8.0)}

#: places.json knows the weather of three days.
Days = Literal[1, 2, 3]


@tool()
async def get_weather(ctx: ToolContext, city: str, days: Days = 2) -> dict[str, Any]:
    """Say what the weather will be on the next days. Use it before choosing between indoor and outdoor sights.

    Args:
        city: The city's name, in English or Chinese.
        days: How many days, 1 to 3.

    Example: {"city": "Lisbon", "days": 2}
    """
    found = _city(city)
    return {"city": found.id, "days": [day.model_dump() for day in found.weather[:days]]}


@tool()
async def get_attractions(ctx: ToolContext, city: str, interest: Interest | None = None) -> dict[str, Any]:
    """List the sights of a city, the best first. Use it to choose what to visit, and to find a replacement.

    Args:
        city: The city's name, in English or Chinese.
        interest: What counts most: history, art, nature, food or view; leave it out for a mix.

    Example: {"city": "京都", "interest": "history"}
    """
    found = _city(city)

    def worth(index: int) -> tuple[int, int]:
        scores = found.attractions[index].interests
        return -(scores.get(interest, 0) if interest else sum(scores.values())), index

    order = sorted(range(len(found.attractions)), key=worth)
    return {"city": found.id, "attractions": [found.attractions[i].model_dump() for i in order]}


@tool()
async def get_hotels(ctx: ToolContext, city: str, nights: Days = 1) -> dict[str, Any]:
    """List hotels with the price of the whole stay, the cheapest first.

    Args:
        city: The city's name, in English or Chinese.
        nights: How many nights, 1 to 3.

    Example: {"city": "Chengdu", "nights": 1}
    """
    found = _city(city)
    hotels = sorted(found.hotels, key=lambda hotel: hotel.price)
    return {"city": found.id, "hotels": [{**h.model_dump(), "total": h.price * nights} for h in hotels]}


@tool()
async def get_route(ctx: ToolContext, city: str, start: str, end: str) -> dict[str, Any]:
    """Say how to get from one place to another, how far it is and how long it takes. Ask for several side by side.

    Args:
        city: The city's name, in English or Chinese.
        start: A hotel's name, or a sight's id or name, as another tool returned it.
        end: The same, for where to go.

    Example: {"city": "Lisbon", "start": "castelo", "end": "azulejo"}
    """
    found = _city(city)
    places = [found.place(start), found.place(end)]
    for name, place in zip((start, end), places, strict=True):
        if place is None:
            raise Correctable(
                f"{found.name.en} has no place called {name[:80]!r}",
                next_step="Use an id from get_attractions or a name from get_hotels.",
            )
    first, second = places
    assert first is not None
    assert second is not None
    km = round(distance_km(first, second) * _DETOUR, 1)
    means = "walk" if km <= _WALK_KM else "tram" if km <= _TRAM_KM else "metro"
    per_km, waiting = _PACE[means]
    return {"start": start, "end": end, "km": km, "by": means, "minutes": round(km * per_km + waiting)}


TOOLS = [get_weather, get_attractions, get_hotels, get_route]


def _city(name: str) -> City:
    found = find_city(name)
    if found is None:
        known = ", ".join(f"{city.name.en} ({city.name.zh})" for city in cities())
        raise Correctable(
            f"there is nothing known about {name[:80]!r}",
            why="it is not in places.json",
            next_step=f"Known: {known}.",
        )
    return found
