"""Words how often lines came: a mean where the window allows one, the peak by the unit asked for; pure."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.judging.durations import lasting
from kernel.wording import Words

#: Rows of a count over time.
_ROWS = 24

#: What a rate is told per.
_PER = {"1h": "hour", "1d": "day"}
_SECONDS = {"minute": 60.0, "hour": 3600.0, "day": 86_400.0}


def rate(found: dict[str, Any], bucket: str, what: str, say: Words) -> str:
    """Return what a histogram of `what` says; a window shorter than the unit has no rate."""
    unit = _PER.get(bucket, "minute")
    mean, peak = found.get(f"per_{unit}"), found["peaks"].get(unit)
    if mean is None or peak is None:  # too short, or none of the lines has a time
        text = "{total} {what}: all within {told}, too short for a rate per {unit}."
        told = lasting(found["window_seconds"])
        text = text if mean is None else "{total} {what}: without times."
        head = say(text, total=found["total"], what=what, told=told, unit=say(unit))
    else:
        text = "{total} {what}: {rate} per {unit} on average; most from {time} on: {count} in {width}."
        values = {"total": found["total"], "rate": mean, "time": peak["from"][0], "count": peak["count"]}
        head = say(text, **values, what=what, unit=say(unit), width=lasting(_SECONDS[unit]))
        head += say(" As many again from {times} on.", times=_times(peak)) if peak["times"] > 1 else ""
    rows = [f"- {row['from']}  {row['count']}" for row in found["buckets"][:_ROWS]]
    more = len(found["buckets"]) - len(rows)
    rows += [say("- and {count} more", count=more)] if more > 0 else []
    label = say("In parts of {width}:", width=lasting(found["bucket_seconds"]))
    return "\n\n".join([head, f"`{found['sparkline']}`", "\n".join([label, *rows])])


def _times(peak: dict[str, Any]) -> str:
    told: list[str] = peak["from"][1:]
    return ", ".join([*told, *(["…"] if peak["times"] > len(peak["from"]) else [])])
