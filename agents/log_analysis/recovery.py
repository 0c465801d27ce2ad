"""Words when the trouble of a log began and whether it is over, from its first look; pure."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.judging.causes import top_rows
from agents.log_analysis.judging.chains import when
from agents.log_analysis.judging.placing import where_of
from agents.log_analysis.judging.reasons import last_of, over
from agents.log_analysis.observed import quoted
from kernel.wording import Words


def started(overview: dict[str, Any], say: Words) -> str:
    """Return when the likeliest cause began, and which trouble was there before it; nothing where there is none."""
    rows = top_rows(overview)
    if not rows:
        return ""
    first = min(rows, key=when)["first"]
    earliest = (overview.get("trouble") or {}).get("first") or first
    time = first["time"] or say("no time")
    if (earliest["time"] or "~", earliest["line"]) >= (first["time"] or "~", first["line"]):
        text = "It began at {time}; the first line of trouble is {where}."
        return say(text, time=time, where=where_of(first))
    text = "It began at {time} ({where}); the first line of other trouble is {earlier}, at {before}."
    before = earliest["time"] or say("no time")
    head = say(text, time=time, where=where_of(first), earlier=where_of(earliest), before=before)
    return f"{head}\n\n{quoted(earliest)}"


def recovered(overview: dict[str, Any], say: Words) -> str:
    """Return whether a line says that the trouble is over, and what followed its last line."""
    rows = top_rows(overview)
    if not rows:
        return ""
    trouble = overview.get("trouble") or {}
    last = max([*map(last_of, rows), *([trouble["last"]] if trouble else [])], key=_order)
    after = _after(trouble, say) if trouble and _order(trouble["last"]) == _order(last) else ""
    if spot := over(rows, "recovered"):
        text = say("Yes: a line says so at {time} ({where}).", time=spot["time"], where=where_of(spot))
        return f"{text}\n\n{quoted(spot)}"
    if over(rows, "quiet") and after:
        text = "It stopped: the last line of the trouble came at {time} ({where})."
        return say(text, time=last["time"] or say("no time"), where=where_of(last)) + after
    if after:
        text = "No line says so: the last line of the trouble came at {time} ({where})."
        return say(text, time=last["time"] or say("no time"), where=where_of(last)) + after
    text = "No line says so: it came last at {time} (line {line}), and the log ends at {end}."
    end = (overview.get("window") or {}).get("to") or say("no time")
    return say(text, time=last["time"] or say("no time"), line=last["line"], end=end)


def _after(trouble: dict[str, Any], say: Words) -> str:
    """Return how many events followed the trouble, until when, and an ordinary one; empty where none did."""
    if not trouble["events_after"]:
        return ""
    text = " {count} events followed without it"
    parts = [say(text, count=trouble["events_after"])]
    if trouble["until"]:
        span = {"time": trouble["until"], "told": trouble.get("lasting", "")}
        parts.append(say(", until {time} ({told} later)", **span))
    if trouble["errors_after"]:
        parts.append(say("; {count} of them are other errors", count=trouble["errors_after"]))
    head = "".join(parts) + say.plain(".")
    ordinary = trouble.get("ordinary")
    return f"{head}\n\n{say('An ordinary line after it:')}\n{quoted(ordinary)}" if ordinary else head


def _order(spot: dict[str, Any]) -> tuple[str, int]:
    return (spot["time"], spot["line"])
