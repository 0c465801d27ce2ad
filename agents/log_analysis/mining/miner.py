"""Our streaming template miner: exact masked lines first, merged where one place takes many values."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from agents.log_analysis.mining.index import DISTINCT_LIMIT, Index
from agents.log_analysis.mining.masking import WILD, Masked, Masker, words_of
from agents.log_analysis.mining.parameters import Parameter, Values
from agents.log_analysis.mining.states import dumped, loaded
from agents.log_analysis.mining.templates import PLACES, Template
from agents.log_analysis.mining.words import BLANK

__all__ = ["DISTINCT_LIMIT", "TEMPLATE_LIMIT", "Miner", "Template"]

#: Above this the log is not made of templates; what comes is filed by length and first word, then by length alone.
TEMPLATE_LIMIT = 5_000
_FIRST_WORDS = 500
#: Summaries of values a miner keeps in all, about 1 kB each; later templates go without.
VALUES_LIMIT = 12_000

_MESSAGE_MEMO_LIMIT = 20_000
_MEMO_CHARACTERS = 4_000_000
#: Masking asks where numbers are and never which: messages that differ in them alone are one shape.
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_HASHES = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*")

#: What is known of a shape: its template, the words whose digits are shown, how they read, and where tokens start.
_Known = tuple[int, tuple[int, ...], list[str], tuple[int, ...]]


def _no_part(_group: str, _message: str) -> str:
    return ""


def _shape(message: str) -> bytes:
    """Return the message with every number as 0: a third of the cost of a pattern, and this is done for each line.

    Very long numbers become 00 or more, which only makes them shapes of their own.
    """
    digits = message.encode("utf-8", "surrogatepass").translate(_DIGITS)
    return digits.replace(b"0000", b"0").replace(b"00", b"0").replace(b"00", b"0")


class Miner:
    """Assigns a template id to each message.

    `group` keeps kinds apart that must never merge; `refine` may split a group by what a message says and
    is asked only about messages of a shape not seen before.
    """

    def __init__(self, refine: Callable[[str, str], str] = _no_part) -> None:
        self._refine = refine
        self.templates: list[Template] = []
        self._masker = Masker()
        self._messages: dict[tuple[str, bytes], _Known] = {}
        self._characters = 0
        self._index = Index(self.templates)
        self._unfiled = False
        self._first_words = 0
        self._values = 0

    def add(self, message: str, group: str = "") -> int:
        """Return the id of the message's template; ids may be merged later, see `final`."""
        shape = (group, _shape(message))
        known = self._messages.get(shape)
        if known is None and (bare := _HASHES.sub("0", message)) != message:
            shape = (group, _shape(bare))
            known = self._messages.get(shape)
        if known is None or (known[1] and self._reads_otherwise(known, message)):
            return self._new(shape, message)
        number = known[0]
        template = self.templates[number]
        if template.alias >= 0:
            number = self.final(number)
            template = self.templates[number]
        template.count += 1
        if template.count >= template.next_look:
            template.look(words_of(message), known[3])
        return number

    def telling(self, message: str, group: str = "") -> list[str]:
        """Return the words of a message that was just added whose digits tell its template; others' never do."""
        shape = (group, _shape(message))
        known = self._messages.get(shape)
        if known is None:
            known = self._messages.get((group, _shape(_HASHES.sub("0", message))))
        words = words_of(message)
        return (
            [words[place].replace(BLANK, " ") for place in known[1]]
            if known
            else [w for w in words if any(c.isdigit() for c in w)]
        )

    def final(self, template: int) -> int:
        """Return the id that a template lives under after merges."""
        while (alias := self.templates[template].alias) >= 0:
            template = alias
        return template

    def live(self) -> list[int]:
        """Return the ids that were not merged away."""
        return [i for i, t in enumerate(self.templates) if t.alias < 0]

    def parameters(self, template: int) -> list[Parameter]:
        """Return what is known of the values of a template's wildcards, in their order; empty where none is kept."""
        return self.templates[self.final(template)].parameters()

    def sizes(self) -> dict[str, int]:
        """Return how much of each thing is held; all of it is bounded, however many lines come."""
        return {
            "templates": len(self.templates),
            "shapes": len(self._messages),
            "words": len(self._masker),
            "values": self._values,
            "entries": len(self._index),
        }

    def merge(self, other: Miner) -> dict[int, int]:
        """Take in what another miner saw (another file, another worker); return its ids as ours.

        What it saw counts as later than what this one saw. Ids of this miner stay; some may be merged.
        """
        self._file_all()
        moved = {}
        # what is merged goes first, so that single lines find the variable that they belong to
        for number in sorted(other.live(), key=lambda n: not other.templates[n].merged):
            theirs = other.templates[number]
            ours = self._place(theirs.group, theirs.tokens, theirs.shown)
            if theirs.merged:
                self._index.swallow(ours, theirs.tokens)
                ours = self.final(ours)
            self.templates[ours].absorb(theirs)
            moved[number] = ours
        return {n: self.final(moved[other.final(n)]) for n in range(len(other.templates))}

    def settle(self) -> None:
        """Merge what came about once each and differs in a name alone; for the end of a log, when all is known.

        What has a group (errors, say) stays as it is: two rare failures must not become one.
        """
        self._file_all()
        self._index.settle()

    def state(self) -> dict[str, Any]:
        """Return everything needed to go on later, as plain JSON."""
        return dumped(self.templates)

    @classmethod
    def from_state(cls, state: dict[str, Any], refine: Callable[[str, str], str] = _no_part) -> Miner:
        """Return a miner that goes on where `state` was taken; give it the same `refine`."""
        miner = cls(refine)
        miner.templates += loaded(state)
        miner._values = sum(len(t.values) for t in miner.templates)
        miner._unfiled = True
        return miner

    def _reads_otherwise(self, known: _Known, message: str) -> bool:
        words = words_of(message)
        if len(words) <= known[1][-1]:
            return True  # a quoted value just short enough to be one word
        fine = self._masker.fine
        return [fine(words[place]) for place in known[1]] != known[2]

    def _new(self, shape: tuple[str, bytes], message: str) -> int:
        """Find or make the template of a message whose shape is not known, and remember the shape."""
        masked = self._masker.masked(message)
        number = self._match(shape[0], masked, message)
        template = self.templates[number]
        template.count += 1
        if template.count >= template.next_look:
            template.look(masked.words, masked.starts)
        if len(self._messages) > _MESSAGE_MEMO_LIMIT or self._characters > _MEMO_CHARACTERS:
            self._messages.clear()
            self._characters = 0
        places = masked.literal(template.shown)
        fine = self._masker.fine
        self._messages[shape] = (
            number,
            places,
            [fine(masked.words[place]) for place in places],
            masked.starts,
        )
        self._characters += len(message)
        return number

    def _match(self, group: str, masked: Masked, message: str) -> int:
        """Return the live template of a message."""
        if self._unfiled:
            self._file_all()
        known = self._index.exact.get((group, masked.keys))
        if known is not None:
            number = self.final(known)
            self.templates[number].widen(masked.shown)
            return number
        part = self._refine(group, message)
        fine = f"{group}/{part}" if part else group
        return self._place(fine, masked.keys, masked.shown)

    def _place(self, group: str, tokens: tuple[str, ...], shown: tuple[str, ...]) -> int:
        """Return the live template for tokens of a group as refined, new where none fits."""
        number = self._index.find(group, tokens)
        if number is None and len(self.templates) >= TEMPLATE_LIMIT:
            tokens = shown = self._catch_all(group, tokens)
            number = self._index.find(group, tokens)
            self._first_words += number is None
        if number is None:
            number = len(self.templates)
            self.templates.append(self._made(group, tokens, shown))
            self._index.add(number)
            return self.final(number)
        self.templates[number].widen(shown)
        return number

    def _catch_all(self, group: str, tokens: tuple[str, ...]) -> tuple[str, ...]:
        """Return the tokens of a drawer for what comes after the limit."""
        rest = (WILD,) * (len(tokens) - 1)
        if tokens and (self._first_words < _FIRST_WORDS or (group, (tokens[0], *rest)) in self._index.exact):
            return (tokens[0], *rest)
        return (WILD, *rest) if tokens else ()

    def _made(self, group: str, tokens: tuple[str, ...], shown: tuple[str, ...]) -> Template:
        template = Template(group, tokens, shown)
        for place in [i for i, token in enumerate(tokens) if WILD in token][:PLACES]:
            if self._values < VALUES_LIMIT:
                self._values += 1
                template.values[place] = Values()
        return template

    def _file_all(self) -> None:
        if self._unfiled:
            self._unfiled = False
            for number in self.live():
                self._index.file(number)
