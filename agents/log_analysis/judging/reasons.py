"""Words what a cause's score rests on, and what speaks against it; every number comes from what the tools answered."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from agents.log_analysis.judging.durations import lasting
from agents.log_analysis.judging.placing import code, placed, where_of
from agents.log_analysis.kinds import ERROR, KINDS
from kernel.contracts import Evidence
from kernel.wording import ENGLISH, Words

#: From this weight on a kind names what is wrong, and not what follows from it.
_ROOT = 0.95
_REASONS, _AGAINST = 6, 3
#: A change is told with the end of a cause if it came so soon (seconds) after its last line.
_SOON = 900.0

_WEIGHTS = {kind.key: kind.weight for kind in KINDS}
#: Kinds by which the one that waits or calls tells of another: they do not say what is wrong with that.
_SEEN_FROM_OUTSIDE = ("connection_refused", "connection_lost")
#: Kinds that are the end of something that grew.
_USED_UP = ("out_of_memory", "pool_exhausted", "disk_full", "too_many_open_files", "backlog")
_EXITS = {
    1: "the program ended with an error of its own",
    126: "the command may not be executed",
    127: "the command was not found",
    128: "the container could not start",
    134: "the program aborted",
    137: "killed by SIGKILL, as the kernel does where the memory limit is passed",
    139: "segmentation fault",
    143: "stopped by SIGTERM",
}

_Row = dict[str, Any]


def reasons_of(rows: Sequence[_Row], overview: _Row, change: _Row | None, say: Words = ENGLISH) -> list[str]:
    """Return short sentences on what speaks for a cause, the strongest first."""
    top = rows[0]
    found = [*_measured(top, say), *_grown(top, say), *_state(top, say)]
    if top["kind"] in _USED_UP:
        found += [text for row in overview.get("problems", []) for text in _grown(row, say)][:1]
    if top.get("earliest"):
        found.append(say("it is the earliest error of the log, at {time}", time=top["first"]["time"]))
    found += _rise(top, say)
    if change is not None:
        where = f"{change['source']}:{change['line']}"
        found.append(
            say("a change came shortly before, at {time} ({where})", time=change["time"], where=where)
        )
    found += _foreshadowed(overview, change, say)
    if names := sorted({n for row in rows for n in row.get("blamed_by", [])}):
        found.append(say("others name it as failing: {names}", names=", ".join(map(code, names))))
    if top.get("where"):
        found.append(say("it comes from {where}", where=placed(top["where"], say)))
    if trace := _trace(rows, overview):
        where = f"{trace['source']}:{trace['line']}"
        text = "{count} stack traces of {exception} lead to {frame} ({where})"
        if trace.get("at_least"):
            text = "at least {count} stack traces of {exception} lead to {frame} ({where})"
        found.append(
            say(
                text,
                count=trace["count"],
                exception=code(trace["exception"]),
                frame=code(trace["frame"]),
                where=where,
            )
        )
    if _WEIGHTS.get(top["kind"], 0.0) >= _ROOT and top["kind"] not in (ERROR.key, *_SEEN_FROM_OUTSIDE):
        found.append(say("it names what is wrong itself, not what follows from it"))
    return found[:_REASONS]


def doubts_of(rows: Sequence[_Row], say: Words = ENGLISH) -> list[str]:
    """Return short sentences on what speaks against a cause."""
    top = rows[0]
    found = []
    if all(row.get("chronic") for row in rows):
        found.append(say("it is there all the time, so it is hardly what changed"))
    if names := sorted({row["blames"] for row in rows if row.get("blames")}):
        found.append(say("it names another service as failing: {names}", names=", ".join(map(code, names))))
    found += [say.plain(doubt) for doubt in top.get("doubts", [])]
    if spot := top.get("before"):
        text = "it was there before the window asked about, at {time} already ({where})"
        found.append(say(text, time=spot["time"], where=where_of(spot)))
    return found


def after_of(rows: Sequence[_Row], overview: _Row, say: Words = ENGLISH) -> list[str]:
    """Return short sentences on what came after a cause: that it was over, and a change made soon after it."""
    found = []
    if spot := over(rows, "recovered"):
        found.append(
            say("a line says that it was over at {time} ({where})", time=spot["time"], where=where_of(spot))
        )
    if quiet := over(rows, "quiet"):
        text = "nothing of the trouble in the last {told} of the log, in which other lines went on ({where})"
        found.append(say(text, told=quiet["told"], where=where_of(quiet)))
    if change := change_after(rows, overview):
        text = "a change came {told} after its last line, at {time} ({where})"
        found.append(say(text, told=change["told"], time=change["time"], where=where_of(change)))
    return found


def change_after(rows: Sequence[_Row], overview: _Row) -> _Row:
    """Return the first change soon after the last line of a cause, with how long after: it may have ended it."""
    end = max((last_of(row)["time"] for row in rows), default="")
    after = [row for row in overview.get("changes", []) if end and row["time"] > end]
    first = min(after, key=lambda row: str(row["time"]), default=None)
    if first is None or (passed := _seconds(end, first["time"])) > _SOON:
        return {}
    return {**first, "told": lasting(passed)}


def against_of(rows: Sequence[_Row]) -> list[Evidence]:
    """Return the lines that speak against a cause: it was there from the start, or before the window."""
    top = rows[0]
    spots = [top["before"]] if top.get("before") else []
    if all(row.get("chronic") for row in rows):
        spots.insert(0, top["first"])
    return evidence(spots)[:_AGAINST]


def over(rows: Sequence[_Row], name: str) -> _Row:
    """Return what says that a cause is over (`recovered` or `quiet`), where no other line of it came later."""
    spot: _Row = rows[0].get(name) or {}
    return spot if spot and all(last_of(row)["time"] <= spot["time"] for row in rows) else {}


def last_of(row: _Row) -> _Row:
    """Return where a row was last seen."""
    spot: _Row = row.get("last") or row["first"]
    return spot


def evidence(spots: Iterable[_Row]) -> list[Evidence]:
    """Return lines to cite, each once, without blank ones."""
    seen: dict[tuple[str, int], Evidence] = {}
    for spot in spots:
        place = (spot["source"], spot["line"])
        if place not in seen and spot.get("quote", "").strip():
            seen[place] = Evidence(source=spot["source"], line=spot["line"], quote=spot["quote"])
    return list(seen.values())


def _seconds(first: str, last: str) -> float:
    return (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()


def _measured(row: _Row, say: Words) -> list[str]:
    timing = row.get("timing")
    if not timing:
        return []
    text = "it took {low} to {high}, {median} in the middle, measured {measured} times"
    found = [say(text, **{n: timing[n] for n in ("low", "high", "median", "measured")})]
    if timing.get("rose"):
        found.insert(
            0,
            say(
                "it took {early} at first and {late} from {rose} on",
                **{n: timing[n] for n in ("early", "late", "rose")},
            ),
        )
    if timing.get("until"):
        found.append(say("measured from this line to the next of {until}", until=code(timing["until"])))
    return found


def _grown(row: _Row, say: Words) -> list[str]:
    growth = row.get("growth")
    if not growth:
        return []
    text = "{name} grew from {early:g} to {late:g}, measured {measured} times, and to the end"
    return [say(text, **{**growth, "name": code(growth["name"])})]


def _state(row: _Row, say: Words) -> list[str]:
    found = []
    if names := row.get("typo"):
        text = "{said} is no known command: it may be a typing error, and {meant} may be meant"
        found.append(say(text, said=code(names["said"]), meant=code(names["meant"])))
    if number := row.get("exit_code"):
        meaning = _EXITS.get(number)
        found += (
            [say("exit code {code}: {meaning}", code=number, meaning=say.plain(meaning))] if meaning else []
        )
    return found


def _rise(row: _Row, say: Words) -> list[str]:
    rise = row.get("rise")
    if not rise:
        return []
    if rise["direction"] == "up" and row["first"]["time"] < rise["time"]:
        return [say("it rose {fold}-fold at {time}", fold=rise["fold"], time=rise["time"])]
    if rise["direction"] == "burst":
        return [say("it came in a burst at {time}", time=rise["time"])]
    if row["first"]["time"] < rise["time"]:
        return [say("it came much more often from {time} on", time=rise["time"])]
    return [say("it began at {time} and was not there before", time=row["first"]["time"])]


def _foreshadowed(overview: _Row, change: _Row | None, say: Words) -> list[str]:
    told, found = where_of(change) if change else "", []
    for row in overview.get("before", []):
        values = {"message": code(row["message"]), "time": row["time"], "where": where_of(row)}
        text = "shortly before came a line that the log hardly ever has: {message}, at {time} ({where})"
        if last := row.get("last"):
            values |= {"count": row["count"], "last": code(last["quote"]), "until": where_of(last)}
            text = "shortly before it was warned {count} times: {message}, at {time} ({where}); last: {last} ({until})"
        found += [say(text, **values)] if where_of(row) != told else []
    return found


def _trace(rows: Sequence[_Row], overview: _Row) -> _Row | None:
    numbers = {row["id"] for row in rows}
    return next((t for t in overview.get("traces", []) if numbers & set(t["templates"])), None)
