"""Reads the lines round one line, within the budget of an answer: what is farthest from it gives way first."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.formats.text import cut
from agents.log_analysis.reading import Reading, fit
from kernel.errors import Correctable

#: Lines on either side at most, and the width of one.
LINES = 40
_WIDTH = 400


def context_of(reading: Reading, file: int, line: int, before: int, after: int) -> dict[str, Any]:
    """Return the lines round a line; `earlier` and `later` are the lines to ask for next, where there are more."""
    body = reading.scan.body(file)
    if not 1 <= line <= body.lines:
        raise Correctable(
            f"{reading.name(file)!r} has no line {line}",
            why=f"it has lines 1 to {body.lines}",
            next_step="Pass a line that exists.",
        )
    first, last = max(1, line - min(max(before, 0), LINES)), line + min(max(after, 0), LINES)
    texts = dict(enumerate(body.read(first, last), first))
    # nearest first: fit drops from the end
    near = sorted(texts, key=lambda n: (abs(n - line), n))
    rows = [{"line": n, "quote": cut(reading.redactor.text(texts[n]), _WIDTH)} for n in near]
    answer: dict[str, Any] = {
        "source": reading.name(file),
        "asked": line,
        "last_line": body.lines,
        "lines": rows,
    }
    fit(answer, "lines")
    shown = answer["lines"] = sorted(answer["lines"], key=lambda row: int(row["line"]))
    if shown[0]["line"] > first:
        answer["earlier"] = shown[0]["line"] - 1
    if shown[-1]["line"] < min(last, body.lines):
        answer["later"] = shown[-1]["line"] + 1
    return answer
