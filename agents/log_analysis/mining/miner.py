"""Our streaming template miner: exact masked lines first, merged where one place takes many values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from agents.log_analysis.mining.masking import WILD, Masker

#: So many words seen at one place of otherwise equal lines make that place a variable. Fewer are kept apart:
#: `VM started` and `VM stopped` are two events, forty user names are one.
DISTINCT_LIMIT = 5

#: A bucket (lines of one length and group) may hold so many templates before similar ones are merged.
CROWDED = 40
SIMILARITY = 0.6

#: Above this the log is not made of templates; what comes is filed by length and first word alone.
TEMPLATE_LIMIT = 5_000

_MESSAGE_MEMO_LIMIT = 20_000
#: Masking asks where digits are and never which: messages that differ in digits alone are one shape.
_DIGITS = str.maketrans("123456789", "000000000")

Key = tuple[str, tuple[str, ...]]


@dataclass
class Template:
    """One kind of line; `alias` points to the template it was merged into."""

    group: str
    tokens: tuple[str, ...]
    count: int = 0
    alias: int = -1
    merged: bool = False

    def text(self) -> str:
        """Return the template as one line."""
        return " ".join(self.tokens)


class Miner:
    """Assigns a template id to each message.

    `group` keeps kinds apart that must never merge; `refine` may split a group by what a message says and
    is asked only about messages of a shape not seen before.
    """

    def __init__(self, refine: Callable[[str, str], str] = lambda _group, _message: "") -> None:
        self._refine = refine
        self.templates: list[Template] = []
        self._masker = Masker()
        self._messages: dict[tuple[str, str], int] = {}
        self._exact: dict[Key, int] = {}
        self._wild: dict[tuple[str, int], list[int]] = {}
        self._places: dict[int, list[int]] = {}
        self._buckets: dict[tuple[str, int], list[int]] = {}

    def add(self, message: str, group: str = "") -> int:
        """Return the id of the message's template; ids may be merged later, see `final`."""
        shape = (group, message.translate(_DIGITS))
        known = self._messages.get(shape)
        if known is None:
            known = self._match(group, self._masker.tokens(message), message)
            if len(self._messages) > _MESSAGE_MEMO_LIMIT:
                self._messages.clear()
            self._messages[shape] = known
        known = self.final(known)
        self.templates[known].count += 1
        return known

    def final(self, template: int) -> int:
        """Return the id that a template lives under after merges."""
        while (alias := self.templates[template].alias) >= 0:
            template = alias
        return template

    def live(self) -> list[int]:
        """Return the ids that were not merged away."""
        return [i for i, t in enumerate(self.templates) if t.alias < 0]

    def merge(self, other: Miner) -> dict[int, int]:
        """Take in what another miner saw (another file, another worker); return its ids as ours."""
        moved = {}
        for number in other.live():
            theirs = other.templates[number]
            ours = self.final(self._match(theirs.group.partition("/")[0], theirs.tokens, theirs.text()))
            self.templates[ours].count += theirs.count
            moved[number] = ours
        return {n: self.final(moved[other.final(n)]) for n in range(len(other.templates))}

    def state(self) -> dict[str, Any]:
        """Return everything needed to go on later, as plain JSON."""
        rows = [[t.group, list(t.tokens), t.count, t.alias, t.merged] for t in self.templates]
        return {"version": 1, "templates": rows}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Miner:
        """Return a miner that goes on where `state` was taken."""
        miner = cls()
        for group, tokens, count, alias, merged in state["templates"]:
            number = miner._store(group, tuple(tokens))
            template = miner.templates[number]
            template.count, template.alias, template.merged = count, alias, merged
        for number in miner.live():
            miner._index(number)
        return miner

    def _match(self, group: str, tokens: tuple[str, ...], message: str) -> int:
        known = self._exact.get((group, tokens))
        if known is not None:
            return self.final(known)
        part = self._refine(group, message)
        fine = f"{group}/{part}" if part else group
        for number in self._wild.get((fine, len(tokens)), ()):
            template = self.templates[number]
            if template.alias < 0 and _fits(template.tokens, tokens):
                return number
        if len(self.templates) >= TEMPLATE_LIMIT:
            tokens = (tokens[0] if tokens else "", *[WILD] * (len(tokens) - 1))
            if (known := self._exact.get((fine, tokens))) is not None:
                return self.final(known)
        number = self._store(fine, tokens)
        self._index(number)
        return self.final(number)

    def _store(self, group: str, tokens: tuple[str, ...]) -> int:
        number = len(self.templates)
        self.templates.append(Template(group, tokens))
        self._exact[group.partition("/")[0], tokens] = self._exact[group, tokens] = number
        return number

    def _index(self, number: int) -> None:
        """File a new template, and merge it with its like where a place has proved to be a variable."""
        template = self.templates[number]
        group, tokens = template.group, template.tokens
        bucket = self._buckets.setdefault((group, len(tokens)), [])
        bucket.append(number)
        if template.merged:  # values found by masking match exactly; only merged places need a search
            self._wild.setdefault((group, len(tokens)), []).append(number)
        for place, token in enumerate(tokens):
            if not _may_vary(token):
                continue
            if not token.isalpha():  # a host or file name beside values at the same place is a value too
                twin = (*tokens[:place], WILD, *tokens[place + 1 :])
                if (group, twin) in self._exact:
                    self._unite([self._exact[group, twin], number], twin)
                    return
            key = hash((group, place, tokens[:place], tokens[place + 1 :]))
            like = self._places.setdefault(key, [])
            like.append(number)
            if len(like) >= DISTINCT_LIMIT:
                self._unite(like, (*tokens[:place], WILD, *tokens[place + 1 :]))
                return
        if len(bucket) > CROWDED:
            self._unite_similar(number, bucket)

    def _unite_similar(self, number: int, bucket: list[int]) -> None:
        tokens = self.templates[number].tokens
        best, score = -1, SIMILARITY
        for other in bucket:
            template = self.templates[other]
            if other == number or template.alias >= 0 or template.tokens[:1] != tokens[:1]:
                continue
            alike = sum(a == b for a, b in zip(template.tokens, tokens, strict=True)) / len(tokens)
            if alike > score:
                best, score = other, alike
        if best >= 0:
            pairs = zip(self.templates[best].tokens, tokens, strict=True)
            self._unite([best, number], tuple(a if a == b else WILD for a, b in pairs))

    def _unite(self, members: Iterable[int], tokens: tuple[str, ...]) -> None:
        """Merge templates into the oldest of them, which takes the new tokens."""
        live = sorted({self.final(n) for n in members})
        keep, group = live[0], self.templates[live[0]].group
        for number in live[1:]:
            self.templates[keep].count += self.templates[number].count
            self.templates[number].alias = keep
        self.templates[keep].tokens, self.templates[keep].merged = tokens, True
        known = self._exact.get((group, tokens))
        self._exact[group, tokens] = keep
        if known is not None and self.final(known) != keep:
            self.templates[keep].count += self.templates[self.final(known)].count
            self.templates[self.final(known)].alias = keep
        bucket = self._buckets[group, len(tokens)]
        bucket[:] = [n for n in bucket if self.templates[n].alias < 0]
        wild = self._wild.setdefault((group, len(tokens)), [])
        wild[:] = [n for n in wild if self.templates[n].alias < 0 and n != keep]
        wild.append(keep)


def _may_vary(token: str) -> bool:
    return token != WILD and any(c.isalpha() for c in token)


def _fits(template: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    return all(a in (b, WILD) for a, b in zip(template, tokens, strict=True))
