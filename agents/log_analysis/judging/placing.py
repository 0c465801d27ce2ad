"""Words where lines come from (one host, most of one, all) in the requester's language; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from kernel.wording import Words

#: What `entities.concentrated` says, which is English for models and the memory.
_ONE = re.compile(
    r"(only|mostly) (.{1,200}) \((\d+) of (\d+) lines; (\w+) with (\d+%) of all lines\)(?:, in a sample of (\d+))?",
    re.DOTALL,
)
_ALL = re.compile(
    r"(\d+) of (\d+) (\w+)s; the most, (.{1,200}), has (\d+%) \((\d+%) of all lines\)(?:, in a sample of (\d+))?",
    re.DOTALL,
)
_NAMES = ("host", "service", "node", "user")


def where_of(spot: Mapping[str, Any]) -> str:
    """Return `source:line` of a row, as citations write it."""
    return f"{spot['source']}:{spot['line']}"


def placed(told: str, say: Words) -> str:
    """Return where lines come from; what is not understood (it was cut) is quoted as it is."""
    if found := _ONE.fullmatch(told):
        text = "only {entity} ({count} of {total} lines; {by} with {share} of all lines)"
        if found[1] == "mostly":
            text = "mostly {entity} ({count} of {total} lines; {by} with {share} of all lines)"
        names = {"entity": code(found[2]), "count": found[3], "total": found[4]}
        said = say(text, **names, by=_kind(found[5], say), share=found[6])
    elif found := _ALL.fullmatch(told):
        text = "{count} of {total} {by}s; the most, {entity}, has {part} ({share} of all lines)"
        names = {"count": found[1], "total": found[2], "entity": code(found[4]), "part": found[5]}
        said = say(text, **names, by=_kind(found[3], say), share=found[6])
    else:
        return code(told)
    return said + (say(", in a sample of {count}", count=found[7]) if found[7] else "")


def only(told: str, say: Words) -> str:
    """Return the one that all lines come from; nothing where they come from several, or from one service."""
    found = _ONE.fullmatch(told)
    if not found or found[1] != "only" or found[5] == "service" or found[3] != found[4] or found[7]:
        return ""
    return say(" Only {by} {entity} shows it.", by=_kind(found[5], say), entity=code(found[2]))


def code(text: str) -> str:
    """Quote log text as code, so that nothing in it is rendered."""
    return f"`{text.replace('`', chr(39))}`"


def _kind(by: str, say: Words) -> str:
    return say.plain(by) if by in _NAMES else by
