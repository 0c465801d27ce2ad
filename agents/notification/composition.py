"""Composition, pure: title and body of a message from what the other agents left behind."""

from __future__ import annotations

from typing import Literal

from agents.notification.message import Severity
from kernel.contracts import ActionOutcome, Finding, Outcome, Value, Work

#: More would not be read on a phone.
_FINDINGS = 3
_LINES_PER_FINDING = 3
_QUOTE_CHARACTERS = 240
_REQUEST_CHARACTERS = 500
_TITLE_CHARACTERS = 200
_BODY_CHARACTERS = 20_000

_ORDER: dict[Severity, int] = {"critical": 3, "error": 2, "warning": 1, "info": 0}


class Draft(Value):
    """A message before it has a channel."""

    severity: Severity
    title: str
    body: str


def compose(work: Work) -> Draft:
    """Return the message for what is known so far: cause, evidence, actions, and what is left open."""
    outcomes = list(work.earlier.values())
    findings = sorted(
        (finding for outcome in outcomes for finding in outcome.findings), key=lambda f: f.score, reverse=True
    )
    actions = [action for outcome in outcomes for action in outcome.actions]
    blocks = [
        f"Request: {_short(work.request, _REQUEST_CHARACTERS)}",
        str(work.inputs.get("message") or ""),
        *(_finding(finding, first=not position) for position, finding in enumerate(findings[:_FINDINGS])),
        "No cause was found." if outcomes and not findings else "",
        *(f"Action: {_action(action)}" for action in actions),
        *_answers(outcomes, findings),
        *_left_open(outcomes),
    ]
    severity: Severity = max((f.severity for f in findings), key=_ORDER.__getitem__, default="info")
    title = str(work.inputs.get("title") or "") or (
        findings[0].title if findings else work.request or work.goal
    )
    return Draft(
        severity=severity,
        title=_short(title or "Nightdesk", _TITLE_CHARACTERS),
        body=_short("\n".join(block for block in blocks if block), _BODY_CHARACTERS),
    )


def _finding(finding: Finding, *, first: bool) -> str:
    word: Literal["Cause", "Also"] = "Cause" if first else "Also"
    lines = [f"{word}: {finding.title} ({finding.severity}, {finding.score:.0%} sure)"]
    lines += [f"  {finding.detail}"] if finding.detail else []
    lines += [
        f"  {evidence.source}:{evidence.line}  {_short(evidence.quote, _QUOTE_CHARACTERS)}"
        for evidence in finding.evidence[:_LINES_PER_FINDING]
    ]
    more = len(finding.evidence) - _LINES_PER_FINDING
    return "\n".join([*lines, *([f"  and {more} more lines"] if more > 0 else [])])


def _action(action: ActionOutcome) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in action.parameters.items())
    words = {True: ", verified", False: ", NOT verified", None: ""}
    detail = f" ({action.detail})" if action.detail else ""
    return f"{action.name}({parameters}): {action.state}{words[action.verified]}{detail}"


def _answers(outcomes: list[Outcome], findings: list[Finding]) -> list[str]:
    # an answer repeats the findings in prose; it is wanted only where there are none
    return [] if findings else [outcome.answer for outcome in outcomes if outcome.answer]


def _left_open(outcomes: list[Outcome]) -> list[str]:
    return [f"Not done: {item.what}: {item.why}" for outcome in outcomes for item in outcome.not_done]


def _short(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]}…"
