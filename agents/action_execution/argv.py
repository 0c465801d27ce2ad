"""Argument vectors, pure: placeholders filled once as plain text, and what a parameter value may be."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any

from kernel.errors import Correctable

_PLACEHOLDER = re.compile(r"\{([a-z_][a-z0-9_]*(?:\.[a-z_][a-z0-9_]*)?)\}")

#: Controls (C0, C1, DEL), surrogates, line and paragraph separators: nothing that ends a line or a string.
_REFUSED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})

#: Bidirectional controls: they would show the approver another text than the child gets.
_BIDI = frozenset("\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")

#: A text, or, from the operator's inventory only, a list that becomes several elements.
Filling = str | list[str]


def placeholders(templates: Iterable[str]) -> set[str]:
    """Return the names that the templates ask for."""
    return {match[1] for text in templates for match in _PLACEHOLDER.finditer(text)}


def fill(template: str, values: Mapping[str, Filling]) -> str:
    """Return the template with each placeholder replaced once; values are never looked at again."""

    def replace(match: re.Match[str]) -> str:
        value = values[match[1]]
        return value if isinstance(value, str) else " ".join(value)

    return _PLACEHOLDER.sub(replace, template)


def fill_argv(templates: list[str], values: Mapping[str, Filling]) -> list[str]:
    """Return the argv: one element per template, but for an inventory list that stands alone in one."""
    argv: list[str] = []
    for template in templates:
        alone = _PLACEHOLDER.fullmatch(template)
        value = values[alone[1]] if alone else fill(template, values)
        argv.extend([value] if isinstance(value, str) else value)
    return argv


def plain(name: str, value: Any, schema: Mapping[str, Any]) -> str:
    """Return a parameter's value as the text of an argument; raise Correctable where it may not be one."""
    if isinstance(value, bool):
        return "true" if value else "false"
    text = value if isinstance(value, str) else str(value)
    if "enum" in schema:
        return text  # the operator's own list; the schema has checked membership
    if text.startswith("-"):
        raise _refused(name, "it starts with '-' and could be read as an option")
    if bad := next((c for c in text if is_control(c)), None):
        raise _refused(name, f"it contains the control character U+{ord(bad):04X}")
    pattern = schema.get("pattern")
    # JSON Schema searches; an argument must match as a whole
    if isinstance(pattern, str) and isinstance(value, str) and not re.fullmatch(pattern, text):
        raise _refused(name, f"it does not match {pattern} as a whole")
    return text


def is_control(character: str) -> bool:
    """Return whether a character ends lines, moves a terminal or turns the direction of a text."""
    return unicodedata.category(character) in _REFUSED_CATEGORIES or character in _BIDI


def _refused(name: str, why: str) -> Correctable:
    return Correctable(
        f"the value of {name!r} is refused", why=why, next_step="Call it again with a plain value."
    )
