"""What a finished run teaches, by rules: stated preferences and facts, incidents, verified remedies."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from kernel.contracts import ActionOutcome, Finding
from kernel.reports import Report
from memory_service.domain import Candidate, content_hash, normal, shaped_like_instruction

#: No run teaches more than this: a request that is one long list of "remember that" is a flood.
MOST_PER_RUN = 8
_STATED = 0.8
_SEVERITY = {"critical": 0.8, "error": 0.65, "warning": 0.45, "info": 0.2}
#: A remedy that was seen to work is worth more than the incident alone.
_VERIFIED = 0.15
#: A finding below this is a guess.
_SCORE_FLOOR = 0.4
_SYMPTOM_LENGTH, _TITLE_LENGTH, _PATTERN_LENGTH = 160, 300, 80


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """All that extraction may look at."""

    run_id: str
    namespace: str
    user: str
    request: str
    labels: dict[str, str] = field(default_factory=dict)
    report: Report
    #: States of the journaled calls by id: what the report says of an action must be in the journal.
    calls: dict[str, str] = field(default_factory=dict)
    #: Texts of the memories that were served to the run: they are never learnt again.
    served: Collection[str] = ()


@dataclass(frozen=True)
class Lessons:
    """Candidates, and the keys of procedures whose remedy was tried again and did not help."""

    candidates: list[Candidate]
    setbacks: list[str]


def lessons(run: FinishedRun) -> Lessons:
    """Return what the run teaches, in the order of its worth."""
    finding = _cause(run.report)
    learnt, setbacks = _incident(run, finding) if finding else ([], [])
    return Lessons((_stated(run) + learnt)[:MOST_PER_RUN], setbacks)


# --- what people state ---

_RECALLED = re.compile(r"^.*\[mem:[^\]]*\].*$", re.MULTILINE)
_SENTENCES = re.compile(r"(?<=[.!?。！？；;])\s*(?=\S)|\n+")
_REMEMBER = re.compile(
    r"^(?:please |pls |and |also )*(?:remember|keep in mind|note)(?: that|:|,)?\s+(?P<what>\S.+)$"
    r"|^(?:请|並|并)?(?:你)?(?:记住|记得|牢记|记一下)[，,：:]?\s*(?P<zh>\S.+)$"
    r"|^(?P<ja>\S.+?)(?:を|と)?覚えて(?:おいて)?(?:ください)?[。.]?$",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(
    r"^(?:please |pls |and |also )*(?:always|never|from now on|in (?:the )?future|by default|going forward)\b.{4,}"
    r"|^(?:i|we) (?:(?:always|usually|would) )?(?:prefer|rather)\b.{4,}"
    r"|^(?:please )?(?:keep|make) (?:the |your |all |my )?(?:answer|report|message|notification|summar)\w*\b.{4,}"
    r"|^(?:please )?(?:always )?(?:answer|write|reply|report)(?: to me| me)? in [a-z]+\b.*"
    r"|^(?:请)?(?:以后|今后|往后|从现在起|从今以后|默认|每次|始终|总是|一律|不要再|别再).{2,}"
    r"|^(?:我|我们)(?:更|比较|一直|总是)?(?:喜欢|偏好|习惯|希望).{2,}"
    r"|^(?:今後は|これからは|いつも|常に).{2,}",
    re.IGNORECASE,
)
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
    text = _RECALLED.sub("", run.request)
    served = {content_hash(old) for old in run.served}
    by_alert = "alertname" in run.labels
    found: list[Candidate] = []
    for sentence in (part.strip() for part in _SENTENCES.split(text)):
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
    told = _REMEMBER.match(sentence)
    if told is None:
        return _statement(run, "preference", sentence) if _PREFERENCE.match(sentence) else None
    what = next(part for part in told.groups() if part).rstrip(" .。")
    if _PREFERENCE.match(what):
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


# --- what happened ---


def _cause(report: Report) -> Finding | None:
    """Return the finding that names the cause: the best one with evidence."""
    proved = [f for f in report.findings if f.evidence and f.score >= _SCORE_FLOOR]
    return max(proved, key=lambda f: (f.score, _SEVERITY[f.severity]), default=None)


def _incident(run: FinishedRun, finding: Finding) -> tuple[list[Candidate], list[str]]:
    actions = [a for a in run.report.actions if a.state == "done" and _in_journal(run, a)]
    remedies = [a for a in actions if a.verified is True]
    failed = [a for a in actions if a.verified is False]
    service = _service(run, actions)
    cause = finding.key or pattern(finding) or normal(finding.title)
    slots = {
        "cause_key": finding.key,
        "pattern": pattern(finding),
        "source": finding.evidence[0].source,
        "service": service,
        "run_id": run.run_id,
    }
    importance = _SEVERITY[finding.severity]
    told = f'{service}: "{_symptom(run)}" because of {finding.title[:_TITLE_LENGTH]}'.removeprefix(": ")
    setbacks = [f"{service}|{cause}|{action.name}" for action in failed]
    if remedies:
        return [_procedure(run, told, slots, importance, f"{service}|{cause}", remedies[-1])], setbacks
    tried = "".join(f"; {action.name} was tried and did not fix it" for action in failed)
    episode = Candidate(
        namespace=run.namespace,
        kind="episode",
        text=f"{told}{tried or '; no remedy is known yet'}",
        key=f"{service}|{cause}",
        tags=["incident", "cause", *([service] if service else [])],
        slots={**slots, "failed_actions": [action.name for action in failed]},
        importance=importance,
        source_kind="agent",
        source_ref=f"run:{run.run_id}",
        quotes_untrusted=True,
    )
    return [episode], setbacks


def _procedure(
    run: FinishedRun, told: str, slots: dict[str, Any], importance: float, key: str, action: ActionOutcome
) -> Candidate:
    arguments = ", ".join(f"{name}={value}" for name, value in action.parameters.items())
    return Candidate(
        namespace=run.namespace,
        kind="procedure",
        text=f"{told}; {action.name}({arguments}) fixed it (verified)",
        key=f"{key}|{action.name}",
        tags=["incident", "cause", "remedy", *([slots["service"]] if slots["service"] else [])],
        slots={**slots, "action": action.name, "parameters": action.parameters},
        importance=min(0.95, importance + _VERIFIED),
        source_kind="run",
        source_ref=f"run:{run.run_id}",
        quotes_untrusted=True,
    )


def _in_journal(run: FinishedRun, action: ActionOutcome) -> bool:
    return not action.call_id or run.calls.get(action.call_id) == "done"


def _service(run: FinishedRun, actions: list[ActionOutcome]) -> str:
    named = [run.labels.get(name, "") for name in ("service", "app", "job", "deployment")]
    named += [str(action.parameters.get("service", "")) for action in actions]
    return next((name for name in named if name), "")


def _symptom(run: FinishedRun) -> str:
    """Return what was asked, in its own words: the next one to have this trouble will ask alike."""
    sentences = [s.strip() for s in _SENTENCES.split(_RECALLED.sub("", run.request)) if s.strip()]
    asked = [s for s in sentences if not _REMEMBER.match(s) and not _PREFERENCE.match(s)]
    text = " ".join(asked or sentences).replace('"', "'")
    return text if len(text) <= _SYMPTOM_LENGTH else f"{text[:_SYMPTOM_LENGTH]}…"


# --- what to search for next time ---

#: What differs from one line of a kind to the next: times, numbers, ids, quoted and assigned values, redactions.
_VOLATILE = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d\S*|<[A-Z_]+:[0-9a-f]+>|…|\"[^\"]*\"|'[^']*'|\b0x[0-9a-fA-F]+"
    r"|\b[0-9a-fA-F]{8}-[0-9a-fA-F\-]{27}|\b[0-9a-fA-F]{8,}\b|(?<==)\S+|\b[\w.\-/:]*\d[\w.\-/:]*%?"
)
_LEVEL = re.compile(
    r"^\W*(?:(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|SEVERE)\b\W*)+", re.IGNORECASE
)
_LETTERS = re.compile(r"[^\W\d_]")
_META = re.compile(r"([\\.+*?()|\[\]{}^$])")
#: A phrase with fewer letters is in every log; CJK says as much with a third of the letters.
_LETTERS_LEAST, _CJK_LEAST = 8, 3


def pattern(finding: Finding) -> str:
    """Return a regular expression of the longest stable phrase of the evidence, or "" where there is none."""
    for evidence in finding.evidence:
        phrases = [
            _LEVEL.sub("", part).strip(" \t,;:-—|=[](){}<>") for part in _VOLATILE.split(evidence.quote)
        ]
        phrase = max(phrases, key=lambda part: len(_LETTERS.findall(part)), default="")
        letters = _LETTERS.findall(phrase)
        if len(letters) >= (_LETTERS_LEAST if phrase.isascii() else _CJK_LEAST):
            return _META.sub(r"\\\1", _cut(phrase))
    return ""


def _cut(phrase: str) -> str:
    if len(phrase) <= _PATTERN_LENGTH:
        return phrase
    head = phrase[:_PATTERN_LENGTH]
    return head.rsplit(" ", 1)[0] if " " in head else head
