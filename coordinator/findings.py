"""The findings of a run, pure: what several workers found of one cause is one finding, the likeliest comes first."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import reduce
from itertools import chain, zip_longest

from kernel.contracts import Evidence, Finding, Outcome
from kernel.records import AssignmentRow
from kernel.sharing import PART_OF

#: A report stays readable, and under the 64 KiB that a message in Redis may have.
_MAX_FINDINGS = 20
_MAX_EVIDENCE = 6
#: How a finding's detail ends, for the memory: whose cause it is, and a phrase of its lines.
_TOLD = re.compile(r'\bService: ([\w.-]{2,60})\. Pattern: "([^"\n]{0,400})"')
#: What is hidden, or counts, stands in a title and differs from one worker's lines to the other's.
_VALUES = re.compile(r"<[A-Z_]+:[0-9a-f]{6}>|\d+(?:[.:,/-]\d+)*")
#: A key that names no kind of cause: two of it are one where their lines say the same.
_VAGUE = "error"
_GRAVITY = ("info", "warning", "error", "critical")


def findings_of(rows: Sequence[AssignmentRow]) -> list[Finding]:
    """Return what the parts of a run found, cut to what a report holds; their order is that of the parts."""
    causes: dict[tuple[str, ...], list[Finding]] = {}
    for row in rows:
        outcome = Outcome.model_validate(row.outcome) if row.outcome else Outcome()
        root = row.inputs.get(PART_OF, "")
        met: Counter[tuple[str, ...]] = Counter()
        for finding in outcome.findings:
            # only what was one assignment: other agents, and later rounds, look at the same cause with other eyes
            same = (root, *cause) if root and (cause := _cause(finding)) else ("", row.id)
            # two of one worker stay two: it saw what tells them apart
            causes.setdefault((*same, str(met[same])), []).append(finding)
            met[same] += 1
    joined = [
        reduce(_joined, sorted(same, key=lambda f: -f.score)) if len(same) > 1 else same[0]
        for same in causes.values()
    ]
    likeliest = sorted(joined, key=lambda f: -f.score)[:_MAX_FINDINGS]
    return [f.model_copy(update={"evidence": f.evidence[:_MAX_EVIDENCE]}) for f in likeliest]


def _cause(finding: Finding) -> tuple[str, ...]:
    """Return what two findings of one cause have in common; empty where that cannot be told."""
    if not finding.key:
        return ()
    told = _TOLD.search(finding.detail)
    if told is None:
        return (finding.key, "", _VALUES.sub("#", finding.title))
    return (finding.key, told[1], told[2] if finding.key == _VAGUE else "")


def _joined(one: Finding, other: Finding) -> Finding:
    """Return one finding of two, with the words of the likelier and the proof of both."""
    details = one.detail if other.detail in one.detail else f"{other.detail} {one.detail}".strip()
    return one.model_copy(
        update={
            "severity": max(one.severity, other.severity, key=_GRAVITY.index),
            "detail": details,
            "evidence": _by_turns(one.evidence, other.evidence),
            "reasons": list(dict.fromkeys([*one.reasons, *other.reasons])),
            "against": _by_turns(one.against, other.against),
        }
    )


def _by_turns(one: Iterable[Evidence], other: Iterable[Evidence]) -> list[Evidence]:
    """Return the lines of both, so that neither is cut off whole; the same line once."""
    lines = (e for e in chain.from_iterable(zip_longest(one, other)) if e is not None)
    return list({(e.source, e.line, e.quote): e for e in lines}.values())
