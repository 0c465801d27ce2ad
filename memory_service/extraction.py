"""What a finished run teaches, by rules: stated preferences and facts, verified remedies."""

from __future__ import annotations

import re
from typing import Any

from kernel.orders import shaped_like_instruction
from kernel.sentences import REMEMBER, SENTENCES, wishes
from memory_service.domain import Candidate, normal
from memory_service.learning import tags
from memory_service.learning.remedies import remedies
from memory_service.learning.runs import FinishedRun, Lessons
from memory_service.learning.sentences import own_words, repeats
from memory_service.learning.tastes import apart

#: No run teaches more than this: a request that is one long list of "remember that" is a flood.
MOST_PER_RUN = 8
_STATED = 0.8


def lessons(run: FinishedRun) -> Lessons:
    """Return what the run teaches, in the order of its worth."""
    learnt, setbacks = remedies(run)
    return Lessons((_stated(run) + learnt)[:MOST_PER_RUN], setbacks)


# --- what people state ---

_FACT = re.compile(
    r"^(?P<key>[^,;:?]{2,80}?) (?:is|are|lives at|runs on|belongs to|listens on|ist|sind|läuft auf"
    r"|gehört zu|=) (?P<value>\S.*)$"
    r"|^(?P<zh>[^，。：？]{2,40}?)(?:是|为|＝|=|：)\s*(?P<zh_value>\S.*)$"
    r"|^(?P<ja>[^、。]{2,40}?)は(?P<ja_value>\S.*?)(?:です|だ)?[。.]?$",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"(it|this|that|they|he|she|there|what|who|i|you|we)\b|(这|那|它|他|她|你|我)", re.IGNORECASE
)


def _stated(run: FinishedRun) -> list[Candidate]:
    """Return the preferences and facts that the request states; recalled blocks in it are cut out first."""
    found: list[Candidate] = []
    for sentence in (" ".join(part.split()) for part in SENTENCES.split(own_words(run.request, run.served))):
        if run.by_alert and shaped_like_instruction(sentence):
            found.append(
                _statement(run, "preference", sentence)
            )  # goes to quarantine, where a person sees it
        elif not run.by_alert and (made := _from_sentence(run, sentence)) is not None:
            found += [part for part in apart(made) if not repeats(made.text, run.served)]
    return list({(made.kind, made.key_hash, made.content_hash): made for made in found}.values())


def _from_sentence(run: FinishedRun, sentence: str) -> Candidate | None:
    if sentence.endswith(("?", "？")):
        return None
    told = REMEMBER.match(sentence)
    if told is None:
        return _statement(run, "preference", sentence) if wishes(sentence) else None
    what = next(part for part in told.groups() if part).rstrip(" .。")
    if wishes(what):
        return _statement(run, "preference", what)
    return _statement(run, "fact", what, key=key_of(what))


def key_of(fact: str) -> str:
    """Return what a fact is about, "" where it names nothing: "search runs on node-7" is about "search"."""
    found = _FACT.match(" ".join(fact.split()))
    key = next((part for part in (found["key"], found["zh"], found["ja"]) if part), "") if found else ""
    return normal(key) if key and _NO_KEY.match(key) is None else ""


def emotion(text: str) -> float:
    """Return how much a stated wish or fact is felt, 0..1: by its strong words and its exclamation marks."""
    felt = _STRONG_WISH if _STRONG.search(text) else 0.0
    return min(1.0, felt + _EXCLAIMED * min(2, text.count("!") + text.count("！")))


_STRONG_WISH, _EXCLAIMED = 0.5, 0.2
_STRONG = re.compile(
    r"\b(always|never|hate|love|must|absolutely|critical|urgent|niemals|immer|unbedingt|hasse|liebe)\b"
    r"|千万|绝对|一定|务必|必须|永远|讨厌|最喜欢|一律|絶対|必ず|決して|大嫌い|大好き",
    re.IGNORECASE,
)


def _statement(run: FinishedRun, kind: Any, text: str, *, key: str = "") -> Candidate:
    alert = run.labels.get("alertname", "")
    return Candidate(
        namespace=run.namespace,
        # a preference is one person's, and so is what they tell of themselves; a fact about the systems is everybody's
        user=run.user if kind == "preference" or tags.own(text, kind) else "",
        kind=kind,
        text=text.rstrip(" .。"),
        key=key,
        tags=tags.told_by_rule(text, kind),
        importance=_STATED,
        emotion=emotion(text),
        source_kind="alert" if run.by_alert else "user",
        # an alert that fires again is the same source, whichever run it started
        source_ref=f"alert:{alert}" if run.by_alert else f"run:{run.run_id}",
        session=run.session,
        valid_from=run.told_at,
    )
