"""The report, pure: put together from what the assignments left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import reduce

from coordinator.findings import findings_of
from coordinator.phrases import KNOWN, words_of
from kernel.contracts import ActionOutcome, MemoryHit, NotDone, Outcome, Request, Usage
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.reports import AssignmentSummary, Report, ReportMemory
from kernel.sharing import MENTIONED, PART_OF, sources_of
from kernel.states import CALL_ENDED, AssignmentState, CallState, RunState
from kernel.style import NAMES, Style, style_of

_A = AssignmentState
_REQUEST_CHARACTERS = 500
#: What a routine's part of a short report may take: a cause, a memory and a line.
_SHORT_CHARACTERS = 700


def refusal(run_id: str, reason: str) -> Report:
    """Return the report of a request that was not accepted."""
    return Report(run_id=run_id, state=RunState.failed.value, reason=reason, answer=f"Not accepted: {reason}")


def end_state(run: RunRow, assignments: Sequence[AssignmentRow]) -> tuple[RunState, str]:
    """Return how a run ends and why: as it was stopped, succeeded where any part was done, else failed or expired."""
    if run.stop:
        return RunState(run.stop), run.stop_reason
    states = [_A(a.state) for a in assignments]
    if _A.done in states:
        return RunState.succeeded, ""
    bad = next((a for a in assignments if a.reason), None)
    reason = f"{bad.key}: {bad.reason}" if bad else "no assignment was made"
    return (RunState.expired if _A.expired in states else RunState.failed), reason


def compose(
    run: RunRow,
    assignments: Sequence[AssignmentRow],
    *,
    now: datetime,
    effects: Sequence[CallRow] = (),
    recalled: Mapping[str, str] | None = None,
) -> Report:
    """Return the report of a run that ends now.

    `effects` are calls of parts that left no outcome; `recalled` are texts, by id, that agents asked the memory for.
    """
    state, reason = end_state(run, assignments)
    ordered = sorted(assignments, key=lambda a: (a.round, a.created_at, a.key))
    outcomes = [Outcome.model_validate(a.outcome) for a in ordered if a.outcome]
    request = Request.model_validate(run.request)
    hits = [MemoryHit.model_validate(memory) for memory in run.memories]
    style = style_of(hits, request=request.text, labels=request.labels)
    cited = {id_ for outcome in outcomes for id_ in outcome.cited_memories}
    return Report(
        run_id=run.id,
        state=state.value,
        reason=reason,
        request=request.text[:_REQUEST_CHARACTERS],
        answer="\n\n".join([_answer(_answering(ordered), reason, style), *_mentioned(ordered, style)]),
        findings=findings_of(ordered),
        not_found=_unique(n for o in outcomes for n in o.not_found),
        actions=[*(a for o in outcomes for a in o.actions), *(_effect(call) for call in effects)],
        notifications=[n for o in outcomes for n in o.notifications],
        memories=_memories(
            {hit.id: hit.text for hit in hits if hit.id in cited or not _standing(hit)}, recalled or {}, cited
        ),
        not_done=[*_unique_not_done(outcomes), *_undone(run, ordered), *_unspoken(style, outcomes)],
        assignments=[_summary(a) for a in ordered],
        planned_by=run.planned_by,
        usage=reduce(Usage.plus, (o.usage for o in outcomes), Usage()),
        timings=_timings(run, ordered, now),
        language=style.language,
        length=style.length,
    )


def _effect(call: CallRow) -> ActionOutcome:
    """Return what the ledger knows of a call; one that never ended may have happened."""
    state = CallState(call.state)
    value = (call.result or {}).get("value")
    argv = value.get("argv") if isinstance(value, dict) else None
    error = (call.result or {}).get("error") or {}
    return ActionOutcome(
        name=call.tool,
        argv=[str(part) for part in argv] if isinstance(argv, list) else [],
        state=(state if state in CALL_ENDED else CallState.unknown).value,
        detail=error.get("message", ""),
        call_id=call.id,
        parameters=call.arguments,
    )


def _answer(outcomes: Sequence[Outcome], reason: str, style: Style) -> str:
    say = words_of(style.language)
    short = style.length == "short"
    parts = [
        _brief(o.answer) if short and o.brain.startswith("routine") else o.answer.strip() for o in outcomes
    ]
    told = "\n\n".join(part for part in parts if part)
    return told or (say("No answer: {reason}.", reason=say.plain(reason)) if reason else say("No answer."))


def _answering(ordered: Sequence[AssignmentRow]) -> list[Outcome]:
    """Return the outcomes as they answer: of what was split over workers, the part with the likeliest finding first."""
    told = [(a.inputs.get(PART_OF, a.key), Outcome.model_validate(a.outcome)) for a in ordered if a.outcome]
    places = {root: number for number, root in enumerate(dict.fromkeys(root for root, _ in told))}

    def place(item: tuple[str, Outcome]) -> tuple[int, float]:
        root, outcome = item
        return places[root], -max((f.score for f in outcome.findings), default=0.0)

    return [outcome for _, outcome in sorted(told, key=place)]


def _mentioned(ordered: Sequence[AssignmentRow], style: Style) -> list[str]:
    """Return a line on the sources that were read because the request mentions them."""
    names = [name for a in ordered if a.inputs.get(MENTIONED) for name in sources_of(a.inputs)]
    say = words_of(style.language)
    told = say("Read because the request mentions it: {sources}.", sources=", ".join(dict.fromkeys(names)))
    return [told] if names else []


def _brief(answer: str) -> str:
    """Return the first paragraphs of an answer, as many as are short together; at least one."""
    first, *rest = answer.strip().split("\n\n")
    for paragraph in rest:
        if len(first) + len(paragraph) > _SHORT_CHARACTERS:
            break
        first += f"\n\n{paragraph}"
    return first


def _unspoken(style: Style, outcomes: Sequence[Outcome]) -> list[NotDone]:
    """Return a note where a language is wanted of which the desk has no words, and no model that speaks it."""
    if style.language in KNOWN or not any(o.brain.startswith("routine") for o in outcomes):
        return []
    why = "without a model the desk speaks English and Chinese only"
    return [NotDone(what=f"a report in {NAMES[style.language]}", why=why)]


def _memories(given: Mapping[str, str], recalled: Mapping[str, str], cited: set[str]) -> list[ReportMemory]:
    """Return what the run was given, and what its answer cites of what its agents recalled."""
    asked = {id_: text for id_, text in recalled.items() if id_ in cited}
    return [ReportMemory(id=id_, text=text, cited=id_ in cited) for id_, text in {**asked, **given}.items()]


def _standing(hit: MemoryHit) -> bool:
    """Return whether a preference was given because it always holds: it is obeyed, not read."""
    asked = hit.explain.get("similarity") or hit.explain.get("keywords")
    return hit.kind == "preference" and "similarity" in hit.explain and not asked


def _unique(texts: object) -> list[str]:
    return list(dict.fromkeys(texts))  # type: ignore[call-overload] # an iterable of str; keeps order


def _unique_not_done(outcomes: Sequence[Outcome]) -> list[NotDone]:
    return list({(n.what, n.why): n for o in outcomes for n in o.not_done}.values())


def _undone(run: RunRow, assignments: Sequence[AssignmentRow]) -> list[NotDone]:
    notes = []
    for a in assignments:
        told = [note.get("why") for note in (a.outcome or {}).get("not_done", [])]
        if a.state != _A.done and a.reason not in told:  # else the part said so itself
            notes.append(NotDone(what=f"{a.agent}: {a.goal}"[:200], why=a.reason or a.state))
    if run.memory_note:
        notes.append(NotDone(what="recall of memories", why=run.memory_note))
        notes.append(
            NotDone(
                what="standing preferences",
                why="the memory was away: language and length follow the request alone",
            )
        )
    return notes


def _summary(row: AssignmentRow) -> AssignmentSummary:
    return AssignmentSummary(
        key=row.key,
        agent=row.agent,
        state=row.state,
        worker=row.worker,
        brain=row.brain,
        attempts=row.attempts + 1 if row.fence else 0,
        reason=row.reason,
    )


def _timings(run: RunRow, assignments: Sequence[AssignmentRow], now: datetime) -> dict[str, float]:
    started = [a.started_at for a in assignments if a.started_at]
    times = {"total_seconds": _seconds(run.created_at, now)}
    if started:
        times["until_first_work_seconds"] = _seconds(run.created_at, min(started))
    for a in assignments:
        if a.started_at and a.ended_at:
            times[f"{a.key}_seconds"] = _seconds(a.started_at, a.ended_at)
    return times


def _seconds(start: datetime, end: datetime) -> float:
    return round((end - start).total_seconds(), 3)
