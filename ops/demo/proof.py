"""The demo's own checks, pure: quotes against the log's lines, the story against the reports, the last line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any

_PLACEHOLDER = re.compile(r"<[A-Z_]+:[0-9a-f]+>|…")
_CAUSE, _DEPLOY = "pool exhausted: 2/2", "config pool_size=2"


def says(line: str, quote: str) -> bool:
    """Tell whether a line says what is quoted: its parts in order, but for what was cut or redacted."""
    at = 0
    for part in _PLACEHOLDER.split(quote.strip()):
        found = line.find(part.strip(), at)
        if found < 0:
            return False
        at = found + len(part.strip())
    return bool(quote.strip())


def evidence_of(report: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Return all evidence of a report."""
    return [piece for finding in report["findings"] for piece in finding["evidence"]]


def unproven(report: Mapping[str, Any], path: str, lines: Sequence[str]) -> list[str]:
    """Return what is wrong with a report's evidence, given the log's lines."""
    pieces = evidence_of(report)
    problems = [] if pieces else ["the report has no evidence"]
    for piece in pieces:
        number, quote = piece["line"], piece["quote"]
        if PurePath(piece["source"]).name != PurePath(path).name:
            problems.append(f"{piece['source']} is not the log that was given")
        elif not 1 <= number <= len(lines):
            problems.append(f"line {number} does not exist")
        elif not says(lines[number - 1], quote):
            problems.append(f"line {number} does not say {quote!r}")
    return problems


@dataclass(frozen=True)
class Cause:
    """What the report found, in its own evidence: the first failure and the deploy before it."""

    first_line: int
    first_at: str
    deploy_line: int
    lines: tuple[int, ...]

    def __str__(self) -> str:
        lines = ", ".join(str(number) for number in self.lines)
        after = f", after the deploy in line {self.deploy_line}" if self.deploy_line else ""
        return (
            f"{_CAUSE} connections, first at {self.first_at} (line {self.first_line}){after}; lines {lines}"
        )


def find_cause(report: Mapping[str, Any]) -> Cause | None:
    """Return the cause if the report's first finding proves it with a line of the exhausted pool."""
    if not report["findings"]:
        return None
    first = report["findings"][0]
    proof = [piece for piece in first["evidence"] if _CAUSE in piece["quote"]]
    if not proof:
        return None
    earliest = min(proof, key=lambda piece: int(piece["line"]))
    deploys = [piece["line"] for piece in evidence_of(report) if _DEPLOY in piece["quote"]]
    return Cause(
        first_line=earliest["line"],
        first_at=earliest["quote"].split(" ", 1)[0],
        deploy_line=max((line for line in deploys if line < earliest["line"]), default=0),
        lines=tuple(sorted({piece["line"] for piece in first["evidence"]})),
    )


def true_first(lines: Sequence[str]) -> int:
    """Return the number of the log's first line with the cause, as grep would."""
    return next((number for number, line in enumerate(lines, start=1) if _CAUSE in line), 0)


def action_problems(report: Mapping[str, Any]) -> list[str]:
    """Return what is wrong with the report's one action."""
    actions = report["actions"]
    if [action["name"] for action in actions] != ["restart_service"]:
        return [f"actions are {[action['name'] for action in actions]}, not one restart_service"]
    (action,) = actions
    problems = (
        [] if action["state"] == "done" else [f"the action is {action['state']}: {action.get('detail', '')}"]
    )
    return problems + ([] if action["verified"] is True else ["the action is not verified"])


def notice_problems(
    report: Mapping[str, Any], messages: Sequence[Mapping[str, Any]], run_id: str
) -> list[str]:
    """Return what is wrong with the webhook's message: said to be sent, came once, signed."""
    states = {(notice["channel"], notice["state"]) for notice in report["notifications"]}
    problems = [] if ("webhook", "sent") in states else [f"notifications are {sorted(states)}"]
    came = [message for message in messages if run_id in message["body"]]
    if len(came) != 1:
        problems.append(f"the sink got {len(came)} messages of the run")
    return problems + (
        [] if all(message["signed"] for message in came) else ["a message's signature is wrong"]
    )


def cited(report: Mapping[str, Any]) -> set[str]:
    """Return the ids of the memories that a report cites."""
    return {memory["id"] for memory in report["memories"] if memory["cited"]}


def recall_problems(first: Mapping[str, Any], second: Mapping[str, Any], learned: set[str]) -> list[str]:
    """Return what is wrong with the second run's use of what was learned from the first."""
    known = cited(second)
    problems = [] if known & learned else [f"cited {sorted(known)}, learned {sorted(learned)}"]
    before, after = first["usage"]["calls"], second["usage"]["calls"]
    return problems + ([] if after < before else [f"calls went {before}→{after}"])


def last_line(seconds: float, first: Mapping[str, Any], second: Mapping[str, Any]) -> str:
    """Return the line that says that everything was checked and held."""
    findings = len(first["findings"]) + len(second["findings"])
    calls = f"{first['usage']['calls']}→{second['usage']['calls']}"
    return (
        f"demo: ok seconds={seconds:.0f} runs=2 findings={findings} evidence=checked action=done "
        f"verified=yes notified=yes recalled=yes calls={calls}"
    )
