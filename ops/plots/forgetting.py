"""Draws how memories fade, and tables what 90 nights leave: run it, and it writes docs/forgetting.svg and .md."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from html import escape
from pathlib import Path

from memory_service.domain import HALF_LIFE_DAYS, Kind, Status
from memory_service.forgetting.fading import ARCHIVE, DAY, HOT, REINFORCEMENT, Fading, stage, strength

DOCS = Path(__file__).parents[2] / "docs"
NIGHTS = 90
#: Nights after which the table looks.
LOOKS = (7, 30, 60, 90)
#: The table stands between these lines of the page.
BEGIN, END = "<!-- table: ops/plots/forgetting.py -->", "<!-- end of table -->"


@dataclass(frozen=True)
class Life:
    """A memory of the story: how it is told on day 0, when it is cited, when it expires."""

    name: str
    kind: Kind
    importance: float
    colour: str
    emotion: float = 0.0
    cited: Sequence[int] = ()
    expires: int | None = None
    dashed: bool = False

    def at(self, day: float) -> Fading:
        """Return what strength depends on after the citations up to a day."""
        fading = Fading(
            importance=self.importance,
            weight=1,
            emotion=self.emotion,
            access_count=0,
            half_life=HALF_LIFE_DAYS[self.kind] * DAY,
            last_access=0.0,
            expires=self.expires * DAY if self.expires is not None else None,
        )
        for cited in (one for one in self.cited if one <= day):
            fading = replace(
                fading,
                importance=fading.importance + REINFORCEMENT * (1 - fading.importance),
                access_count=fading.access_count + 1,
                last_access=cited * DAY,
            )
        return fading


#: One of each kind, and what use, emotion, expiry and unimportance do.
STORY = (
    Life("preference", "preference", 0.8, "#7b3294"),
    Life("procedure (a verified remedy)", "procedure", 0.8, "#1b7837"),
    Life("fact", "fact", 0.7, "#08519c"),
    Life("fact of little importance", "fact", 0.4, "#3182bd"),
    Life("fact that expires on day 14", "fact", 0.7, "#333333", expires=14),
    Life("summary", "summary", 0.6, "#b8860b"),
    Life("episode", "episode", 0.6, "#d6404d"),
    Life("episode that upset somebody", "episode", 0.6, "#e08214", emotion=1.0),
    Life("episode, cited on days 20, 40 and 60", "episode", 0.6, "#b2182b", cited=(20, 40, 60), dashed=True),
)


def standing(life: Life, night: int) -> str:
    """Return where a memory stands after a number of nights: hot, cold, archived or deleted."""
    past = [stage(life.at(day), day * DAY) for day in range(night + 1)]
    left = next((day for day, now in enumerate(past) if now.status is not Status.active), None)
    if left is None:
        return past[-1].tier
    deleted = past[left].tier == "deleted" or night * DAY >= past[left].next_at
    return "deleted" if deleted else "archived"


def table() -> str:
    """Return what is left after some nights, as Markdown."""
    head = (
        "| told on day 0, importance | half-life | " + " | ".join(f"after {n} nights" for n in LOOKS) + " |"
    )
    rows = [head, "|" + "---|" * (len(LOOKS) + 2)]
    for life in STORY:
        where = [f"{standing(life, night)}{_strength(life, night)}" for night in LOOKS]
        rows.append(
            f"| {life.name}, {life.importance} | {HALF_LIFE_DAYS[life.kind]} days | "
            + " | ".join(where)
            + " |"
        )
    return "\n".join(rows)


def _strength(life: Life, night: int) -> str:
    return "" if standing(life, night) == "deleted" else f" ({strength(life.at(night), night * DAY):.2f})"


#: The picture, in pixels: its size, and the margins around the plot; the right one holds the names.
_WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 1040, 520, 60, 300, 50, 60
_TITLE = f"Strength of memories over {NIGHTS} days (faint: archived; dot: deleted)"
#: Least distance of two names.
_APART = 17
_STEPS_A_DAY = 4


def svg() -> str:
    """Return the strengths over 90 days as a picture."""
    size = f'viewBox="0 0 {_WIDTH} {_HEIGHT}" width="{_WIDTH}" height="{_HEIGHT}"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} font-family="sans-serif" font-size="13">',
        f'<rect width="{_WIDTH}" height="{_HEIGHT}" fill="#ffffff"/>',
        f'<text x="{_LEFT}" y="28" font-size="17" fill="#222222">{escape(_TITLE)}</text>',
        *_axes(),
        *(_curve(life) for life in STORY),
        *_thresholds(),
        *_names(),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _x(day: float) -> float:
    return round(_LEFT + (_WIDTH - _LEFT - _RIGHT) * day / NIGHTS, 1)


def _y(value: float) -> float:
    return round(_HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value, 1)


def _axes() -> list[str]:
    parts = []
    for tenth in range(0, 11, 2):
        y = _y(tenth / 10)
        parts.append(f'<line x1="{_LEFT}" y1="{y}" x2="{_x(NIGHTS)}" y2="{y}" stroke="#e4e4e4"/>')
        parts.append(
            f'<text x="{_LEFT - 8}" y="{y + 4}" text-anchor="end" fill="#444444">{tenth / 10:.1f}</text>'
        )
    parts += [
        f'<text x="{_x(day)}" y="{_y(0) + 20}" text-anchor="middle" fill="#444444">{day}</text>'
        for day in range(0, NIGHTS + 1, 10)
    ]
    middle = (_LEFT + _x(NIGHTS)) / 2
    told = f'x="{middle}" y="{_HEIGHT - 14}" text-anchor="middle" fill="#222222"'
    return [*parts, f"<text {told}>days since told</text>"]


def _thresholds() -> list[str]:
    parts = []
    for value, name in ((HOT, "hot above, cold below"), (ARCHIVE, "archived below")):
        ends = f'x1="{_LEFT}" y1="{_y(value)}" x2="{_x(NIGHTS)}" y2="{_y(value)}"'
        parts.append(f'<line {ends} stroke="#555555" stroke-dasharray="3 4"/>')
        parts.append(_text(_LEFT + 6, _y(value) - 5, f"{value} {name}", "#555555"))
    return parts


def _text(x: float, y: float, told: str, colour: str) -> str:
    """Return words with a white edge, so that a curve behind them does not cross them out."""
    edge = 'stroke="#ffffff" stroke-width="4" paint-order="stroke"'
    return f'<text x="{x:.1f}" y="{y:.1f}" fill="{colour}" {edge}>{escape(told)}</text>'


def _curve(life: Life) -> str:
    days = [step / _STEPS_A_DAY for step in range(NIGHTS * _STEPS_A_DAY + 1)]
    last = next((day for day in days if standing(life, math.floor(day)) == "deleted"), float(NIGHTS))
    left = next((day for day in days if standing(life, math.floor(day)) == "archived"), last)
    points = []
    for day in (day for day in days if day <= last):
        if day in life.cited:  # it falls until it is cited, and rises at once
            points.append((day, strength(life.at(day - 1 / DAY), day * DAY)))
        points.append((day, strength(life.at(day), day * DAY)))
    bright = _line(life, [point for point in points if point[0] <= left], 1.0)
    faint = _line(life, [point for point in points if point[0] >= left], 0.35)
    return bright + (faint if left < last else "") + (_end(life, *points[-1]) if last < NIGHTS else "")


def _line(life: Life, points: list[tuple[float, float]], opacity: float) -> str:
    told = " ".join(f"{_x(day)},{_y(value)}" for day, value in points)
    dash = ' stroke-dasharray="7 3"' if life.dashed else ""
    look = f'fill="none" stroke="{life.colour}" stroke-width="2.2" stroke-opacity="{opacity}"{dash}'
    return f'<polyline points="{told}" {look}/>'


def _end(life: Life, day: float, value: float) -> str:
    dot = f'<circle cx="{_x(day)}" cy="{_y(value)}" r="4" fill="{life.colour}"/>'
    return dot + _text(_x(day) + 8, _y(value) - 26, life.name, life.colour)


def _names() -> list[str]:
    """Return the names beside the ends of the curves, moved apart where they would touch."""
    staying = [life for life in STORY if standing(life, NIGHTS) != "deleted"]
    ends = sorted((-strength(life.at(NIGHTS), NIGHTS * DAY), number) for number, life in enumerate(staying))
    parts, above = [], 0.0
    for value, number in ends:
        life = staying[number]
        y = max(_y(-value) + 4, above + _APART)
        above = y
        ends_at = f'x1="{_x(NIGHTS)}" y1="{_y(-value)}" x2="{_x(NIGHTS) + 16}" y2="{y - 4:.1f}"'
        parts.append(f'<line {ends_at} stroke="{life.colour}" stroke-width="0.8"/>')
        parts.append(_text(_x(NIGHTS) + 20, y, life.name, life.colour))
    return parts


def page(text: str) -> str:
    """Return the page with its table as it is now."""
    before, rest = text.split(BEGIN, 1)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{rest.split(END, 1)[1]}"


def main() -> None:
    """Write the picture, and the table into its page."""
    (DOCS / "forgetting.svg").write_text(svg(), encoding="utf-8")
    told = DOCS / "forgetting.md"
    told.write_text(page(told.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
