"""Judgement of outcomes: each claim is read again at its source, each citation asked after at the memory."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from agents.runtime.citations import Cited, citations, question, without
from agents.runtime.evidence import LineReader, check, strip
from agents.runtime.loop import cut_off
from agents.runtime.memory_tools import served_texts
from agents.runtime.spec import AgentSpec, DoneTurn, TurnView
from agents.runtime.tools import Resources, ToolContext
from kernel import logs
from kernel.contracts import NotDone, Outcome, Work
from kernel.errors import NightdeskError

log = logs.get(__name__)

#: An answer is there already: it waits for its check no longer than a run waits for its memories.
_CHECK_SECONDS = 2.0
#: The memory service reads no more in one question; an answer with more citations is no answer.
_MOST_CITATIONS = 64
_NOT_SERVED = "it was not served to this run"


async def judged(
    spec: AgentSpec, work: Work, resources: Resources, outcome: Outcome, turns: Sequence[DoneTurn] = ()
) -> tuple[Outcome, list[str]]:
    """Return the outcome as the checkers leave it, and what was refused."""
    calls = [call for turn in turns for call in turn.calls]
    results = [call.value for call in calls if call.value is not None]
    told = [work.model_dump_json(), *served_texts(work, turns).values()]
    told += [text for call in calls for text in (call.error or {}).values()]
    proved, refused = await check(outcome, read=_reader(spec, work, resources), results=results, texts=told)
    cited, wrong = await _cited(work, resources, proved, turns)
    return cited, [*refused, *wrong]


async def what_there_is(
    spec: AgentSpec, work: Work, resources: Resources, turns: list[DoneTurn], reason: str
) -> Outcome:
    """Return what a part came to that may not go on; its routine costs nothing, and reads findings off the journal."""
    found = spec.routine(TurnView(work=work, turns=turns, turns_left=1)).outcome
    if found is None or not found.findings:
        return cut_off(turns, reason)
    return cut_off(turns, reason, strip(*await judged(spec, work, resources, found, turns)))


async def _cited(
    work: Work, resources: Resources, outcome: Outcome, turns: Sequence[DoneTurn]
) -> tuple[Outcome, list[str]]:
    """Return the outcome without citations that do not stand, and why each was refused."""
    served = served_texts(work, turns)
    cited = citations(outcome, served)
    if not cited:
        return outcome, []
    verdicts = await _verdicts(work, resources, cited, served)
    await _tally(resources, verdicts)
    bad = {place: told for place, told in enumerate(verdicts) if told["verdict"] not in ("ok", "unchecked")}
    kept = without(outcome, cited, bad)
    if any(told["verdict"] == "unchecked" for told in verdicts):
        why = "the memory did not answer in time: whether they still hold is not known"
        kept = kept.model_copy(
            update={"not_done": [*kept.not_done, NotDone(what="check of cited memories", why=why)]}
        )
    reasons = (f"memory {cited[place].id!r} may not be cited: {told['why']}" for place, told in bad.items())
    return kept, list(dict.fromkeys(reasons))


async def _verdicts(
    work: Work, resources: Resources, cited: Sequence[Cited], served: Mapping[str, str]
) -> list[dict[str, str]]:
    """Return the memory's verdicts; where it is away, whether they were served is known here all the same."""
    asked = cited[:_MOST_CITATIONS]
    here = [_here(one, served, asked="ok" if resources.memory is None else "unchecked") for one in asked]
    here += [
        {"verdict": "unknown", "why": "an answer cites 64 times at most"} for _ in cited[_MOST_CITATIONS:]
    ]
    if resources.memory is None:
        return here
    told = question(asked, served, namespace=work.namespace, user=work.user)
    try:
        verdicts = await resources.memory("memory.check", told, _CHECK_SECONDS)
    except NightdeskError as error:
        log.warning("citations_not_checked", reason=str(error))
        return here
    return [_verdict(one, mine) for one, mine in zip(verdicts, here, strict=False)] + here[len(verdicts) :]


def _here(cited: Cited, served: Mapping[str, str], *, asked: str) -> dict[str, str]:
    known = cited.id in served
    return {"verdict": asked if known else "unknown", "why": "" if known else _NOT_SERVED}


def _verdict(told: Any, mine: dict[str, str]) -> dict[str, str]:
    """Return the memory's verdict; what was not served stays refused, whatever it says."""
    if not isinstance(told, dict) or (told.get("verdict") == "ok" and mine["verdict"] == "unknown"):
        return mine
    return {"verdict": str(told.get("verdict", "unknown")), "why": str(told.get("why", ""))}


async def _tally(resources: Resources, verdicts: Sequence[Mapping[str, str]]) -> None:
    if resources.tally is None:
        return
    try:
        await resources.tally("citations", Counter(told["verdict"] for told in verdicts))
    except NightdeskError as error:  # a count that is lost is no reason to lose an answer
        log.warning("citations_not_counted", reason=str(error))


def _reader(spec: AgentSpec, work: Work, resources: Resources) -> LineReader | None:
    if (read_line := spec.read_line) is None:
        return None
    context = ToolContext(work=work, resources=resources)

    async def read(source: str, line: int) -> str | None:
        try:
            return await read_line(context, source, line)
        except NightdeskError:
            return None  # a source that cannot be read proves nothing

    return read
