"""A report for people, pure: Markdown in the language and at the length that its requester asked for."""

from __future__ import annotations

import re

from coordinator.phrases import words_of
from kernel.contracts import ActionOutcome
from kernel.reports import Report, ReportMemory
from kernel.states import CallState
from kernel.wording import Words


def markdown(report: Report) -> str:
    """Return the report for people, its own words in their language; a short one keeps what must not be missed."""
    say, short = words_of(report.language), report.length == "short"
    head = say("# Run {id}: {ended}", id=report.run_id[:13], ended=_ended(report, say))
    lines = [head, "", report.answer, ""]
    if report.findings and not short:
        lines += [f"## {say('Findings')}", "", *_findings(report, say)]
    actions = [a for a in report.actions if not short or a.state != CallState.done or not a.verified]
    messages = [n for n in report.notifications if not short or n.state != "sent"]
    for title, items in (
        ("Actions", [_done(action, say) for action in actions]),
        (
            "Notifications",
            [
                say("{what}: {why}", what=n.channel, why=f"{say.plain(n.state)} {n.detail}".strip())
                for n in messages
            ],
        ),
        ("Memories", [] if short else [_memory(memory, say) for memory in report.memories]),
        ("Not found", [] if short else report.not_found),
        (
            "Not done",
            [say("{what}: {why}", what=say.plain(n.what), why=say.plain(n.why)) for n in report.not_done],
        ),
    ):
        if items:
            lines += ["", f"## {say(title)}", "", *(f"- {item}" for item in items)]
    return "\n".join(lines).rstrip() + "\n"


def _findings(report: Report, say: Words) -> list[str]:
    lines = []
    told = "{number}. **{title}** ({severity}, score {score:.2f})"
    for number, finding in enumerate(report.findings, start=1):
        title, severity = say.title(finding.title), say.plain(finding.severity)
        lines.append(say(told, number=number, title=title, severity=severity, score=finding.score))
        lines += [f"   - `{e.source}:{e.line}` {_quoted(e.quote)}" for e in finding.evidence]
    return lines


def _memory(memory: ReportMemory, say: Words) -> str:
    cited = f" {say('(cited)')}" if memory.cited else ""
    return f"[mem:{memory.id}]{cited} {memory.text}"


def _quoted(text: str) -> str:
    """Return a quote as a code span whose fence is longer than any run of backticks in it."""
    runs = [len(ticks) for ticks in re.findall("`+", text)]
    if not runs:
        return f"`{text}`"
    fence = "`" * (max(runs) + 1)
    # blanks beside the fence keep a backtick at the edge of the code from joining it
    return f"{fence} {text} {fence}"


def _ended(report: Report, say: Words) -> str:
    """Return the state, and beside it what a reader of one line must not miss."""
    states = [action.state for action in report.actions]
    counts = [(state, states.count(state)) for state in (CallState.unknown, CallState.denied)]
    rare = [
        say("{count} {state}", count=count, state=say.plain(state.value)) for state, count in counts if count
    ]
    return say(", ").join([say.plain(report.state), *rare])


def _done(action: ActionOutcome, say: Words) -> str:
    """Return an action as one line; only what was done can be verified."""
    seen = {True: ", verified", False: ", NOT verified", None: ", not verified"}[action.verified]
    text = say("{what}: {why}", what=action.name, why=say.plain(action.state))
    text += say(seen) if action.state == CallState.done else ""
    return say("{what}: {why}", what=text, why=_quoted(" ".join(action.argv))) if action.argv else text
