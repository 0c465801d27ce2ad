"""What a memory is: its values, and the rules by which a key is upserted."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Literal

from pydantic import AwareDatetime, Field

from kernel.contracts import Value
from kernel.errors import Correctable

Kind = Literal["fact", "preference", "episode", "procedure", "summary"]
Owner = Literal["user", "agent"]
SourceKind = Literal["user", "run", "log", "alert", "tool", "agent"]

#: How far a source is believed (reference: memory.md, 4.8); weights to tune, not facts.
TRUST: dict[SourceKind, float] = {
    "user": 0.9,
    "run": 0.8,
    "tool": 0.8,
    "agent": 0.5,
    "log": 0.2,
    "alert": 0.2,
}
#: Half-lives in days: what changes soon fades soon; tastes outlast incidents.
HALF_LIFE_DAYS: dict[Kind, float] = {
    "fact": 180,
    "preference": 365,
    "episode": 30,
    "procedure": 120,
    "summary": 60,
}
#: A namespace, user or key longer than this is a mistake.
NAME_MAX = 200
#: Words of the longest key that a question is searched for.
KEY_WORDS = 6


class Status(StrEnum):
    """Where a memory stands; only active ones are in the index."""

    active = "active"
    archived = "archived"
    quarantined = "quarantined"
    deleted = "deleted"


class Candidate(Value):
    """Something that may become a memory; `user` is empty where the whole namespace may see it."""

    namespace: str
    user: str = ""
    owner: Owner = "user"
    kind: Kind
    text: str
    key: str = ""
    tags: list[str] = []
    slots: dict[str, Any] = {}
    importance: float = Field(ge=0, le=1)
    emotion: float = Field(default=0, ge=0, le=1)
    source_kind: SourceKind
    source_ref: str = ""
    #: The session it was told in, "" where there is none.
    session: str = ""
    #: Words beside the text (neighbouring turns, resolved dates): indexed with it, never shown.
    context: str = ""
    #: Ids of the memories it was made of: it is forgotten with any of them.
    made_from: list[str] = []
    #: True where part of the text was copied from a log, an alert or a tool.
    quotes_untrusted: bool = False
    half_life_days: float | None = Field(default=None, gt=0)
    #: From when on it is true, where that is not the moment it is told.
    valid_from: AwareDatetime | None = None
    valid_to: AwareDatetime | None = None
    expires_at: AwareDatetime | None = None

    @property
    def trust(self) -> float:
        """Return how far the source is believed."""
        return TRUST[self.source_kind]

    @property
    def half_life_seconds(self) -> float:
        """Return after how long without use half of the strength is gone."""
        return (self.half_life_days or HALF_LIFE_DAYS[self.kind]) * 86_400

    @property
    def key_hash(self) -> str:
        """Return what is unique among live memories of one namespace, user and kind."""
        return key_hash(self.key) if self.key else _hash(f"text:{normal(self.text)}")

    @property
    def content_hash(self) -> str:
        """Return the hash of the text, the same for texts that differ in case, width or spacing only."""
        return content_hash(self.text)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """A stored memory as the rest of the service sees it; `rev` grows with every change."""

    pk: int
    id: str
    namespace: str
    user: str
    kind: Kind
    key: str
    text: str
    context: str = ""
    slots: dict[str, Any] = field(default_factory=dict)
    tags: list[str] = field(default_factory=list)
    source_kind: SourceKind = "user"
    source_ref: str = ""
    trust: float
    content_hash: str
    valid_from: datetime
    valid_to: datetime | None = None
    recorded_at: datetime
    status: Status
    rev: int
    importance: float
    weight: int
    half_life_s: float
    last_access_at: float
    expires_at: float | None = None

    @property
    def said(self) -> str:
        """Return all that it says, in one text."""
        return "\n".join((self.text, self.key, self.context, str(self.slots), " ".join(self.tags)))

    def visible(self, namespace: str, user: str, as_of: datetime, now: datetime) -> bool:
        """Return whether this memory may be served to `user` of `namespace` about the moment `as_of`."""
        return (
            self.namespace == namespace
            and self.user in ("", user)
            and self.status is Status.active
            and self.begun(as_of, now)
            and (self.valid_to is None or as_of < self.valid_to)
            and (self.expires_at is None or now.timestamp() < self.expires_at)
        )

    def begun(self, as_of: datetime, now: datetime) -> bool:
        """Return whether it is true yet at `as_of`; at present so is what was told while the clock was ahead."""
        return self.valid_from <= (max(as_of, self.recorded_at) if as_of >= now else as_of)


def normal(text: str) -> str:
    """Return the text without differences of case, width, spacing and closing punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return " ".join(folded.split()).strip(" .。!！,，;；")


def content_hash(text: str) -> str:
    """Return sha256 of the normal form of a text."""
    return _hash(normal(text))


def key_hash(key: str) -> str:
    """Return sha256 of the normal form of a key, without its article."""
    return _hash(f"key:{_ARTICLE.sub('', normal(key))}")


_ARTICLE = re.compile(r"^(the|a|an|our|my) ")


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()


def check_name(what: str, value: str, *, empty: bool = False) -> str:
    """Return the name, or raise Correctable; every character is literal, control characters are refused."""
    if (
        (not value and not empty)
        or len(value) > NAME_MAX
        or any(unicodedata.category(c) in _CONTROL for c in value)
    ):
        raise Correctable(
            f"{what} is no usable name",
            why="it is empty, too long, or holds control characters",
            next_step=f"Use 1 to {NAME_MAX} printable characters.",
        )
    return value


_CONTROL = {"Cc", "Cs"}


def question_keys(text: str) -> list[str]:
    """Return the hashes of all keys that a question may be naming, longest first."""
    words = re.sub(r"[?？!！.。,，]+(?=\s|$)", " ", normal(text)).split()
    spans = [
        " ".join(words[start : start + length])
        for length in range(min(KEY_WORDS, len(words)), 0, -1)
        for start in range(len(words) - length + 1)
    ]
    return list(dict.fromkeys(key_hash(span) for span in [normal(text), *spans]))


Upsert = Literal["insert", "touch", "supersede", "history"]


def decide(existing: Memory | None, candidate: Candidate, at: datetime) -> Upsert:
    """Return what a candidate does to the live memory of its key, whatever the kind.

    `touch`: it was said again. `supersede`: the newer of equal trust wins, the old value is closed and kept.
    `history`: kept beside what holds, because the less trusted never overwrites the more trusted, and because
    what was true before, or for a time that is over, does not change what is true now. Where what is known was written
    later than now, the clock has been set back since, and tells nothing of which was before.
    """
    if existing is None:
        return "insert"
    if existing.content_hash == candidate.content_hash or _same_remedy(existing, candidate):
        return "touch"
    since = candidate.valid_from or at
    over = candidate.valid_to is not None and candidate.valid_to <= at
    before = since < existing.valid_from and existing.recorded_at <= at
    if candidate.trust < existing.trust or before or over:
        return "history"
    return "supersede"


def _same_remedy(existing: Memory, candidate: Candidate) -> bool:
    """Return whether a procedure is confirmed: then its first telling stays, whatever was asked this time."""
    told, known = candidate.slots, existing.slots
    return (
        candidate.kind == "procedure"
        and bool(told.get("action"))
        and all(told.get(name) == known.get(name) for name in ("action", "parameters"))
    )
