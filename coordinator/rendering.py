"""A report for people, pure: Markdown in the language and at the length that its requester asked for."""

from __future__ import annotations

import re

from coordinator.phrases import words_of
from kernel.contracts import ActionOutcome, Evidence
from kernel.neutral import neutralise, one_line
from kernel.reports import Report, ReportMemory
from kernel.states import CallState
from kernel.wording import ENGLISH, Words

#: A span of code on one line, whatever the length of its fence: what stands in one is shown and never live. One that
#: goes over a line's end may be cut by a new block there, and an escaped backtick opens none.
_CODE = re.compile(r"(?<![`\\])(?P<fence>`+)(?!`)[^\n]+?(?<!`)(?P=fence)(?!`)")

#: What ends a line for one reader of Markdown or another: a span that goes over it may be no span.
_LINE_ENDS = re.compile("[\n\r\x0b\x0c\x1c-\x1e\x85\u2028\u2029]+")


def markdown(report: Report) -> str:
    """Return the report for people, its own words in their language; a short one keeps what must not be missed.

    Words that a log, a model or a memory chose become no link, image, mention or markup of whoever shows it.
    """
    say, short = words_of(report.language), report.length == "short"
    head = say("# Run {id}: {ended}", id=report.run_id[:13], ended=_ended(report, say))
    lines = [head, "", inert(report.answer), ""]
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
            lines += ["", f"## {say(title)}", "", *(f"- {inert(item)}" for item in items)]
    return "\n".join(lines).rstrip() + "\n"


def inert(text: str) -> str:
    """Return Markdown with nothing live outside of its spans of code."""
    pieces: list[str] = []
    done = 0
    for found in _CODE.finditer(text):
        pieces += [neutralise(text[done : found.start()]), found[0]]
        done = found.end()
    return "".join([*pieces, neutralise(text[done:])])


def _findings(report: Report, say: Words) -> list[str]:
    """Return the findings; what the answer has shown already is named by its place alone."""
    lines = []
    head = "{number}. **{title}** ({severity}, score {score:.2f})"
    for number, finding in enumerate(report.findings, start=1):
        title, severity = say.title(finding.title), say.plain(finding.severity)
        lines.append(say(head, number=number, title=inert(title), severity=severity, score=finding.score))
        seen = [e for e in finding.evidence if _shown(e, report.answer)]
        if seen:
            places = say(", ").join(_quoted(f"{e.source}:{e.line}") for e in seen)
            lines.append(say("   - quoted above: {places}", places=places))
        new = [e for e in finding.evidence if e not in seen]
        lines += [f"   - {_quoted(f'{e.source}:{e.line}')} {_quoted(e.quote)}" for e in new]
        if (
            say is ENGLISH
        ):  # findings speak English, for what is learnt from them; the answer has them translated
            # an answer tells the reasons of the likeliest; the same words of another finding are said of that one
            told = report.answer.split("\n") if number == 1 else []
            reasons = [reason for reason in finding.reasons if f"- {reason}" not in told]
            lines += [f"   - speaks for it: {inert(one_line(reason))}" for reason in reasons]
        against = "   - speaks against it: {where} {quote}"
        lines += [
            say(against, where=_quoted(f"{e.source}:{e.line}"), quote=_quoted(e.quote))
            for e in finding.against
        ]
    return lines


def _shown(proof: Evidence, answer: str) -> bool:
    """Tell whether the answer quotes a line at its place: a reader needs it once."""
    place = f"{proof.source}:{proof.line} "
    return any(place in line and proof.quote in line for line in answer.split("\n"))


def _memory(memory: ReportMemory, say: Words) -> str:
    cited = f" {say('(cited)')}" if memory.cited else ""
    return f"[mem:{memory.id}]{cited} {memory.text}"


def _quoted(text: str) -> str:
    """Return a quote as a code span whose fence is longer than any run of backticks in it; no line end cuts it."""
    text = _LINE_ENDS.sub(" ", text)
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
