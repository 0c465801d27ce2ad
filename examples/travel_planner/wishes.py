"""What a request asks for, pure: a city, days and an interest, or a change to the plan there is."""

from __future__ import annotations

import re

from travel_planner.places import City, Interest, Slot, find_city

from kernel.contracts import Value

#: places.json knows the weather of three days.
MOST_DAYS = 3
DEFAULT_DAYS = 2

_NUMBERS = {"one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "a": 1}
_NUMBERS |= {"一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7}
_NUMBER = r"\d{1,2}|" + "|".join(_NUMBERS)
_DAYS = re.compile(rf"(?i)\b({_NUMBER})[\s-]*days?\b|({_NUMBER})\s*[天日](?!志)")
_WHICH_DAY = re.compile(
    rf"(?i)\bday\s*({_NUMBER})\b|\b(first|second|third|last)\s+day\b|第\s*({_NUMBER})\s*[天日]|(最后)一[天日]"
)
_ORDER = {"first": 1, "second": 2, "third": 3, "last": -1, "最后": -1}
_CHANGE = re.compile(r"(?i)\b(?:swap|replace|change|exchange|instead|rather)\b|换|改成|替换|不想去")
_SLOTS: tuple[tuple[Slot, str], ...] = (
    ("morning", r"(?i)\bmornings?\b|上午|早上"),
    ("afternoon", r"(?i)\bafternoons?\b|下午"),
)
_INTERESTS: tuple[tuple[Interest, str], ...] = (
    ("history", r"(?i)\bhistor|\bancient\b|历史|古迹"),
    ("art", r"(?i)\barts?\b|\bmuseum|\bpainting|艺术|博物馆|美术"),
    ("nature", r"(?i)\bnature\b|\bgardens?\b|\bparks?\b|\banimals?\b|自然|风景|动物"),
    ("food", r"(?i)\bfood\b|\beat|\bmarket|美食|小吃|吃"),
    ("view", r"(?i)\bviews?\b|\bviewpoint|\bpanorama|观景|夜景"),
)
_PLACE = re.compile(
    r"(?i)\b(?:days?|weekend|trip|itinerary|stay|visit)\b[^.?!]{0,20}?\b(?:in|to|around)\s+([^\W\d][\w'’ -]{1,40})"
    r"|(?:去|到|在)([\u4e00-\u9fff]{2,6}?)(?:玩|旅|游|的|过|[\d一两二三四五六七]|$)"
    r"|[天日]的?([\u4e00-\u9fff]{2,6}?)(?:行程|之旅|游|旅)"
)
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


class Wish(Value):
    """What was asked; `place` is a name that stands where a city would, known or not."""

    chinese: bool = False
    city: City | None = None
    place: str = ""
    days: int | None = None
    interest: Interest | None = None
    change: bool = False
    slot: Slot | None = None
    #: Counts from 1; -1 is the last day; None where no day is named.
    which_day: int | None = None


def read_wish(text: str) -> Wish:
    """Return what a request asks for."""
    change = _CHANGE.search(text) is not None
    which = _WHICH_DAY.search(text)
    days = None if which else _DAYS.search(text)
    place = None if change else _PLACE.search(text)
    return Wish(
        chinese=_CHINESE.search(text) is not None,
        city=find_city(text),
        place=next((part.strip() for part in place.groups() if part), "") if place else "",
        days=_number(days) if days else None,
        interest=next((name for name, pattern in _INTERESTS if re.search(pattern, text)), None),
        change=change,
        slot=next((name for name, pattern in _SLOTS if re.search(pattern, text)), None),
        which_day=_number(which) if which else None,
    )


def _number(found: re.Match[str]) -> int:
    word = next(part for part in found.groups() if part).casefold()
    return int(word) if word.isdigit() else (_NUMBERS | _ORDER)[word]
