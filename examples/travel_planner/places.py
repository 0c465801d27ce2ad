"""The places this agent knows: cities with weather, sights and hotels, read once from places.json."""

from __future__ import annotations

import json
import math
import re
from functools import lru_cache
from pathlib import Path
from typing import Literal

from kernel.contracts import Value

Slot = Literal["morning", "afternoon"]
Interest = Literal["history", "art", "nature", "food", "view"]

_FILE = Path(__file__).with_name("places.json")


class Name(Value):
    """A name in the two languages this agent answers in."""

    en: str
    zh: str


class Day(Value):
    """The weather of one day; degrees are Celsius."""

    sky: Name
    low: int
    high: int
    rain_percent: int


class Sight(Value):
    """One attraction; `interests` scores 0..5, positions are kilometres from the city's centre."""

    id: str
    name: Name
    best: Slot
    indoor: bool
    east_km: float
    north_km: float
    interests: dict[Interest, int]


class Hotel(Value):
    """One hotel; the price is for a night, in euros."""

    name: Name
    stars: int
    price: int
    east_km: float
    north_km: float


class City(Value):
    """One city; `also` holds other spellings, `unlike` longer words in which its name means something else."""

    id: str
    name: Name
    also: list[str] = []
    unlike: list[str] = []
    weather: list[Day]
    attractions: list[Sight]
    hotels: list[Hotel]

    def place(self, name: str) -> Sight | Hotel | None:
        """Return a sight by id or name, or a hotel by name."""
        wanted = name.strip().casefold()
        for sight in self.attractions:
            if wanted in (sight.id, sight.name.en.casefold(), sight.name.zh):
                return sight
        return next((h for h in self.hotels if wanted in (h.name.en.casefold(), h.name.zh)), None)


class _Places(Value):
    note: str
    cities: list[City]


@lru_cache(maxsize=1)
def cities() -> tuple[City, ...]:
    """Return all cities."""
    return tuple(_Places.model_validate(json.loads(_FILE.read_text(encoding="utf-8"))).cities)


def find_city(text: str) -> City | None:
    """Return the city that a text names first, or None."""
    named = [(at, index) for index, city in enumerate(cities()) if (at := _position(city, text)) is not None]
    return cities()[min(named)[1]] if named else None


def _position(city: City, text: str) -> int | None:
    for word in city.unlike:
        text = text.replace(word, " " * len(word))
    # a Latin name is a whole word; Chinese writes no spaces
    latin = "|".join(re.escape(name) for name in (city.name.en, *city.also))
    found = re.search(rf"(?i)\b(?:{latin})\b|{re.escape(city.name.zh)}", text)
    return found.start() if found else None


def distance_km(start: Sight | Hotel, end: Sight | Hotel) -> float:
    """Return the distance in a straight line."""
    return math.hypot(end.east_km - start.east_km, end.north_km - start.north_km)
