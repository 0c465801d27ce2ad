"""The checker of evidence, without a model: quotes must stand in their lines, numbers in what tools returned."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Iterable
from itertools import takewhile
from typing import Any

from agents.runtime.causality import cited_lines, unfounded
from agents.runtime.claims import Claim, claims
from agents.runtime.proofs import Proofs
from kernel.contracts import Evidence, Finding, NotDone, Outcome

#: Returns the redacted text of a line, or None where there is no such line.
LineReader = Callable[[str, int], Awaitable[str | None]]

_CUT = "…"
_SPACE = re.compile(r"\s+")
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_ENTRY = ("- ", "* ")
#: Lines of an answer that are read to see whether it rests on one, and what is asked of one that does not.
_CITED_MOST = 20
_PROVE = "give a finding with its line, or say in not_found what was looked for"
#: The answer where the checker had to leave out all of it.
NOTHING_PROVED = "Nothing that was claimed could be proved by what the tools returned."


def quote_stands(quote: str, line: str) -> bool:
    """Tell whether each part of a quote, which may be cut with …, stands in the line in order."""
    text = _SPACE.sub(" ", line)
    parts = [part for part in (_SPACE.sub(" ", p).strip() for p in quote.split(_CUT)) if part]
    at = 0
    for part in parts:
        found = text.find(part, at)
        if found < 0:
            return False
        at = found + len(part)
    return bool(parts)


async def _check_finding(
    finding: Finding, read: LineReader | None, lines: list[str]
) -> tuple[Finding | None, list[str]]:
    if not finding.evidence:
        return None, [f"finding {finding.title[:80]!r} quotes no line"]
    if read is None:
        return None, [f"finding {finding.title[:80]!r} cannot be checked by this agent"]
    good, problems = await _stand(finding.evidence, read, lines)
    against, more = await _stand(finding.against, read, lines)
    kept = finding.model_copy(update={"evidence": good, "against": against}) if good else None
    return kept, [*problems, *more]


async def _stand(
    proofs: Iterable[Evidence], read: LineReader, lines: list[str]
) -> tuple[list[Evidence], list[str]]:
    """Return the evidence that stands and what is wrong with the rest; add the lines that were cited rightly."""
    good, problems = [], []
    for evidence in proofs:
        line = await read(evidence.source, evidence.line)
        where = f"{evidence.source}:{evidence.line}"
        if line is None:
            problems.append(f"{where} does not exist")
        elif not quote_stands(evidence.quote, line):
            problems.append(f"{where} does not say {evidence.quote[:80]!r}")
        else:
            good.append(evidence)
            lines.append(line)
    return good, problems


async def check(
    outcome: Outcome, *, read: LineReader | None, results: Iterable[Any] = (), texts: Iterable[str] = ()
) -> tuple[Outcome, list[str]]:
    """Return the outcome without what cannot be proved, and what was refused, each with its reason.

    Findings keep the evidence that stands; a finding without any falls. `results` are what the assignment's tools
    returned, and `texts` what it was told: a sentence with a number that neither has, nor a line that is cited, goes.
    Where no finding is left and the answer cites no line that there is, its sentences that claim a cause go as well.
    An agent that reads no lines makes no findings, and its numbers are its own.
    """
    findings, refused, lines = [], [], list[str]()
    for finding in outcome.findings:
        kept, problems = await _check_finding(finding, read, lines)
        findings += [kept] if kept else []
        refused += problems
    proved = outcome.model_copy(update={"findings": findings})
    if read is None:
        return proved, refused
    kept_numbers, wrong = _numbers(proved, Proofs(results, texts, lines))
    founded, guessed = await _causes(kept_numbers, read)
    return founded, [*refused, *wrong, *guessed]


async def _causes(outcome: Outcome, read: LineReader) -> tuple[Outcome, list[str]]:
    """Return the outcome without claims of a cause that rest on no line; a routine's words are its findings'."""
    if outcome.findings or outcome.brain.startswith("routine"):
        return outcome, []
    guesses = unfounded(outcome.answer)
    if not guesses:
        return outcome, []
    for source, line in cited_lines(outcome.answer)[:_CITED_MOST]:
        if await read(source, line) is not None:
            return outcome, []
    answer = outcome.answer
    for guess in guesses:
        answer = answer.replace(guess, "", 1)
    reasons = [f"{guess.strip()[:120]!r} claims a cause and cites no line: {_PROVE}" for guess in guesses]
    return outcome.model_copy(update={"answer": answer.strip() or NOTHING_PROVED}), reasons


def _numbers(outcome: Outcome, proofs: Proofs) -> tuple[Outcome, list[str]]:
    """Return the outcome without sentences whose numbers nothing proves."""
    wrong: list[str] = []

    def kept(text: str) -> str:
        bad = [c for c in claims(text) if not proofs.prove(c) and not _counts_its_list(text, c)]
        wrong.extend(_unproved(text, claim) for claim in bad)
        return _without(text, bad)

    findings = [
        f.model_copy(
            update={
                "title": _struck(f.title, proofs, wrong),
                "detail": kept(f.detail),
                "reasons": [reason for reason in map(kept, f.reasons) if reason],
            }
        )
        for f in outcome.findings
    ]
    answer = kept(outcome.answer) or "; ".join(f.title for f in findings)
    if outcome.answer and not answer:
        answer = NOTHING_PROVED
    not_found = [text for text in map(kept, outcome.not_found) if text]
    update = {"answer": answer, "findings": findings, "not_found": not_found}
    return outcome.model_copy(update=update), list(dict.fromkeys(wrong))


def _counts_its_list(text: str, claim: Claim) -> bool:
    """Tell whether a claim stands in the heading of a list and is the number of its entries: it proves itself."""
    heading, _, rest = text[claim.start :].partition("\n")
    entries = list(takewhile(lambda line: line.startswith(_ENTRY), rest.split("\n")))
    return heading.rstrip().endswith((":", "：")) and len(entries) == claim.value


def _struck(title: str, proofs: Proofs, wrong: list[str]) -> str:
    """Return a title with … for numbers that nothing proves: the finding itself has its lines."""
    for claim in reversed(claims(title)):
        if not proofs.prove(claim):
            wrong.append(_unproved(title, claim))
            title = f"{title[: claim.start]}{_CUT}{title[claim.start + len(claim.text) :]}"
    return title


def _unproved(text: str, claim: Claim) -> str:
    start, end = _sentence(text, claim.start)
    number = claim.text + ("%" if claim.kind == "percent" else "")
    return f"{number!r} is no number that a tool returned or a cited line says: {text[start:end].strip()[:120]!r}"


def _without(text: str, bad: list[Claim]) -> str:
    """Return the text without the sentences that hold these claims."""
    for start, end in sorted({_sentence(text, claim.start) for claim in bad}, reverse=True):
        text = text[:start] + text[end:]
    return text.strip() if bad else text


def _sentence(text: str, place: int) -> tuple[int, int]:
    """Return where the sentence or list entry round a place begins and ends, with the gap behind it."""
    start = 0
    for gap in _SENTENCE_END.finditer(text):
        if gap.start() >= place:
            return start, gap.end()
        start = gap.end()
    return start, len(text)


def strip(outcome: Outcome, refused: list[str]) -> Outcome:
    """Return the outcome saying what the checker refused."""
    if not refused:
        return outcome
    notes = [NotDone(what="a claim was left out", why=reason[:300]) for reason in refused]
    return outcome.model_copy(update={"not_done": [*outcome.not_done, *notes]})
