"""The travel planner's routine, pure: gather side by side, plan, ask for the ways, tell; or change one sight."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from travel_planner.places import Day, Hotel, Interest, Sight, Slot
from travel_planner.telling import Teller
from travel_planner.trip import FACT, SLOTS, Leg, Trip, kept_trip, plan_days, replacement, with_sight
from travel_planner.wishes import DEFAULT_DAYS, MOST_DAYS, Wish, read_wish

from agents.runtime.spec import CallRequest, DoneCall, Turn, TurnView
from kernel.contracts import NotDone, Outcome
from kernel.states import CallState


def routine(view: TurnView) -> Turn:
    """Return the next turn."""
    kept = kept_trip(view.work.session)
    # a sight that is to go says nothing about what is wanted: its name may hold a city or an interest
    wish = read_wish(_without_sights(view.work.request, kept))
    tell = Teller(chinese=wish.chinese)
    same_city = kept is not None and (wish.city is None or (wish.city.name == kept.city and not wish.days))
    if wish.change and kept is not None and same_city:
        return _change(view, wish, kept, tell)
    if wish.city is not None:
        return _plan(view, wish, wish.city.name.en, tell)
    if kept is not None and not wish.place:
        if wish.days is not None or wish.interest is not None:
            days = wish.days or len(kept.days)
            return _plan(view, wish.model_copy(update={"days": days}), kept.city.en, tell)
        said = tell.pick("Say what to change, for instance:", "请说明要改什么，例如：")
        example = tell.pick("“swap the morning sight of day 2”.", "“把第二天上午的景点换掉”。")
        return _ended(view, f"{said} {example}\n\n{tell.trip(kept)}", kept)
    text = tell.unknown_city(wish.place)
    unknown = NotDone(what="a travel plan", why=f"{wish.place or 'no city'}: not known")
    ended = _ended(view, text, kept, unknown)
    assert ended.outcome is not None
    return ended.model_copy(update={"outcome": ended.outcome.model_copy(update={"achieved": False})})


def _without_sights(text: str, trip: Trip | None) -> str:
    names = [name for day in trip.days for slot in SLOTS for name in day.sight(slot).name] if trip else []
    return (
        re.sub("|".join(re.escape(name) for _, name in names), " ", text, flags=re.IGNORECASE)
        if names
        else text
    )


def _plan(view: TurnView, wish: Wish, city: str, tell: Teller) -> Turn:
    wanted = wish.days or DEFAULT_DAYS
    days = min(max(wanted, 1), MOST_DAYS)
    nights = max(1, days - 1)
    if not view.calls():
        interest = {"interest": wish.interest} if wish.interest else {}
        calls = [
            CallRequest(tool="get_weather", arguments={"city": city, "days": days}),
            CallRequest(tool="get_attractions", arguments={"city": city, **interest}),
            CallRequest(tool="get_hotels", arguments={"city": city, "nights": nights}),
        ]
        if (turn := _asking(view, tell.pick(f"Looking at {city}.", f"正在了解{city}。"), calls)) is not None:
            return turn
    trip = _gathered(view, wish, days, nights)
    if trip is None:
        text = tell.pick(
            f"No plan for {city}: its sights could not be read.", f"无法规划{city}：读取景点失败。"
        )
        return _ended(view, text, None, partial=True)
    ways = [way for index in range(len(trip.days)) for way in trip.ways(index)]
    if not view.calls("get_route") and (turn := _routes(view, city, ways, tell)) is not None:
        return turn
    trip = trip.model_copy(update={"legs": _legs(view)})
    notes = []
    if wanted > MOST_DAYS:
        notes.append(NotDone(what=f"{wanted} days", why=f"the weather is known for {MOST_DAYS} days only"))
    return _ended(view, tell.trip(trip), trip, *notes)


def _gathered(view: TurnView, wish: Wish, days: int, nights: int) -> Trip | None:
    """Return the trip that the first calls make possible, without its ways; None where sights are missing."""
    sights = [Sight.model_validate(item) for item in _value(view, "get_attractions", "attractions")]
    weather: list[Day | None] = [Day.model_validate(item) for item in _value(view, "get_weather", "days")]
    weather += [None] * (days - len(weather))
    hotels = _value(view, "get_hotels", "hotels")
    planned = plan_days(sights, weather)
    if not planned:
        return None
    city = wish.city
    kept = kept_trip(view.work.session)
    name = city.name if city is not None else kept.city if kept is not None else None
    assert name is not None
    fields = Hotel.model_fields
    hotel = Hotel(**{key: value for key, value in hotels[0].items() if key in fields}) if hotels else None
    return Trip(city=name, days=planned, hotel=hotel, nights=nights)


def _change(view: TurnView, wish: Wish, trip: Trip, tell: Teller) -> Turn:
    """Change one sight of the session's plan: one look for sights, then only the ways around the new one."""
    found = _which(view.work.request, wish, trip)
    if found is None:
        text = tell.pick(
            f"The plan has {len(trip.days)} days, each with a morning and an afternoon: say which to change.",
            f"行程共{len(trip.days)}天，每天分上午和下午：请说明要改哪一个。",
        )
        return _ended(view, f"{text}\n\n{tell.trip(trip)}", trip)
    day, slot, guessed = found
    old = trip.days[day].sight(slot)
    if not view.calls():
        interest = {"interest": wish.interest} if wish.interest else {}
        call = CallRequest(tool="get_attractions", arguments={"city": trip.city.en, **interest})
        note = tell.pick(
            f"Looking for another sight than {old.name.en}.", f"正在寻找{old.name.zh}以外的景点。"
        )
        if (turn := _asking(view, note, [call])) is not None:
            return turn
    sights = [Sight.model_validate(item) for item in _value(view, "get_attractions", "attractions")]
    if not sights:
        text = tell.pick(
            "The sights could not be read; the plan stays as it was.", "读取景点失败，行程不变。"
        )
        return _ended(view, text, trip, partial=True)
    return _swap(view, trip, day, slot, sights, wish.interest, tell, guessed=guessed)


def _swap(
    view: TurnView,
    trip: Trip,
    day: int,
    slot: Slot,
    sights: Sequence[Sight],
    interest: Interest | None,
    tell: Teller,
    *,
    guessed: bool,
) -> Turn:
    old = trip.days[day].sight(slot)
    new = replacement(trip, day, slot, sights, interest)
    if new is None:
        return _ended(view, f"{tell.none_better(old, interest)}\n\n{tell.trip(trip)}", trip)
    changed = with_sight(trip, day, slot, new, [])
    ways = [way for way in changed.ways(day) if new.id in way]
    if not view.calls("get_route") and (turn := _routes(view, trip.city.en, ways, tell)) is not None:
        return turn
    changed = with_sight(trip, day, slot, new, _legs(view))
    said = tell.swapped(day, slot, old, new, guessed=guessed and len(trip.days) > 1)
    return _ended(view, f"{said}\n\n{tell.trip(changed)}", changed)


def _which(text: str, wish: Wish, trip: Trip) -> tuple[int, Slot, bool] | None:
    """Return (day, slot, whether the day was our guess): by a sight's name, else by the words for it."""
    for index, day in enumerate(trip.days):
        for slot in SLOTS:
            name = day.sight(slot).name
            if name.en.casefold() in text.casefold() or name.zh in text:
                return index, slot, False
    if wish.slot is None:
        return None
    number = wish.which_day
    if number is None:
        return 0, wish.slot, True
    index = len(trip.days) - 1 if number == -1 else number - 1
    return (index, wish.slot, False) if 0 <= index < len(trip.days) else None


def _routes(view: TurnView, city: str, ways: Sequence[tuple[str, str]], tell: Teller) -> Turn | None:
    calls = [
        CallRequest(tool="get_route", arguments={"city": city, "start": start, "end": end})
        for start, end in ways
    ]
    return _asking(view, tell.pick("Asking for the ways between them.", "正在查询路线。"), calls)


def _asking(view: TurnView, text: str, calls: Sequence[CallRequest]) -> Turn | None:
    """Return a turn with the calls whose tools there are, or None where there is none."""
    possible = [call for call in calls if call.tool in view.tools]
    return Turn(text=text, calls=possible) if possible else None


def _value(view: TurnView, tool: str, field: str) -> list[dict[str, Any]]:
    """Return the list that a tool's last good call gave, or an empty one."""
    good = [c.value for c in view.calls(tool) if c.state is CallState.done and isinstance(c.value, dict)]
    return list(good[-1].get(field, [])) if good else []


def _legs(view: TurnView) -> list[Leg]:
    return [Leg.model_validate(c.value) for c in view.calls("get_route") if c.state is CallState.done]


def _ended(view: TurnView, answer: str, trip: Trip | None, *notes: NotDone, partial: bool = False) -> Turn:
    """Return the last turn; the session keeps the plan, changed or not, for the turns that follow."""
    missing = [_missing(call) for call in view.calls() if call.state is not CallState.done]
    facts = {FACT: trip.model_dump(mode="json")} if trip is not None else {}
    outcome = Outcome(answer=answer, facts=facts, not_done=[*notes, *missing], partial=partial)
    return Turn(outcome=outcome)


def _missing(call: DoneCall) -> NotDone:
    what = " ".join([call.tool, *(str(value) for value in call.arguments.values())])
    return NotDone(what=what[:200], why=(call.error or {}).get("message", call.state.value))
