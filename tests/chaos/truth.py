"""The desk's word against the world's, pure: duplicates, broken words, and why a call is unknown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from kernel.states import AssignmentState, CallState
from tests.chaos.evidence import Evidence, Row

#: The world drops a repeat of these, or a repeat sets the same again; of all others a second one is a second effect.
_HARMLESS = frozenset({"keyed", "hook", "idempotent", "read", "alive"})
_SENT = {"sent": "done", "failed": "failed", "skipped": "failed", "unknown": "unknown"}
#: Signals under which an effect's outcome may stay open.
_FATAL = frozenset({"kill", "term", "zombie"})


def applied(evidence: Evidence) -> Counter[str]:
    """Return how often the world applied each key."""
    return Counter(line["key"] for line in evidence.world if line["applied"])


def duplicates(evidence: Evidence) -> list[str]:
    """Return each effect that happened more than once."""
    kinds = {line["key"]: line["kind"] for line in evidence.world}
    return [
        f"{kinds[key]} {key[:16]} happened {n} times"
        for key, n in applied(evidence).items()
        if n > 1 and kinds[key] not in _HARMLESS
    ]


def repeats(evidence: Evidence) -> int:
    """Return how many requests with a key repeated one that had arrived: harmless, and worth knowing."""
    seen = Counter(
        line["key"]
        for line in evidence.world
        if line["arrived"] and line["kind"] in ("keyed", "hook", "idempotent")
    )
    return sum(n - 1 for n in seen.values())


def world_key(call: Row) -> str:
    """Return the key under which the world knows a call."""
    return (
        f"{call['run_id']}:{call['arguments'].get('channel')}"
        if call["tool"] == "notify"
        else str(call["key"])
    )


def told(evidence: Evidence, call: Row) -> str:
    """Return what the report says of a call, in the words of call states; "" where it says nothing."""
    report = evidence.runs[call["run_id"]].get("report") or {}
    if call["tool"] == "notify":
        states = [
            n["state"]
            for n in report.get("notifications", [])
            if n["channel"] == call["arguments"].get("channel")
        ]
        if states:
            return _SENT[states[0]]
    return next((str(a["state"]) for a in report.get("actions", []) if a["call_id"] == call["id"]), "")


def broken_words(evidence: Evidence) -> Iterator[str]:
    """Yield each effect of which the report says what is not so."""
    happened = applied(evidence)
    ended = {run["id"] for run in evidence.ended()}
    for call in evidence.calls:
        if (
            call["effect"] == "read"
            or call["run_id"] not in ended
            or call["tool"] in ("act_sleep", "act_stubborn")
        ):
            continue
        word, times = told(evidence, call), happened[world_key(call)]
        name = f"{call['id']} ({call['tool']}, {call['effect']}, row {call['state']})"
        if word == CallState.done and not times:
            yield f"{name}: the report says done, the world has nothing"
        if times and word not in (CallState.done, CallState.unknown):
            yield f"{name}: the world has it, the report says {word or 'nothing'}"
        if call["state"] == CallState.unknown and word not in ("", CallState.unknown):
            yield f"{name}: the report says {word}"


def unknowns(evidence: Evidence) -> list[Row]:
    """Return a row for each unknown call: its class, its worker, and what left it open; `why` empty: unexplained."""
    ended = {run["id"] for run in evidence.ended()}
    rows = [
        c
        for c in evidence.calls
        if c["run_id"] in ended and CallState.unknown in (c["state"], told(evidence, c))
    ]
    return [
        {
            "call": call["id"],
            "tool": call["tool"],
            "effect": call["effect"],
            "worker": call["worker"],
            "happened": applied(evidence)[world_key(call)],
            "why": _why(evidence, call),
        }
        for call in rows
    ]


def _why(evidence: Evidence, call: Row) -> str:
    begun, ended = _at(call["started_at"]), _at(call["ended_at"])
    pid = int(str(call["worker"]).rpartition(":")[2] or 0)
    for deed in evidence.deeds:
        if (
            deed["pid"] == pid
            and deed["what"] in _FATAL
            and begun <= deed["at"] + 0.01
            and (not ended or deed["at"] <= ended)
        ):
            return f"{deed['what']} of {deed['program']} ({pid}) while it ran"
    moods = [
        line["mood"] for line in evidence.world if line["key"] == world_key(call) and line["mood"] != "good"
    ]
    if moods:
        return f"the world answered with {', '.join(moods)}"
    run = evidence.runs[call["run_id"]]
    if run["stop"] and (not ended or ended >= begun):
        return f"the run was {run['stop']} while it ran"
    for _, event in evidence.events.get(call["run_id"], []):
        if event["type"] == "status_change" and begun < _at(event["at"]) <= (ended or float("inf")):
            if f":{pid}" in event["reason"]:
                return f"its lease ran out while it ran: {event['reason']}"
            if event["state"] == AssignmentState.running and event["assignment_id"] == call["assignment_id"]:
                return f"its lease ran out while it ran: taken by {event['detail'].get('worker')}"
    # a machine that is too busy: the desk's or the program's own clock ended the wait for a world that was well
    said = str((call["result"] or {}).get("error", {}).get("message", ""))
    return f"its time-out passed: {said}" if "took longer than" in said or "Timeout" in said else ""


def _at(text: Any) -> float:
    return datetime.fromisoformat(text).timestamp() if text else 0.0
