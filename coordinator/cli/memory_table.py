"""Memories as a table that can be read at 80 columns: what has no room for a column stands below the text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from coordinator.cli.memory_asking import ID_LEAST

if TYPE_CHECKING:
    from rich.table import Table

#: With fewer columns the age stands below the text.
_WIDE = 110
#: The parts of a score in the order in which they are weighed; others (archived) come behind them.
_PARTS = ("similarity", "keywords", "importance", "recency")


def table(hits: list[dict[str, Any]], width: int) -> Table:
    """Return memories as a table of so many columns; ids are cut as every command takes them."""
    from rich.text import Text

    explained = any(hit.get("explain") for hit in hits)
    owned = any(hit.get("user") for hit in hits)
    wide = width >= _WIDE
    shown = plain("id", "kind", *_told(explained, "sure"), *_told(owned, "user"), *_told(wide, "age"), "text")
    for hit in hits:
        told = Text(str(hit.get("text", "")))
        told.append("".join(f"\n{line}" for line in details(hit, "" if wide else _age(hit))), style="dim")
        cells = (
            short(hit.get("id")),
            str(hit.get("kind", "")),
            *_told(explained, how_sure(hit)),
            *_told(owned, str(hit.get("user", ""))),
            *_told(wide, _age(hit)),
        )
        shown.add_row(*map(Text, cells), told)
    return shown


def standing(hit: dict[str, Any]) -> bool:
    """Return whether a hit is a preference that was served because it always holds, not for what was asked."""
    explain = hit.get("explain") or {}
    asked = explain.get("similarity", 0.0) or explain.get("keywords", 0.0)
    return hit.get("kind") == "preference" and "similarity" in explain and not asked


def plain(*titles: str) -> Table:
    """Return an empty table with little space between its columns; the last alone gives way, and folds."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    made = Table(box=SIMPLE_HEAD, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0))
    for title in titles[:-1]:
        made.add_column(title, no_wrap=True)
    made.add_column(titles[-1], overflow="fold")
    return made


def short(memory: object) -> str:
    """Return the beginning of an id that every command takes for the whole."""
    return str(memory or "")[:ID_LEAST]


def details(hit: dict[str, Any], age: str = "") -> list[str]:
    """Return what stands below a text: whether it still holds, its age and source, and why it was recalled."""
    from coordinator.cli.memory_notes import local

    until, status = hit.get("valid_to"), hit.get("status", "active")
    over = [*_told(bool(until), f"until {local(until)}"), *_told(status != "active", str(status))]
    source = f"from {hit['source']}" if hit.get("source") else ""
    told = ", ".join(part for part in (*over, source, age) if part)
    return [line for line in (told, why_recalled(hit.get("explain") or {})) if line]


def how_sure(hit: dict[str, Any]) -> str:
    """Return the tier and score of a hit, and whether it is certified: nothing better can have been missed."""
    score = hit.get("score")
    said = str(hit.get("tier", "")) + ("" if score is None else f" {score:.2f}")
    return f"{said}\ncertified" if hit.get("certified") else said


def why_recalled(explain: dict[str, float]) -> str:
    """Return the parts of a score in a line, always in the same order."""
    names = [*(name for name in _PARTS if name in explain), *sorted(set(explain) - set(_PARTS))]
    return ", ".join(f"{name} {explain[name]:.2f}" for name in names)


def _age(hit: dict[str, Any]) -> str:
    from coordinator.cli.wording import age

    days = hit.get("age_days")
    return "" if days is None else age(days)


def _told(wanted: bool, text: str) -> list[str]:
    return [text] if wanted else []
