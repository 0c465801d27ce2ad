"""Citations in an outcome, pure: which memories it cites, in what sentence, and its texts without some of them."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from kernel.contracts import Finding, Outcome, Value

#: `[mem:id]`, or with what the prompt shows beside the id.
CITED = re.compile(r"\[mem:([^\[\]|\s]{1,64})(?:\|[^\[\]]{0,300})?\]")
#: A cut id of this length still names one memory (8 hex digits are 32 bits).
_CUT_ID = 8
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
#: With fewer letters a sentence is only the citation of the one before it ("It is the pool. [mem:…]").
_LETTERS = 12
_SENTENCE_CHARACTERS = 1000


class Cited(Value):
    """One place where an outcome cites a memory; declared without a place, it has no sentence."""

    id: str
    sentence: str = ""


def citations(outcome: Outcome, served: Collection[str]) -> list[Cited]:
    """Return every citation of the answer and the findings, in the order of `without`, then those without a place."""
    found = [
        Cited(id=whole(match[1], served), sentence=_sentence(text, match.start()))
        for text in _texts(outcome)
        for match in CITED.finditer(text)
    ]
    placed = {cited.id for cited in found}
    return [*found, *(Cited(id=id_) for id_ in outcome.cited_memories if whole(id_, served) not in placed)]


def without(outcome: Outcome, cited: Sequence[Cited], bad: Collection[int]) -> Outcome:
    """Return the outcome without the citations at these positions; all others as `[mem:id]`, and as cited memories."""
    position = -1

    def put(match: re.Match[str]) -> str:
        nonlocal position
        position += 1
        return "" if position in bad else f"[mem:{cited[position].id}]"

    def kept(text: str) -> str:
        return CITED.sub(put, text).strip()

    answer = kept(outcome.answer)
    findings = [_finding(finding, kept) for finding in outcome.findings]
    good = dict.fromkeys(one.id for place, one in enumerate(cited) if place not in bad)
    return outcome.model_copy(update={"answer": answer, "findings": findings, "cited_memories": sorted(good)})


def question(
    cited: Sequence[Cited], served: Mapping[str, str], *, namespace: str, user: str
) -> dict[str, Any]:
    """Return what `memory.check` is asked; `served` are texts by id, "" where the text is not known whole."""
    return {
        "namespace": namespace,
        "user": user,
        "served": sorted(served),
        "citations": [
            {"id": one.id, "sentence": one.sentence, "text_hash": _hash(served.get(one.id, ""))}
            for one in cited
        ],
    }


def whole(id_: str, served: Collection[str]) -> str:
    """Return the served id that a cut one stands for: models shorten what is long."""
    if id_ in served or len(id_) < _CUT_ID:
        return id_
    fits = [known for known in served if known.startswith(id_)]
    return fits[0] if len(fits) == 1 else id_


def _finding(finding: Finding, kept: Callable[[str], str]) -> Finding:
    title = kept(finding.title)  # in the order of _texts
    return finding.model_copy(update={"title": title, "detail": kept(finding.detail)})


def _texts(outcome: Outcome) -> list[str]:
    return [outcome.answer, *(text for f in outcome.findings for text in (f.title, f.detail))]


def _sentence(text: str, place: int) -> str:
    """Return the sentence round a place without its citations, with the one before it where it says next to nothing."""
    start, end, before = 0, len(text), 0
    for gap in _SENTENCE_END.finditer(text):
        if gap.start() >= place and gap.end() > place:
            end = gap.start()
            break
        before, start = start, gap.end()
    sentence = CITED.sub(" ", text[start:end])
    if sum(c.isalpha() for c in sentence) < (_LETTERS if sentence.isascii() else _LETTERS // 3):
        sentence = CITED.sub(" ", text[before:end])
    # what is claimed stands about the citation, however long the sentence is
    at = max(0, min(place - start, len(sentence)) - _SENTENCE_CHARACTERS // 2)
    return " ".join(sentence[at : at + _SENTENCE_CHARACTERS].split())


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() if text else ""
