"""Composition, pure: title and body of a message from what the other agents left behind."""

from __future__ import annotations

from agents.notification.message import Severity
from agents.notification.wording import words
from kernel.contracts import ActionOutcome, Finding, Outcome, Value, Work
from kernel.wording import ENGLISH, Words

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
    say = words(work)
    blocks = [
        say("Request: {text}", text=_short(work.request, _REQUEST_CHARACTERS)),
        str(work.inputs.get("message") or ""),
        *(
            _finding(finding, say, first=not position)
            for position, finding in enumerate(findings[:_FINDINGS])
        ),
        say("No cause was found.") if outcomes and not findings else "",
        *(say("Action: {text}", text=_action(action, say)) for action in actions),
        *_answers(outcomes, findings),
        *_left_open(outcomes, say),
    ]
    severity: Severity = max((f.severity for f in findings), key=_ORDER.__getitem__, default="info")
    title = str(work.inputs.get("title") or "") or (
        say.title(findings[0].title) if findings else work.request or work.goal
    )
    return Draft(
        severity=severity,
        title=_short(title or "Nightdesk", _TITLE_CHARACTERS),
        body=_short("\n".join(block for block in blocks if block), _BODY_CHARACTERS),
    )


def _finding(finding: Finding, say: Words, *, first: bool) -> str:
    told = "{word}: {title} ({severity}, {score:.0%} sure)"
    word, title, severity = (
        say("Cause" if first else "Also"),
        say.title(finding.title),
        say.plain(finding.severity),
    )
    lines = [say(told, word=word, title=title, severity=severity, score=finding.score)]
    # details are in English, for what is learnt from them; the lines below prove the same
    lines += [f"  {finding.detail}"] if finding.detail and say is ENGLISH else []
    lines += [
        f"  {evidence.source}:{evidence.line}  {_short(evidence.quote, _QUOTE_CHARACTERS)}"
        for evidence in finding.evidence[:_LINES_PER_FINDING]
    ]
    more = len(finding.evidence) - _LINES_PER_FINDING
    return "\n".join([*lines, *([say("  and {more} more lines", more=more)] if more > 0 else [])])


def _action(action: ActionOutcome, say: Words) -> str:
    parameters = ", ".join(f"{name}={value}" for name, value in action.parameters.items())
    seen = "" if action.verified is None else say(", verified" if action.verified else ", NOT verified")
    detail = f" ({action.detail})" if action.detail else ""
    return f"{action.name}({parameters}): {say.plain(action.state)}{seen}{detail}"


def _answers(outcomes: list[Outcome], findings: list[Finding]) -> list[str]:
    # an answer repeats the findings in prose; it is wanted only where there are none
    return [] if findings else [outcome.answer for outcome in outcomes if outcome.answer]


def _left_open(outcomes: list[Outcome], say: Words) -> list[str]:
    told = "Not done: {what}: {why}"
    return [say(told, what=item.what, why=item.why) for outcome in outcomes for item in outcome.not_done]


def _short(text: str, characters: int) -> str:
    return text if len(text) <= characters else f"{text[:characters]}…"
