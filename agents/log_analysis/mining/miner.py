"""Our streaming template miner: exact masked lines first, merged where one place takes many values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from agents.log_analysis.mining.index import DISTINCT_LIMIT, Index
from agents.log_analysis.mining.journal import Journal
from agents.log_analysis.mining.masking import WILD, Masked, Masker, words_of
from agents.log_analysis.mining.outlines import outline, unhashed
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

#: A template's first lines are told to whom it is merged with, for it may not have been merged there so soon.
_EARLY = 64

_MESSAGE_MEMO_LIMIT = 20_000
_MEMO_CHARACTERS = 4_000_000
#: What is known of a shape: its template, the words whose digits are shown, how they read, and where tokens start.
_Known = tuple[int, tuple[int, ...], list[str], tuple[int, ...]]


class Miner:
    """Assigns a template id to each message.

    `group` keeps kinds apart that must never merge; `refine` may split a group by what a message says and
    is asked only about messages of a shape not seen before.
    """

    def __init__(self, refine: Callable[[str, str], str] = lambda _group, _message: "") -> None:
        self._refine = refine
        self.templates: list[Template] = []
        self._masker = Masker()
        self._messages: dict[tuple[str, bytes], _Known] = {}
        self._characters = 0
        self._index = Index(self.templates)
        self._journal = Journal()
        self._unfiled = False
        self._first_words = 0
        self._values = 0

    def add(self, message: str, group: str = "") -> int:
        """Return the id of the message's template; ids may be merged later, see `final`."""
        shape = (group, outline(message))
        known = self._messages.get(shape)
        if known is None and (bare := unhashed(message)) != message:
            shape = (group, outline(bare))
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
        shape = (group, outline(message))
        known = self._messages.get(shape)
        if known is None:
            known = self._messages.get((group, outline(unhashed(message))))
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

        What it saw counts as later than what this one saw: the templates are those of one pass over both.
        Ids of this miner stay; some may be merged.
        """
        self._file_all()
        moved: dict[int, int] = {}
        for number, group, tokens, shown in other._journal:
            ours = self._known(group.partition("/")[0], tokens, shown)
            ours = self._place(group, tokens, shown) if ours is None else ours
            moved.setdefault(number, ours)
        for number in other.live():
            theirs = other.templates[number]
            same = self._index.find(theirs.group, theirs.tokens) if theirs.merged else None
            if same is not None or number not in moved:  # most of its lines came after it had been merged
                moved[number] = self._adopted(theirs) if same is None else same
            self.templates[self.final(moved[number])].absorb(theirs, read=not other._journal.whole)
        return {
            n: self.final(moved[n if n in moved else other.final(n)]) for n in range(len(other.templates))
        }

    def _adopted(self, theirs: Template) -> int:
        """Return our template for one of which no line is known."""
        ours = self._place(theirs.group, theirs.tokens, theirs.shown)
        if theirs.merged:
            self._index.swallow(ours, theirs.tokens)
        return self.final(ours)

    def settle(self) -> None:
        """Merge what came about once each and differs in a name alone; for the end of a log, when all is known.

        What has a group (errors, say) stays as it is: two rare failures must not become one.
        """
        self._file_all()
        self._index.settle()

    def state(self) -> dict[str, Any]:
        """Return everything needed to go on later, as plain JSON."""
        return {**dumped(self.templates), "journal": self._journal.state()}

    @classmethod
    def from_state(
        cls, state: dict[str, Any], refine: Callable[[str, str], str] = lambda _group, _message: ""
    ) -> Miner:
        """Return a miner that goes on where `state` was taken; give it the same `refine`."""
        miner = cls(refine)
        miner.templates += loaded(state)
        miner._journal = Journal.from_state(state.get("journal"))
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
        number = self._known(group, masked.keys, masked.shown)
        if number is not None:
            return number
        part = self._refine(group, message)
        fine = f"{group}/{part}" if part else group
        return self._place(fine, masked.keys, masked.shown)

    def _known(self, group: str, tokens: tuple[str, ...], shown: tuple[str, ...]) -> int | None:
        """Return the live template that has exactly these tokens, whatever `refine` would say."""
        known = self._index.exact.get((group, tokens))
        if known is None:
            return None
        number = self.final(known)
        if self.templates[number].widen(shown):
            self._journal.note(number, group, tokens, shown)
        return number

    def _place(self, group: str, tokens: tuple[str, ...], shown: tuple[str, ...]) -> int:
        """Return the live template for tokens of a group as refined, new where none fits."""
        line = (group, tokens, shown)
        number = self._index.find(group, tokens)
        if number is None and len(self.templates) >= TEMPLATE_LIMIT:
            tokens = shown = self._catch_all(group, tokens)
            number = self._index.find(group, tokens)
            self._first_words += number is None
        if number is None:
            number = len(self.templates)
            self._journal.note(number, *line)
            self.templates.append(self._made(group, tokens, shown))
            self._index.add(number)
            return self.final(number)
        template = self.templates[number]
        if template.widen(shown) or template.count < _EARLY:
            self._journal.note(number, *line)
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
