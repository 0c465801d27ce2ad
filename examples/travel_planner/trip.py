"""A trip, pure: which sights go on which half of which day, and what one change does to it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from travel_planner.places import Day, Hotel, Interest, Name, Sight, Slot, distance_km

from kernel.contracts import SessionTurn, Value

#: The key in an outcome's facts under which a session keeps its plan.
FACT = "travel_plan"
_WET_PERCENT = 60
SLOTS: tuple[Slot, ...] = ("morning", "afternoon")


class Leg(Value):
    """A way between two places, as get_route returned it."""

    start: str
    end: str
    km: float
    by: str
    minutes: int


class TripDay(Value):
    """One day."""

    weather: Day | None = None
    morning: Sight
    afternoon: Sight

    def sight(self, slot: Slot) -> Sight:
        """Return the sight of half a day."""
        return self.morning if slot == "morning" else self.afternoon

    @property
    def wet(self) -> bool:
        """Tell whether one would rather be indoors."""
        return self.weather is not None and self.weather.rain_percent >= _WET_PERCENT


class Trip(Value):
    """The plan a session keeps."""

    city: Name
    days: list[TripDay]
    hotel: Hotel | None = None
    nights: int = 1
    legs: list[Leg] = []

    def ways(self, day: int) -> list[tuple[str, str]]:
        """Return what routes a day needs, as (start, end)."""
        today = self.days[day]
        first = [(self.hotel.name.en, today.morning.id)] if self.hotel else []
        return [*first, (today.morning.id, today.afternoon.id)]

    def leg(self, start: str, end: str) -> Leg | None:
        """Return a known way."""
        return next((leg for leg in self.legs if (leg.start, leg.end) == (start, end)), None)

    def used(self) -> set[str]:
        """Return the ids of all sights in the plan."""
        return {sight.id for day in self.days for sight in (day.morning, day.afternoon)}


def plan_days(sights: Sequence[Sight], weather: Sequence[Day | None]) -> list[TripDay]:
    """Return the days, best sights first: indoors when it rains, and the afternoon near the morning."""
    left = list(sights)
    days: list[TripDay] = []
    for today in weather:
        if len(left) < len(SLOTS):
            break
        wet = today is not None and today.rain_percent >= _WET_PERCENT
        chosen: list[Sight] = []
        for slot in SLOTS:
            best = _best(left, slot, wet=wet, near=chosen[0] if chosen else None)
            left.remove(best)
            chosen.append(best)
        days.append(TripDay(weather=today, morning=chosen[0], afternoon=chosen[1]))
    return days


def _best(sights: Sequence[Sight], slot: Slot, *, wet: bool, near: Sight | None) -> Sight:
    def worth(index: int) -> tuple[bool, bool, float]:
        sight = sights[index]
        away = distance_km(near, sight) if near else 0.0
        return wet and not sight.indoor, sight.best != slot, index + away

    return sights[min(range(len(sights)), key=worth)]


def replacement(
    trip: Trip, day: int, slot: Slot, sights: Sequence[Sight], interest: Interest | None
) -> Sight | None:
    """Return the sight to take instead: unused, and with more of what was asked for; None where there is none."""
    today = trip.days[day]
    present = today.sight(slot)
    unused = [sight for sight in sights if sight.id not in trip.used()]
    other = today.afternoon if slot == "morning" else today.morning
    if interest is None:
        return _best(unused, slot, wet=today.wet, near=other) if unused else None
    more = [s for s in unused if s.interests.get(interest, 0) > present.interests.get(interest, 0)]
    return min(
        more,
        key=lambda s: (
            -s.interests.get(interest, 0),
            today.wet and not s.indoor,
            s.best != slot,
            distance_km(s, other),
        ),
        default=None,
    )


def with_sight(trip: Trip, day: int, slot: Slot, sight: Sight, legs: Sequence[Leg]) -> Trip:
    """Return the trip with one sight changed and the ways around it; all else stays as it was."""
    days = list(trip.days)
    days[day] = days[day].model_copy(update={slot: sight})
    changed = trip.model_copy(update={"days": days})
    needed = {way for index in range(len(days)) for way in changed.ways(index)}
    kept = [leg for leg in trip.legs if (leg.start, leg.end) in needed]
    return changed.model_copy(update={"legs": [*kept, *legs]})


def kept_trip(session: Sequence[SessionTurn]) -> Trip | None:
    """Return the latest plan of the session, or None."""
    for turn in reversed(session):
        if (fact := turn.facts.get(FACT)) is not None:
            return _read(fact)
    return None


def _read(fact: Any) -> Trip | None:
    try:
        return Trip.model_validate(fact)
    except ValidationError:
        return None  # kept by another version of this agent
