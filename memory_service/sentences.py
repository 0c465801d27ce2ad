"""The sentences of a request: what recalled a memory, what states something, and what was asked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

#: A line that quotes a memory by its mark, however it is spaced, cased or dressed: `[mem:7f3a|fact]`, `［ MEM : …］`.
RECALLED = re.compile(r"^.*[\[［【(（]\s*m\s*e\s*m(?:ory|ories)?\s*[:：|].*$", re.MULTILINE | re.IGNORECASE)
#: Where one sentence ends and the next begins.
SENTENCES = re.compile(r"(?<=[.!?。！？；;])\s*(?=\S)|\n+")
REMEMBER = re.compile(
    r"^(?:please |pls |and |also )*(?:remember|keep in mind|note)(?: that|:|,)?\s+(?P<what>(?!that$)\S.+)$"
    r"|^(?:请|並|并)?(?:你)?(?:记住|记得|牢记|记一下)[，,：:]?\s*(?P<zh>\S.+)$"
    r"|^(?:bitte )?(?:merke? dir|denk dran|beachte)(?: bitte)?(?:[,:]? dass|,|:)?\s+(?P<de>\S.+)$"
    r"|^(?P<ja>\S.+?)(?:を|と)?覚えて(?:おいて)?(?:ください)?[。.]?$",
    re.IGNORECASE,
)
PREFERENCE = re.compile(
    r"^(?:please |pls |and |also )*(?:always|never|from now on|in (?:the )?future|by default"
    r"|going forward)\b.{4,}"
    r"|^(?:i|we) (?:(?:always|usually|would) )?(?:prefer|rather)\b.{4,}"
    r"|^(?:please )?(?:keep|make) (?:the |your |all |my )?(?:answer|report|message|notification"
    r"|summar)\w*\b.{4,}"
    r"|^(?:please )?(?:always )?(?:answer|write|reply|report)(?: to me| me)? in [a-z]+\b.*"
    r"|^(?:请)?(?:以后|今后|往后|从现在起|从今以后|默认|每次|始终|总是|一律|不要再|别再).{2,}"
    r"|^(?:我|我们)(?:更|比较|一直|总是)?(?:喜欢|偏好|习惯|希望).{2,}"
    r"|^(?:今後は|これからは|いつも|常に).{2,}"
    r"|^(?:bitte )?(?:immer|nie|niemals|künftig|zukünftig|ab (?:jetzt|sofort)|von nun an|in zukunft"
    r"|standardmäßig)\b.{4,}"
    r"|^(?:bitte )?(?:antworte|schreibe?|berichte)n?(?: sie)?(?: mir)?(?: bitte)? (?:immer "
    r"|künftig )?(?:auf|in|kurz|nur)\b.*"
    r"|^(?:bitte )?(?:antworten|berichte) (?:bitte )?(?:immer )?(?:kurz|knapp|ausführlich|auf)\b.*",
    re.IGNORECASE,
)

#: Characters without spaces and marks that a served text must share with a sentence to be its source.
_LEAST_SHARED = 6
#: A sentence that says this much more than what was served says something new.
_SAME = 0.7


def own_words(text: str, served: Iterable[str]) -> str:
    """Return a text without the blocks and sentences that repeat what was recalled: only the rest may be learnt."""
    rest = _without_wrapped(RECALLED.sub("", text), served)
    return "\n".join(line for line in rest.split("\n") if not repeats(line, served))


def _without_wrapped(text: str, served: Iterable[str]) -> str:
    """Return a text without served texts that run over the end of a line, as quotes in mails do."""
    places = [(place, letter) for place, c in enumerate(text) for letter in squashed(c)]
    letters = "".join(letter for _, letter in places)
    for known in map(squashed, served):
        start = letters.find(known) if len(known) >= _LEAST_SHARED else -1
        while start >= 0:
            first, last = places[start][0], places[start + len(known) - 1][0]
            if "\n" in text[first:last]:
                text = f"{text[:first]}{' ' * (last + 1 - first)}{text[last + 1 :]}"
            start = letters.find(known, start + len(known))
    return text


def repeats(text: str, served: Iterable[str]) -> bool:
    """Return whether a text says what a served memory says, whatever its spacing, case and marks."""
    said = squashed(text)
    return any(_repeats(said, squashed(known)) for known in served)


def _repeats(said: str, known: str) -> bool:
    if min(len(said), len(known)) < _LEAST_SHARED:
        return bool(said) and said == known
    return said in known or (known in said and len(known) >= _SAME * len(said))


def squashed(text: str) -> str:
    """Return the letters and digits of a text alone, without case and width."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(c for c in folded if c.isalnum())


def asked(request: str) -> str:
    """Return what a request asks, without what it states beside."""
    sentences = [s.strip() for s in SENTENCES.split(RECALLED.sub("", request)) if s.strip()]
    rest = [s for s in sentences if not REMEMBER.match(s) and not PREFERENCE.match(s)]
    return " ".join(" ".join(rest or sentences).split())
