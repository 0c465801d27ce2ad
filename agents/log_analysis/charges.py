"""Words whether a change that a request suspects can be the cause: what came when, and that no line proves it; pure."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from agents.log_analysis.judging.causes import top_rows
from agents.log_analysis.judging.chains import when
from agents.log_analysis.judging.durations import lasting
from agents.log_analysis.judging.reasons import change_after
from agents.log_analysis.observed import quoted
from kernel.wording import Words

_CHANGE = (
    r"(?:chang\w*|deploy\w*|releas\w*|upgrad\w*|updat\w*|migrat\w*|roll-?(?:out|back)\w*|config\w*"
    r"|settings?|feature flags?|scal(?:ing|ed)\w*)"
)
_BLAME = r"(?:caus\w*|break|broke\w*|responsible|blame|lead|led|trigger\w*|reason|fault|due|because|behind)"
#: Asks whether a change is the cause, in either order of the two.
_CHARGED = re.compile(
    rf"(?i)\b(?:did|does|was|were|is|are|could|can|might|may|has|have|which|what)\b.{{0,60}}?"
    rf"\b(?:(?P<change>{_CHANGE})\b.{{0,60}}?\b{_BLAME}|{_BLAME}\b.{{0,40}}?\b(?P<after>{_CHANGE}))\b"
    r"|(?P<zh>部署|发布|上线|配置|变更|升级|迁移|扩容|缩容).{0,20}(?:导致|引起|造成|引发|原因)"
)
#: Such questions ask for a cause by the way, not whether a change is one.
_OPEN = re.compile(
    r"(?i)^\W*(?:what|which|why)\b(?!.{0,12}\b(?:change|deploy|release|config|migration|upgrade))"
)
_TOLD = 3

_Row = dict[str, Any]


def charge(request: str, overview: _Row, say: Words) -> str:
    """Return whether the change that a request suspects can be the cause; empty where it suspects none."""
    found = None if _OPEN.search(request) else _CHARGED.search(request)
    rows = top_rows(overview)
    if found is None or not rows:
        return ""
    began, changes = min(rows, key=when)["first"]["time"], _of_kind(found, overview.get("changes", []))
    if not overview.get("changes"):
        return say("Not shown: no line of the log tells of a change.")
    if not began or not all(row["time"] for row in changes):
        return "\n".join(
            [say("Not proven: lines tell of changes, but not when."), *map(quoted, changes[:_TOLD])]
        )
    earlier = [row for row in changes if row["time"] <= began]
    if not earlier:
        text = "Hardly: the trouble began at {began}, and the first change that the log tells of came later, at {time}."
        first = min(changes, key=lambda row: str(row["time"]))
        return f"{say(text, began=began, time=first['time'])}\n\n{quoted(first)}"
    last = max(earlier, key=lambda row: str(row["time"]))
    text = "Possible, not proven: a change came {told} before the trouble began; no line says that it is the cause."
    head = say(text, told=lasting(_seconds(last["time"], began)))
    later = change_after(rows, overview)
    if later:
        head += say(" Another came {told} after its last line.", told=later["told"])
    return "\n".join([head, "", quoted(last), *([quoted(later)] if later else [])])


def _of_kind(found: re.Match[str], changes: list[_Row]) -> list[_Row]:
    """Return the changes of the kind that was named, or all where no line has its word."""
    word = next(filter(None, found.groups()), "").lower()
    stem = word[:6]
    return [row for row in changes if stem in row["quote"].lower()] or changes


def _seconds(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
