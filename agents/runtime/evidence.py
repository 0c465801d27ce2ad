"""The checker of evidence without a model: quotes must stand in the lines that they name."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable

from kernel.contracts import Evidence, Finding, NotDone, Outcome

#: Returns the redacted text of a line, or None where there is no such line.
LineReader = Callable[[str, int], Awaitable[str | None]]

_CUT = "…"
_SPACE = re.compile(r"\s+")


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


async def _problem(evidence: Evidence, read: LineReader) -> str | None:
    line = await read(evidence.source, evidence.line)
    where = f"{evidence.source}:{evidence.line}"
    if line is None:
        return f"{where} does not exist"
    return None if quote_stands(evidence.quote, line) else f"{where} does not say {evidence.quote[:80]!r}"


async def _check_finding(finding: Finding, read: LineReader | None) -> tuple[Finding | None, list[str]]:
    if not finding.evidence:
        return None, [f"finding {finding.title[:80]!r} quotes no line"]
    if read is None:
        return None, [f"finding {finding.title[:80]!r} cannot be checked by this agent"]
    good, problems = [], []
    for evidence in finding.evidence:
        problem = await _problem(evidence, read)
        if problem is None:
            good.append(evidence)
        else:
            problems.append(problem)
    return (finding.model_copy(update={"evidence": good}) if good else None), problems


async def check(outcome: Outcome, *, read: LineReader | None) -> tuple[Outcome, list[str]]:
    """Return the outcome without what cannot be proved, and what was refused, each with its reason.

    Findings keep the evidence that stands; a finding without any falls.
    """
    findings, refused = [], []
    for finding in outcome.findings:
        kept, problems = await _check_finding(finding, read)
        findings += [kept] if kept else []
        refused += problems
    return outcome.model_copy(update={"findings": findings}), refused


def strip(outcome: Outcome, refused: list[str]) -> Outcome:
    """Return the outcome saying what the checker refused."""
    if not refused:
        return outcome
    notes = [NotDone(what="a claim was left out", why=reason[:300]) for reason in refused]
    return outcome.model_copy(update={"not_done": [*outcome.not_done, *notes]})
