"""Where a miner finds the template of tokens, and when templates prove to be one: pure, over the miner's list."""

from __future__ import annotations

from collections.abc import Iterable

from agents.log_analysis.mining.settling import WORDS, variable
from agents.log_analysis.mining.templates import Template
from agents.log_analysis.mining.variation import MEMBERS, looks_like_value, varied
from agents.log_analysis.mining.words import WILD

#: So many words seen at one place of otherwise equal lines make that place a variable. Fewer are kept apart:
#: `VM started` and `VM stopped` are two events, forty user names are one.
DISTINCT_LIMIT = 5
#: The first word names who or what speaks (`cupsd startup succeeded`): it takes more of them to be a variable.
FIRST_DISTINCT_LIMIT = 20

#: So many lines of one length, group and first word may stand apart before similar ones are merged; so many are
#: compared. It is for several variables at once; a log that is merely rich has its lines begin in many ways.
CROWDED = 40
_COMPARED = 80
SIMILARITY = 0.6

Key = tuple[str, tuple[str, ...]]


class Index:
    """Finds templates by their tokens; merges those that differ in a variable. It changes the list it is given."""

    def __init__(self, templates: list[Template]) -> None:
        self._templates = templates
        self.exact: dict[Key, int] = {}
        self._wild: dict[tuple[str, int, str], list[int]] = {}
        self._places: dict[int, list[int]] = {}
        self._buckets: dict[tuple[str, int, str], list[int]] = {}
        #: Those that begin with what looks like a value: their first word need not be the same.
        self._named: dict[tuple[str, int], list[int]] = {}

    def __len__(self) -> int:
        return len(self.exact) + len(self._places) + sum(map(len, self._buckets.values()))

    def final(self, number: int) -> int:
        """Return the id that a template lives under after merges."""
        while (alias := self._templates[number].alias) >= 0:
            number = alias
        return number

    def find(self, group: str, tokens: tuple[str, ...]) -> int | None:
        """Return the live template that the tokens belong to."""
        known = self.exact.get((group, tokens))
        if known is not None:
            return self.final(known)
        for first in (tokens[:1] or ("",))[0], WILD:
            for number in self._wild.get((group, len(tokens), first), ()):
                template = self._templates[number]
                if template.alias < 0 and _fits(template.tokens, tokens):
                    return number
        return None

    def file(self, number: int) -> list[tuple[int, list[int]]]:
        """Make a live template findable; return, by place, the templates that differ from it there alone."""
        template = self._templates[number]
        group, tokens = template.group, template.tokens
        self.exact[group.partition("/")[0], tokens] = self.exact[group, tokens] = number
        first = tokens[0] if tokens else ""
        self._buckets.setdefault((group, len(tokens), first), []).append(number)
        if looks_like_value(tokens, 0):
            self._named.setdefault((group, len(tokens)), []).append(number)
        if template.merged:  # values found by masking match exactly; only merged places need a search
            self._wild.setdefault((group, len(tokens), first), []).append(number)
        if len(tokens) <= 1:
            return []
        # of text, for hashes of small tuples differ by much the same at every place: swapped words would collide
        hashes = [hash(f"{place} {token}") for place, token in enumerate(tokens)]
        whole = hash((group, len(tokens))) + sum(hashes)
        found = []
        for place, own in enumerate(hashes):
            like = self._places.get(whole - own)
            if like is None:
                self._places[whole - own] = [number]
            else:
                like.append(number)
                found.append((place, like))
        return found

    def add(self, number: int) -> None:
        """File a new template, and merge it with its like where a place has proved to be a variable."""
        tokens = self._templates[number].tokens
        for place, like in self.file(number):
            members = self._values(tokens[place], place, like)
            words = [n for n in like if _may_vary(self._templates[n].tokens[place])]
            if not members and len(words) >= (DISTINCT_LIMIT if place else FIRST_DISTINCT_LIMIT):
                members = words
            if members:
                self.unite([number, *members], (*tokens[:place], WILD, *tokens[place + 1 :]))
                keep = self.final(number)
                self.swallow(keep, self._templates[keep].tokens)
                return
        if not self._unite_varied(number):
            self._unite_similar(number)

    def _values(self, mine: str, place: int, like: list[int]) -> list[int]:
        """Return the names that are values here, for one of the templates has a value at their place.

        A host or file name beside values is a value too; a word of letters alone may be a word of the message.
        """
        if mine != WILD and mine.isalpha():
            return []
        words = {n: word for n in like if not (word := self._templates[n].tokens[place]).isalpha()}
        forms = {form for word in words.values() for form in _forms(word)}
        known = forms.intersection(words.values())
        if len(words) == 1 or not known:
            return []
        return [n for n, word in words.items() if word in known or not known.isdisjoint(_forms(word))]

    def swallow(self, number: int, tokens: tuple[str, ...]) -> None:
        """Merge into a template all others that its tokens, got from elsewhere, fit."""
        group, length = self._templates[number].group, len(tokens)
        places = [(group, length, tokens[0] if tokens else ""), (group, length, WILD)]
        if tokens and tokens[0] == WILD:
            places = [place for place in self._buckets if place[:2] == (group, length)]
        members = [
            other
            for place in places
            for other in self._buckets.get(place, ())
            if self._templates[other].alias < 0 and _fits(tokens, self._templates[other].tokens)
        ]
        self.unite([*members, number], tokens)

    def _unite_varied(self, number: int) -> bool:
        """Merge a template with those that differ from it in the same few places; return whether there were such."""
        group, tokens = self._templates[number].group, self._templates[number].tokens
        bucket = self._buckets[group, len(tokens), tokens[0] if tokens else ""]
        if looks_like_value(tokens, 0):
            bucket = self._named[group, len(tokens)]
        near = [n for n in bucket[-_COMPARED:] if n != number and self._templates[n].alias < 0]
        found = (
            varied(tokens, {n: self._templates[n].tokens for n in near}) if len(near) + 1 >= MEMBERS else None
        )
        if found is None:
            return False
        places = found.places
        self.unite(
            [number, *found.members], tuple(WILD if i in places else token for i, token in enumerate(tokens))
        )
        keep = self.final(number)
        self.swallow(keep, self._templates[keep].tokens)
        return True

    def _unite_similar(self, number: int) -> None:
        template = self._templates[number]
        tokens = template.tokens
        bucket = self._buckets[template.group, len(tokens), tokens[0] if tokens else ""]
        if len(bucket) <= CROWDED:
            return
        best, score = -1, SIMILARITY
        for other in bucket[-_COMPARED:]:
            theirs = self._templates[other]
            if other == number or theirs.alias >= 0:
                continue
            alike = sum(a == b for a, b in zip(theirs.tokens, tokens, strict=True)) / len(tokens)
            if alike > score:
                best, score = other, alike
        if best >= 0:
            self.unite([best, number], tokens)
            keep = self.final(number)
            self.swallow(keep, self._templates[keep].tokens)

    def settle(self) -> None:
        """Merge rare templates without a group that differ in a name alone."""
        for like in [numbers for numbers in self._places.values() if len(numbers) >= WORDS]:
            live = sorted({n for n in like if self._templates[n].alias < 0})
            if live and not self._templates[live[0]].group:
                tokens = variable([self._templates[n] for n in live])
                if tokens:
                    self.unite(live, tokens)

    def unite(self, members: Iterable[int], tokens: tuple[str, ...]) -> None:
        """Merge templates into the oldest of them, which takes the new tokens and what they had widened so far."""
        live = {self.final(number) for number in members}
        group = self._templates[min(live)].group
        while True:
            for number in live:
                tokens = _wider(tokens, self._templates[number].tokens)
            known = self.exact.get((group, tokens))
            if known is None or self.final(known) in live:
                break
            live.add(self.final(known))
        keep, *others = sorted(live)
        template = self._templates[keep]
        before = (group, len(tokens), template.tokens[0] if tokens else "")
        template.widen_to(tokens)
        for number in others:
            template.absorb(self._templates[number])
            self._templates[number].alias = keep
            self._templates[number].values = {}
        self.exact[group, tokens] = keep
        first = (group, len(tokens), tokens[0] if tokens else "")
        for place in {before, first}:
            self._buckets[place] = self._alive(self._buckets.get(place, ()), keep)
            self._wild[place] = self._alive(self._wild.get(place, ()), keep)
        self._buckets[first].append(keep)
        self._wild[first].append(keep)

    def _alive(self, numbers: Iterable[int], but: int) -> list[int]:
        return [n for n in numbers if n != but and self._templates[n].alias < 0]


def _forms(token: str) -> list[str]:
    """Return how a word would read as a value: `mode=fast,` as `<*>` and as `mode=<*>,`."""
    sign = max(token.find("="), token.find("(")) + 1
    end = len(token.rstrip(",;:.)" if token[sign - 1 : sign] == "(" else ",;:."))
    return [WILD, token[:sign] + WILD + token[end:]] if sign and WILD not in token[:sign] else [WILD]


def _wider(one: tuple[str, ...], two: tuple[str, ...]) -> tuple[str, ...]:
    return one if one == two else tuple(a if a == b else WILD for a, b in zip(one, two, strict=True))


def _may_vary(token: str) -> bool:
    return token != WILD and any(c.isalpha() for c in token)


def _fits(template: tuple[str, ...], tokens: tuple[str, ...]) -> bool:
    return all(a in (b, WILD) for a, b in zip(template, tokens, strict=True))
