"""Templates as plain JSON and back; version 1 knew neither readings nor values, version 2 no journal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from agents.log_analysis.mining.parameters import Values
from agents.log_analysis.mining.templates import Template

VERSION = 3


def dumped(templates: Sequence[Template]) -> dict[str, Any]:
    """Return templates as plain JSON; the order is kept, for ids are places in it."""
    return {"version": VERSION, "templates": [_row(template) for template in templates]}


def _row(t: Template) -> list[Any]:
    if t.alias >= 0:  # of what was merged away only the way to its heir is needed
        return [t.group, "", t.count, t.alias, t.merged]
    shown = list(t.shown) if t.shown != t.tokens else None
    values = [[place, *kept.state()] for place, kept in t.values.items()]
    return [t.group, " ".join(t.tokens), t.count, t.alias, t.merged, shown, t.looked, t.next_look, values]


def loaded(state: dict[str, Any]) -> list[Template]:
    """Return the templates of a state of any version."""
    return [_template(*row) for row in state["templates"]]


def _template(
    group: str,
    tokens: str | list[str],
    count: int,
    alias: int,
    merged: bool,
    shown: list[str] | None = None,
    looked: int = 0,
    next_look: int = 0,
    values: Sequence[list[Any]] = (),
) -> Template:
    words = tuple(tokens.split() if isinstance(tokens, str) else tokens)
    kept = {place: Values.from_state(rest) for place, *rest in values}
    return Template(
        group,
        words,
        tuple(shown) if shown else words,
        count,
        alias,
        merged,
        looked,
        next_look or count + 1,
        kept,
    )
