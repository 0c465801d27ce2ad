"""Tastes: which language and which length a preference asks for; each is a slot that a later wish takes over."""

from __future__ import annotations

import re
from collections.abc import Iterator

from kernel.style import alone
from memory_service.domain import Candidate

#: The key under which a user's wish for a slot is kept: there is one of each in force.
KEY = "style:{slot}"

_LANGUAGES = {
    "zh": r"chinese|mandarin|中文|汉语|漢語|普通话|华语|中国語|chinesisch",
    "en": r"english|英文|英语|英語|englisch",
    "ja": r"japanese|日文|日语|日語|日本語|japanisch",
    "de": r"german|德文|德语|德語|ドイツ語|deutsch",
    "fr": r"french|法文|法语|フランス語|französisch",
    "es": r"spanish|西班牙(?:文|语)|スペイン語|spanisch",
    "pt": r"portuguese|葡萄牙(?:文|语)|ポルトガル語|portugiesisch",
    "it": r"italian|意大利(?:文|语)|イタリア語|italienisch",
    "ru": r"russian|俄(?:文|语)|ロシア語|russisch",
    "ko": r"korean|韩(?:文|语)|韓国語|koreanisch",
    "ar": r"arabic|阿拉伯(?:文|语)|アラビア語|arabisch",
}
_LENGTHS = {
    "short": r"short(?:er)?|brief(?:ly)?|concise(?:ly)?|terse(?:ly)?|succinct(?:ly)?|compact|crisp"
    r"|简短(?:地|些|一点)?|简洁(?:地)?|精简|简明(?:扼要)?|简单(?:点|地)?|短一?[点些]|(?:尽量|尽可能|要)短|短く|手短に|簡潔に?|kurz|knapp",
    "long": r"long(?:er)?|detailed|verbose(?:ly)?|thorough(?:ly)?|in (?:full |more |great )?detail|at length|exhaustive"
    r"|详细(?:地|些|一点)?|详尽(?:地)?|长一?[点些]|詳しく|詳細に?|ausführlich|detailliert",
}
#: A wish about language or length is one about what we say; "short names for services" is none.
_ABOUT = re.compile(
    r"answer|repl(?:y|ies)|report|respon|message|notif|summar|write|explain|output|\bbe\b|\bkeep it\b|\btell me\b"
    r"|\bspeak|\btalk|language"
    r"|回答|回复|答复|报告|汇报|总结|说明|说话|写|通知|消息|输出|交流|沟通|答え|回答|返信|返事|報告|書い|説明|要約|話し"
    r"|antwort|bericht|schreib|erklär|meld|nachricht|zusammenfass|sprich|sprech",
    re.IGNORECASE,
)
#: What is refused is no wish for its opposite.
_REFUSED = re.compile(
    r"\b(?:not|never|no|don'?t|doesn'?t|avoid|stop|without|nicht|nie|niemals|kein\w*|ohne)\b"
    r"|不要|别|不用|不再|勿|禁止|ないで|しない|やめ",
    re.IGNORECASE,
)


def tastes(text: str) -> dict[str, str]:
    """Return the slots that a stated preference fills: `language` (zh, en, …) and `length` (short, long)."""
    if _REFUSED.search(text) or not (_ABOUT.search(text) or alone(text)):
        return {}
    found = {slot: list(_named(slot, text)) for slot in _SLOTS}
    # two languages in one breath are no wish that a rule could read
    return {slot: values[0] for slot, values in found.items() if len(values) == 1}


def apart(candidate: Candidate) -> list[Candidate]:
    """Return a preference keyed by its slot, one for each where it fills two; anything else as it is.

    "Answer in English and keep it short" becomes "Answer in English" and "keep it short", so that a later wish for
    Chinese leaves the wish for brevity alone. What does not fall into clauses, such as "keep answers short, in
    Chinese", is told in two sentences of ours; where it says more than that it stays whole in both.
    """
    if candidate.kind != "preference" or candidate.key:
        return [candidate]
    slots = tastes(candidate.text)
    clauses = _clauses(candidate.text, slots) or _worded(candidate.text, slots)
    return [
        candidate.model_copy(
            update={
                "key": KEY.format(slot=slot),
                "text": clauses.get(slot, candidate.text),
                "slots": {**candidate.slots, slot: value},
            }
        )
        for slot, value in slots.items()
    ] or [candidate]


def _clauses(text: str, slots: dict[str, str]) -> dict[str, str]:
    """Return the clause of each of two slots, where each stands in one of its own that says the whole wish."""
    parts = [part.strip() for part in _JOINT.split(text)]
    if len(slots) != _TWO or len(parts) != _TWO or not all(map(_CLAUSE.match, parts)):
        return {}
    named = [[slot for slot in slots if list(_named(slot, part))] for part in parts]
    if sorted(named) != sorted([slot] for slot in slots):
        return {}
    return {slot: part for (slot,), part in zip(named, parts, strict=True)}


def _worded(text: str, slots: dict[str, str]) -> dict[str, str]:
    """Return a sentence for each of two slots, where a text says nothing else: in its language, with its name."""
    if len(slots) != _TWO or not alone(text):
        return {}
    ours = next(words for script, words in _WORDS if script.search(text))
    named = re.search(_whole(_LANGUAGES[slots["language"]]), text, re.IGNORECASE)
    assert named is not None  # it filled the slot
    return {"language": ours["language"].format(named[0]), "length": ours[slots["length"]]}


#: How a wish is told in the languages whose sentences fall apart here, each by what shows it; the last is for all.
_WORDS: list[tuple[re.Pattern[str], dict[str, str]]] = [
    (
        re.compile(r"[\u3041-\u30ff]"),
        {"language": "{}で答えて", "short": "短く答えて", "long": "詳しく答えて"},
    ),
    (
        re.compile(r"[\u4e00-\u9fff]{3}"),
        {"language": "用{}回答", "short": "回答要简短", "long": "回答要详细"},
    ),
    (
        re.compile(r"\b(?:bitte|immer|auf|antwort\w*|bericht\w*|schreib\w*)\b", re.IGNORECASE),
        {"language": "auf {} antworten", "short": "kurz antworten", "long": "ausführlich antworten"},
    ),
    (re.compile(""), {"language": "answer in {}", "short": "keep answers short", "long": "answer in detail"}),
]
_TWO = 2
#: Where a clause may end and another begin.
_JOINT = re.compile(
    r",?\s+(?:and|but|und)\s+|\s*[,，;；]\s*(?:and |but |und |并且?|而且|且)?\s*", re.IGNORECASE
)
#: A clause says by itself what is to be done.
_CLAUSE = re.compile(
    r"(?:please |always |also |bitte |immer |from now on )*"
    r"(?:answer|reply|respond|write|report|speak|talk|keep|make|be|use|antworte|schreib|halte|bericht|sprich)\w*\b"
    r"(?:.*\S)?$|.*(?:请|保持|回答|回复|报告|答えて|書いて|話して)",
    re.IGNORECASE,
)

_SLOTS = {"language": _LANGUAGES, "length": _LENGTHS}


def _named(slot: str, text: str) -> Iterator[str]:
    for value, words in _SLOTS[slot].items():
        if re.search(_whole(words), text, re.IGNORECASE):
            yield value


def _whole(words: str) -> str:
    """Return a pattern of whole words, where the script has words."""
    return rf"(?<![a-zäöüß])(?:{words})(?:e[rsn]?)?(?![a-zäöüß])"
