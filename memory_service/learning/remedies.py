"""What a run's actions teach: which remedy was seen to work against which cause, in our own words."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from kernel.contracts import ActionOutcome, Finding
from kernel.orders import shaped_like_instruction
from kernel.reports import Report
from memory_service.domain import Candidate, normal
from memory_service.learning.phrases import pattern, service_of
from memory_service.learning.runs import FinishedRun
from memory_service.learning.sentences import asked

_SEVERITY = {"critical": 0.8, "error": 0.65, "warning": 0.45, "info": 0.2}
#: How much an incident is felt: what hurt fades a little more slowly (fading.EMOTION_BOOST).
_EMOTION = {"critical": 0.6, "error": 0.4, "warning": 0.2, "info": 0.0}
#: A remedy that was seen to work is worth more than the incident alone.
_VERIFIED, _MOST = 0.15, 0.95
#: A finding below this is a guess.
_SCORE_FLOOR = 0.4
_SYMPTOM_LENGTH, _VALUE_LENGTH = 160, 80
#: A service, an alert or a kind of cause is told by its name, or not at all: text of a log never passes for one.
_NAME = re.compile(r"[\w.-]{1,60}")
#: Kinds of causes that tell two incidents apart no better than no kind does.
_VAGUE = ("", "error", "unknown", "other")
_LABELS = ("service", "service_name", "app", "job", "deployment")
_PARAMETERS = ("service", "app", "deployment", "unit")
#: What rotation and packing add to the name of a log.
_ROTATED = re.compile(
    r"(?:[.-]\d[\d_.-]*)?(?:\.(?:log|txt|out|err|jsonl?))?(?:[.-]\d[\d_.-]*)?(?:\.(?:gz|bz2|xz|zst))?$"
)


def remedies(run: FinishedRun) -> tuple[list[Candidate], list[str]]:
    """Return the procedure of the remedy that was verified last, and the keys of those that did not help.

    An incident without a verified remedy teaches nothing: it would only crowd later recalls.
    """
    finding = _cause(run.report)
    done = [a for a in run.report.actions if a.state == "done" and _in_journal(run, a)]
    if finding is None:
        return [], []
    helped = [action for action in done if action.verified is True]
    setbacks = [_key(run, finding, action) for action in done if action.verified is False]
    return [_procedure(run, finding, action) for action in helped[-1:]], setbacks


def _cause(report: Report) -> Finding | None:
    """Return the finding that names the cause: the best one with evidence."""
    proved = [f for f in report.findings if f.evidence and f.score >= _SCORE_FLOOR]
    return max(proved, key=lambda f: (f.score, _SEVERITY[f.severity]), default=None)


def _in_journal(run: FinishedRun, action: ActionOutcome) -> bool:
    return not action.call_id or run.calls.get(action.call_id) == "done"


def _procedure(run: FinishedRun, finding: Finding, action: ActionOutcome) -> Candidate:
    service = _service(run, finding, action)
    return Candidate(
        namespace=run.namespace,
        kind="procedure",
        text=_told(run, finding, action, service),
        key=_key(run, finding, action),
        tags=["incident", "cause", "remedy", *([service] if service else [])],
        slots={
            "cause_key": finding.key,
            "pattern": pattern(finding),
            "source": finding.evidence[0].source,
            "service": service,
            "run_id": run.run_id,
            "action": action.name,
            "parameters": action.parameters,
        },
        emotion=_EMOTION[finding.severity],
        importance=min(_MOST, _SEVERITY[finding.severity] + _VERIFIED),
        source_kind="run",
        source_ref=f"run:{run.run_id}",
        session=run.session,
        quotes_untrusted=True,
    )


def _key(run: FinishedRun, finding: Finding, action: ActionOutcome) -> str:
    """Return what tells one incident and its remedy from another: where, why, and what was done."""
    where = _service(run, finding, action) or normal(finding.evidence[0].source)
    why = pattern(finding) or finding.key or normal(finding.title) if _vague(finding) else finding.key
    return f"{where}|{why}|{action.name}"


def _vague(finding: Finding) -> bool:
    return finding.key in _VAGUE or _NAME.fullmatch(finding.key) is None


def _service(run: FinishedRun, finding: Finding, action: ActionOutcome) -> str:
    """Return the service that an incident is about: as labelled, as mended, as the log says, as the log is called."""
    named = [run.labels.get(name, "") for name in _LABELS]
    named += [str(action.parameters.get(name, "")) for name in _PARAMETERS]
    named += [service_of(finding), _stem(finding.evidence[0].source)]
    return next((name for name in named if _NAME.fullmatch(name)), "")


def _stem(source: str) -> str:
    return _ROTATED.sub("", PurePosixPath(source.replace("\\", "/")).name)


def _told(run: FinishedRun, finding: Finding, action: ActionOutcome, service: str) -> str:
    """Word a procedure from names and from what was asked; the log's own words stay in the log."""
    symptom = _symptom(run)
    parts = [f'"{symptom}"'] if symptom else []
    if not _vague(finding):
        parts.append(f"because of {' '.join(finding.key.replace('_', ' ').split())}")
    values = (f"{name}={_cut(str(value), _VALUE_LENGTH)}" for name, value in action.parameters.items())
    incident = " ".join(parts) or "an incident"
    where = f"{service} — " if service else ""  # `user:` would look like the tag of a speaker
    return f"{where}{incident}; {action.name}({', '.join(values)}) fixed it (verified)"


def _symptom(run: FinishedRun) -> str:
    """Return what was asked, in its own words: the next one to have this trouble will ask alike.

    An alert asks in words of a machine that anybody may have written: only its name is kept.
    """
    if alert := run.labels.get("alertname", ""):
        return alert if _NAME.fullmatch(alert) else ""
    text = asked(run.request).replace('"', "'")
    return "" if shaped_like_instruction(text) else _cut(text, _SYMPTOM_LENGTH)


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head = text[:limit]
    return f"{head.rsplit(' ', 1)[0] if ' ' in head[limit // 2 :] else head}…"
