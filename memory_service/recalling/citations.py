"""Judges citations of memories by rule: served to the run, still valid, as it was told, and saying what is claimed."""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Collection
from datetime import datetime
from typing import Any, Literal

from pydantic import AwareDatetime, Field

from kernel import clock
from kernel.contracts import Value
from kernel.database import Database
from memory_service import lexical
from memory_service.asking import read
from memory_service.domain import Memory, Status
from memory_service.reading import by_ids

Verdict = Literal["ok", "unknown", "foreign", "stale", "unsupported"]

#: A sentence and a memory must share this part of the words of the shorter one: one of six, as a long sentence that
#: names the cause and nothing else of a memory does. Chosen on the wordings in the tests, not measured on models.
SUPPORT = 0.15
#: With fewer words of its own a sentence claims nothing ("As before [mem:…]").
_CLAIM = 2
#: An answer with more citations than this is no answer.
_MOST, _SENTENCE_CHARACTERS = 64, 2000

_ID = re.compile(r"[0-9a-f][0-9a-f\-]{7,35}")
_CJK = re.compile(r"[\u2e80-\u9fff\uac00-\ud7af\uf900-\ufaff]")
#: A name that is the same in every language: it has a digit or inner punctuation.
_NAME = re.compile(r"\d|\w[-_./:]\w")
_NUMBERED = re.compile(r"\d")
#: Words by which a citation is introduced; they say nothing about the memory.
_FILLER = frozenset(
    lexical.tokens(
        "memory recalled remembered recorded seen before earlier previous previously again last time learnt learned "
        "known same incident",
        query=True,
    )
)


#: The same in Chinese, where no blank tells such words from others: taken out before a sentence is split.
_FILLER_CJK = re.compile(
    "如[前上]所述|同[前上]|如前|前述|上[一]?次|之前|以前|此前|先前|曾经?|再次|相同|同样|一样|一致|类似|记忆|记录|记得|参[见考]|故障|事件"
    "|情况|这[次是]|本次|此次|也是如此|就?是这样"
)


class Citation(Value):
    """One citation: the id, sha256 of the text as it was served ("": not known), and the sentence that cites."""

    id: str
    text_hash: str = ""
    sentence: str = Field(default="", max_length=_SENTENCE_CHARACTERS)
    #: The moment that the memory was asked about, where it was not the present.
    as_of: AwareDatetime | None = None


class Checking(Value):
    """What is asked: may these be cited by a run of this namespace and user, to which `served` were served?"""

    namespace: str = "default"
    user: str = ""
    citations: list[Citation] = Field(max_length=_MOST)
    served: list[str] = []


class Judged(Value):
    """A verdict on one citation, and why where it is not ok."""

    id: str
    verdict: Verdict
    why: str = ""


class CitationCheck:
    """The use case: one SELECT, then rules."""

    def __init__(self, database: Database, *, now: Callable[[], datetime] = clock.now) -> None:
        self._database = database
        self._now = now

    def check(self, question: dict[str, Any]) -> list[dict[str, Any]]:
        """Return the verdicts in the order of the citations; see Checking for what is asked."""
        asked = read(Checking, question)
        ids = sorted({citation.id for citation in asked.citations if _ID.fullmatch(citation.id)})
        served = frozenset(asked.served)
        known = by_ids(self._database, sorted({*ids, *filter(_ID.fullmatch, served)}))
        services = {_service(known[id_]) for id_ in served if id_ in known} - {""}
        at = self._now()
        judged = [
            judge(c, known.get(c.id), asked, served=served, at=at, services=services) for c in asked.citations
        ]
        return [one.model_dump(mode="json") for one in judged]


def judge(
    citation: Citation,
    memory: Memory | None,
    asked: Checking,
    *,
    served: Collection[str],
    at: datetime,
    services: Collection[str] = (),
) -> Judged:
    """Return the verdict on one citation; `services` are those that the served memories are about.

    No such id, and the id of another namespace or user, are answered alike: nobody learns which ids exist.
    """

    def told(verdict: Verdict, why: str = "") -> Judged:
        return Judged(id=citation.id, verdict=verdict, why=why)

    own = memory is not None and memory.namespace == asked.namespace and memory.user in ("", asked.user)
    if memory is None or not own:
        return told("unknown", "there is no such memory")
    if citation.id not in served:
        if memory.status in (Status.deleted, Status.quarantined):
            return told("unknown", "there is no such memory")
        return told("foreign", "it was not served to this run")
    if why := _stale(citation, memory, at):
        return told("stale", why)
    if not supported(citation.sentence, _said(memory), services=services):
        return told("unsupported", "the sentence that cites it says nothing of what the memory says")
    return told("ok")


def _stale(citation: Citation, memory: Memory, at: datetime) -> str:
    """Return why a memory does not hold any more, or "".

    One that has left the index for the archive still holds: citing it brings it back.
    """
    if memory.status not in (Status.active, Status.archived):
        return "it was forgotten" if memory.status is Status.deleted else "it was withdrawn"
    about = citation.as_of or at
    if memory.expires_at is not None and memory.expires_at <= at.timestamp():
        return "it has expired"
    if not memory.begun(about, at) or (memory.valid_to is not None and memory.valid_to <= about):
        return "it is no longer true: something newer stands in its place"
    if citation.text_hash and citation.text_hash != text_hash(memory.text):
        return "its text has changed since it was served"
    return ""


def text_hash(text: str) -> str:
    """Return what tells one wording from another."""
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def _said(memory: Memory) -> str:
    """Return all that a reader was shown of a memory."""
    slots = (value for value in memory.slots.values() if isinstance(value, str))
    return " ".join([memory.text, memory.key, *slots])


def _service(memory: Memory) -> str:
    return str(memory.slots.get("service", ""))


def supported(sentence: str, memory: str, *, services: Collection[str] = ()) -> bool:
    """Tell whether a sentence has words or names of a memory; one that claims nothing needs none.

    Across languages only names can be the same: there a sentence without a name is believed. A name may be a plain
    word (`billing`): those in `services` are known to be names.
    """
    words = _words(sentence) - _FILLER
    if len(words) < _CLAIM:
        return True
    there = set(lexical.tokens(memory, query=True)) | set(lexical.tokens(memory, query=False))
    shared = words & there
    if _one_language(sentence, memory):
        return len(shared) >= max(1.0, SUPPORT * min(len(words), len(there)))
    known = {token for name in services for token in lexical.tokens(name, query=True)[:1]}
    names = {word for word in words if _NAME.search(word) or word in known}
    return not names or bool(names & there)


def _words(sentence: str) -> set[str]:
    """Return the words of a sentence; node-9 is one word, and no witness for what is said of node-7."""
    counts = Counter(lexical.tokens(_FILLER_CJK.sub(" ", sentence), query=True))
    for name in [word for word in counts if _NUMBERED.search(word)]:
        for piece in set(lexical.tokens(name, query=True)) - {name}:
            counts[piece] -= counts[name]
    return {word for word, count in counts.items() if count > 0}


def _one_language(sentence: str, memory: str) -> bool:
    """Tell whether words of the one can be in the other; a CJK text with a Latin name in it is no Latin text."""
    ours, theirs = bool(_CJK.search(sentence)), bool(_CJK.search(memory))
    if ours == theirs:
        return ours or lexical.share_script(sentence, memory)
    return False
