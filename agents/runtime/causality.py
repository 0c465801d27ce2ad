"""Claims of a cause in a model's words: where no line is cited, the sentences that claim one are taken out; pure."""

from __future__ import annotations

import re

#: Words by which a sentence says why something happened.
_CAUSE = re.compile(
    r"(?i)\b(?:root[- ]causes?|the (?:likely |most likely |probable )?causes?|caused|because|due to|results? from"
    r"|resulted from|stem(?:s|med) from|triggered|led to|leads to|brought down by)\b"
    r"|根因|原因|由于|因为|导致|引起|引发|造成|所致"
)
#: Words by which it says that nobody knows, or that there is none: `the cause is not in the log`.
_UNKNOWN = re.compile(
    r"(?i)\b(?:no|not|none|never|unknown|unclear|cannot|without|nothing|neither|whether)\b|n't\b|[未没无不]"
)
#: What cites a line, `app.log:120`; or a memory, which is checked by its own checker.
CITED_LINE = re.compile(r"([^\s`'\"“”()（）\[\]<>，。；、]{1,400}?):(\d{1,9})(?!\d|:\d)")
_MEMORY = "[mem:"
_SENTENCE = re.compile(r"(?:[^.!?;。！？；\n]|[.!?;](?!\s|$)){1,4000}[.!?;。！？；\n]?\s*")


def cited_lines(text: str) -> list[tuple[str, int]]:
    """Return what a text cites as `source:line`."""
    return [(found[1], int(found[2])) for found in CITED_LINE.finditer(text)]


def unfounded(text: str) -> list[str]:
    """Return the sentences that claim a cause; one that says it is not known, or cites a memory, claims none."""
    return [
        found[0]
        for found in _SENTENCE.finditer(text)
        if _CAUSE.search(found[0]) and not _UNKNOWN.search(found[0]) and _MEMORY not in found[0]
    ]
