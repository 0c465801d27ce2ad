"""The pseudo tool by which a model ends its assignment, and how its arguments become an outcome."""

from __future__ import annotations

from typing import Any, get_args

from agents.runtime.citations import CITED
from kernel.contracts import Evidence, Finding, NotDone, Outcome, Work
from kernel.errors import Correctable
from kernel.model.port import ToolSchema

_SEVERITIES = get_args(Finding.model_fields["severity"].annotation)

_TEXTS = {"type": "array", "items": {"type": "string"}}
_EVIDENCE = {
    "type": "object",
    "properties": {
        "source": {"type": "string", "description": "name of the source, as a tool gave it"},
        "line": {"type": "integer", "description": "line number, from 1"},
        "quote": {"type": "string", "description": "the line's own text; … may stand for what is left out"},
    },
    "required": ["source", "line", "quote"],
}
_FINDING = {
    "type": "object",
    "properties": {
        "title": {"type": "string"},
        "severity": {"type": "string", "enum": list(_SEVERITIES)},
        "score": {"type": "number", "description": "how sure you are, 0 to 1"},
        "detail": {"type": "string"},
        "key": {"type": "string", "description": "kind of cause in snake_case, such as pool_exhausted"},
        "evidence": {"type": "array", "items": _EVIDENCE},
    },
    "required": ["title", "evidence"],
}
_NOT_DONE = {
    "type": "object",
    "properties": {"what": {"type": "string"}, "why": {"type": "string"}},
    "required": ["what", "why"],
}

FINISH = ToolSchema(
    name="finish",
    description="End your work and give the answer. Use it alone, when you know enough or can find no more.",
    parameters={
        "type": "object",
        "properties": {
            "answer": {"type": "string", "description": "the answer in a few sentences, citing source:line"},
            "findings": {"type": "array", "items": _FINDING},
            "not_found": _TEXTS,
            "not_done": {"type": "array", "items": _NOT_DONE},
        },
        # held by a schema, small models fill what is required and forget the rest
        "required": ["answer", "findings"],
    },
)


def read_finish(arguments: dict[str, Any], work: Work, *, brain: str) -> Outcome:
    """Return the outcome; raise Correctable where there is neither an answer nor a finding.

    What a model gets slightly wrong (an unknown severity, a score of 85, a line as text) is mended; evidence
    that names no line is dropped, and the checker judges the rest.
    """
    found = [_finding(item) for item in _items(arguments.get("findings"))]
    findings = [finding for finding in found if finding is not None]
    answer = _text(arguments.get("answer")) or "; ".join(finding.title for finding in findings)
    if not answer:
        raise Correctable(
            "finish needs an answer", why="'answer' is empty", next_step="Call finish with an answer."
        )
    told = " ".join([answer, *(finding.detail for finding in findings)])
    served = {memory.id for memory in work.memories}
    cited = dict.fromkeys(identifier for identifier in CITED.findall(told) if identifier in served)
    return Outcome(
        answer=answer,
        findings=findings,
        not_found=[_text(item) for item in _items(arguments.get("not_found")) if _text(item)],
        not_done=[_not_done(item) for item in _items(arguments.get("not_done"))],
        cited_memories=list(cited),
        brain=brain,
    )


def _items(value: Any) -> list[Any]:
    if value is None or value == "":
        return []
    return value if isinstance(value, list) else [value]


def _text(value: Any) -> str:
    return value.strip() if isinstance(value, str) else "" if value is None else str(value)


def _finding(item: Any) -> Finding | None:
    if isinstance(item, str):
        item = {"title": item}
    if not isinstance(item, dict) or not _text(item.get("title")):
        return None
    severity = _text(item.get("severity")).lower()
    evidence = [_evidence(e) for e in _items(item.get("evidence"))]
    return Finding(
        title=_text(item["title"]),
        severity=severity if severity in _SEVERITIES else "error",
        score=_score(item.get("score")),
        detail=_text(item.get("detail")),
        key=_text(item.get("key")),
        evidence=[e for e in evidence if e is not None],
    )


def _score(value: Any) -> float:
    try:
        score = float(value)
    except (TypeError, ValueError):
        return 0.5
    return min(1.0, max(0.0, score / 100 if score > 1 else score))


def _evidence(item: Any) -> Evidence | None:
    if not isinstance(item, dict):
        return None
    try:
        line = int(item.get("line", 0))
    except (TypeError, ValueError):
        return None
    source, quote = _text(item.get("source")), _text(item.get("quote"))
    return Evidence(source=source, line=line, quote=quote) if source and quote and line >= 1 else None


def _not_done(item: Any) -> NotDone:
    if isinstance(item, dict):
        return NotDone(what=_text(item.get("what")) or "something", why=_text(item.get("why")) or "not said")
    return NotDone(what=_text(item), why="not said")
