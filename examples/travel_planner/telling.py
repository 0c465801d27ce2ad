"""How a trip is told, pure: in English, or in Chinese where the request is Chinese."""

from __future__ import annotations

from travel_planner.places import Interest, Name, Sight, Slot, cities
from travel_planner.trip import Leg, Trip, TripDay

_WORDS: dict[str, Name] = {
    "morning": Name(en="Morning", zh="上午"),
    "afternoon": Name(en="Afternoon", zh="下午"),
    "walk": Name(en="on foot", zh="步行"),
    "tram": Name(en="by tram", zh="乘电车"),
    "metro": Name(en="by metro", zh="乘地铁"),
    "history": Name(en="history", zh="历史"),
    "art": Name(en="art", zh="艺术"),
    "nature": Name(en="nature", zh="自然"),
    "food": Name(en="food", zh="美食"),
    "view": Name(en="view", zh="景观"),
}


class Teller:
    """Says things in one language."""

    def __init__(self, *, chinese: bool) -> None:
        self._chinese = chinese

    def name(self, name: Name) -> str:
        """Return a name in the language."""
        return name.zh if self._chinese else name.en

    def pick(self, en: str, zh: str) -> str:
        """Return one of two sentences."""
        return zh if self._chinese else en

    def trip(self, trip: Trip) -> str:
        """Return the itinerary."""
        city, count = self.name(trip.city), len(trip.days)
        lines = [self.pick(f"{city}, {count} day{'s' if count > 1 else ''}:", f"{city}{count}天行程：")]
        for index, day in enumerate(trip.days):
            lines += ["", self.pick(f"Day {index + 1}", f"第{index + 1}天") + self._weather(day)]
            ways = trip.ways(index)
            arriving = {end: trip.leg(start, end) for start, end in ways}
            for slot in ("morning", "afternoon"):
                sight = day.morning if slot == "morning" else day.afternoon
                told = self.name(_WORDS[slot])
                lines.append(f"- {told}: {self.name(sight.name)}{self._leg(arriving.get(sight.id))}")
        if trip.hotel is not None:
            total = trip.hotel.price * trip.nights
            hotel = self.name(trip.hotel.name)
            lines += [
                "",
                self.pick(
                    f"Hotel: {hotel}, {trip.nights} night{'s' if trip.nights > 1 else ''}, {total} EUR.",
                    f"酒店：{hotel}，{trip.nights}晚，共{total}欧元。",
                ),
            ]
        return "\n".join(lines)

    def _weather(self, day: TripDay) -> str:
        if day.weather is None:
            return ""
        w = day.weather
        return self.pick(
            f" ({w.sky.en}, {w.low} to {w.high} °C, rain {w.rain_percent}%)",
            f"（{w.sky.zh}，{w.low}至{w.high}°C，降雨概率{w.rain_percent}%）",
        )

    def _leg(self, leg: Leg | None) -> str:
        if leg is None:
            return ""
        how = self.name(_WORDS[leg.by]) if leg.by in _WORDS else leg.by
        return self.pick(
            f" ({how}, {leg.km} km, {leg.minutes} min)", f"（{how}，{leg.km}公里，{leg.minutes}分钟）"
        )

    def swapped(self, day: int, slot: Slot, old: Sight, new: Sight, *, guessed: bool) -> str:
        """Return what was changed, and that the day was our choice where none was named."""
        half = self.name(_WORDS[slot])
        told = self.pick(
            f"Day {day + 1}, {half.lower()}: {new.name.en} instead of {old.name.en}. The rest stays as it was.",
            f"第{day + 1}天{half}：{old.name.zh}换成{new.name.zh}，其余不变。",
        )
        hint = self.pick(" Say “day 2” to change another day.", "如要改其他天，请说明第几天。")
        return told + (hint if guessed else "")

    def none_better(self, sight: Sight, interest: Interest | None) -> str:
        """Return that nothing else fits."""
        what = self.name(_WORDS[interest]) if interest else ""
        return self.pick(
            f"No other sight has more {what} than {sight.name.en}; the plan stays as it was."
            if interest
            else f"There is no other sight to take instead of {sight.name.en}; the plan stays as it was.",
            f"没有比{sight.name.zh}更{f'有{what}感' if what else '合适'}的景点，行程不变。",
        )

    def unknown_city(self, place: str) -> str:
        """Return that a city is not known, and which are."""
        en = ", ".join(city.name.en for city in cities())
        zh = "、".join(city.name.zh for city in cities())
        if not place:
            return self.pick(
                f"No city I know is named in the request. I can plan: {en}.",
                f"请求中没有我了解的城市。我可以规划：{zh}。",
            )
        return self.pick(
            f"I know nothing about “{place}”, so there is no plan. I can plan: {en}.",
            f"我不了解“{place}”，无法规划。我可以规划：{zh}。",
        )
