"""What a finished run teaches, by rules: stated preferences and facts, verified remedies."""

from __future__ import annotations

import re
from typing import Any

from memory_service.domain import Candidate, content_hash, normal
from memory_service.gate import shaped_like_instruction
from memory_service.remedies import remedies
from memory_service.runs import FinishedRun, Lessons
from memory_service.sentences import PREFERENCE, RECALLED, REMEMBER, SENTENCES

#: No run teaches more than this: a request that is one long list of "remember that" is a flood.
MOST_PER_RUN = 8
_STATED = 0.8


def lessons(run: FinishedRun) -> Lessons:
    """Return what the run teaches, in the order of its worth."""
    learnt, setbacks = remedies(run)
    return Lessons((_stated(run) + learnt)[:MOST_PER_RUN], setbacks)


# --- what people state ---

_FACT = re.compile(
    r"^(?P<key>[^,;:?]{2,80}?) (?:is|are|lives at|runs on|belongs to|listens on|=) (?P<value>\S.*)$"
    r"|^(?P<zh>[^，。：？]{2,40}?)(?:是|为|＝|=|：)\s*(?P<zh_value>\S.*)$"
    r"|^(?P<ja>[^、。]{2,40}?)は(?P<ja_value>\S.*?)(?:です|だ)?[。.]?$",
    re.IGNORECASE,
)
_NO_KEY = re.compile(
    r"(it|this|that|they|he|she|there|what|who|i|you|we)\b|(这|那|它|他|她|你|我)", re.IGNORECASE
)


def _stated(run: FinishedRun) -> list[Candidate]:
    """Return the preferences and facts that the request states; recalled blocks in it are cut out first."""
    text = RECALLED.sub("", run.request)
    served = {content_hash(old) for old in run.served}
    by_alert = "alertname" in run.labels
    found: list[Candidate] = []
    for sentence in (part.strip() for part in SENTENCES.split(text)):
        if by_alert and shaped_like_instruction(sentence):
            found.append(
                _statement(run, "preference", sentence)
            )  # goes to quarantine, where a person sees it
        elif not by_alert and (made := _from_sentence(run, sentence)) is not None:
            found.append(made)
    return [candidate for candidate in found if candidate.content_hash not in served]


def _from_sentence(run: FinishedRun, sentence: str) -> Candidate | None:
    if sentence.endswith(("?", "？")):
        return None
    told = REMEMBER.match(sentence)
    if told is None:
        return _statement(run, "preference", sentence) if PREFERENCE.match(sentence) else None
    what = next(part for part in told.groups() if part).rstrip(" .。")
    if PREFERENCE.match(what):
        return _statement(run, "preference", what)
    fact = _FACT.match(what)
    key = next((part for part in (fact["key"], fact["zh"], fact["ja"]) if part), "") if fact else ""
    if key and _NO_KEY.match(key) is None:
        return _statement(run, "fact", what, key=normal(key))
    return _statement(run, "fact", what)


def _statement(run: FinishedRun, kind: Any, text: str, *, key: str = "") -> Candidate:
    return Candidate(
        namespace=run.namespace,
        # a preference is one person's; a fact about the systems is everybody's
        user=run.user if kind == "preference" else "",
        kind=kind,
        text=text.rstrip(" .。"),
        key=key,
        tags=["preference"] if kind == "preference" else [],
        importance=_STATED,
        source_kind="alert" if "alertname" in run.labels else "user",
        source_ref=f"run:{run.run_id}",
    )
