"""The gate that a memory must pass: what is stored, what a person must look at first, what is dropped."""

from __future__ import annotations

from typing import Any, Literal

from kernel.orders import shaped_like_instruction
from memory_service.domain import Candidate, normal
from memory_service.learning.chatter import chatter

#: Below this a memory is not worth its place in a prompt (reference: memory.md, 4.8).
IMPORTANCE_FLOOR = 0.3
#: Texts longer than this are no memory but a document; UTF-8 bytes.
TEXT_MAX_BYTES = 4000

Verdict = Literal["store", "quarantine", "drop"]

#: Kinds that we word ourselves: they quote what was asked, and are none of it.
_OURS = ("procedure", "summary")


def gate(candidate: Candidate) -> tuple[Verdict, str]:
    """Return whether a candidate is stored, quarantined for a person to look at, or dropped, and why."""
    text = normal(candidate.text)
    if not text:
        return "drop", "empty"
    if len(candidate.text.encode("utf-8", "replace")) > TEXT_MAX_BYTES:
        return "drop", f"too long: a memory has at most {TEXT_MAX_BYTES} bytes"
    if candidate.importance < IMPORTANCE_FLOOR:
        return "drop", f"not important enough: nothing below {IMPORTANCE_FLOOR} is kept"
    if candidate.kind not in _OURS and (said := chatter(candidate.text)):
        return "drop", said
    why = doubtful(candidate)
    return ("quarantine", why) if why else ("store", "")


def doubtful(candidate: Candidate) -> str:
    """Return why a person must look at a candidate before it holds, or ""."""
    untrusted = candidate.source_kind != "user" or candidate.quotes_untrusted
    told = [candidate.text, candidate.key, *_strings(candidate.slots)]
    if untrusted and shaped_like_instruction("\n".join(told)):
        return "shaped like an instruction, from a source that may not give any"
    if candidate.kind == "preference" and candidate.source_kind != "user" and candidate.quotes_untrusted:
        return "a wish that was told after reading what others wrote: a person must confirm it"
    return ""


def _strings(slots: Any) -> list[str]:
    """Return the texts in slots, names too: they are served beside the text, so they pass the same gate."""
    if isinstance(slots, dict):
        return [text for pair in slots.items() for part in pair for text in _strings(part)]
    if isinstance(slots, list):
        return [text for part in slots for text in _strings(part)]
    return [slots] if isinstance(slots, str) else []
