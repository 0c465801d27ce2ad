"""One claimed assignment: from its rows through the loop to the outcome that it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Protocol

from agents.judgement import judged, what_there_is
from agents.outcomes import Ending, effects, finish, load_work, merge, moved, park, why_stopped
from agents.parting import LEFT, LOST, Parting, part
from agents.runtime.brain import make_brain, why_instead
from agents.runtime.execution import Execution
from agents.runtime.gate import Gate
from agents.runtime.journal import Journal
from agents.runtime.loop import Parked, work_through
from agents.runtime.meter import Meter
from agents.runtime.pressure import Limits
from agents.runtime.spec import AgentSpec, DoneTurn
from agents.runtime.tools import Resources, Tool
from kernel import logs
from kernel.budget import Purse
from kernel.contracts import Finding, NotDone, Outcome, Work
from kernel.errors import Cancelled, Fatal, LostLease, NightdeskError, OverBudget, Retryable
from kernel.events import Event, FindingFound
from kernel.model.port import Model
from kernel.records import AssignmentRow
from kernel.redaction import make_redactor
from kernel.shapes import NewerShape
from kernel.states import AssignmentState
from kernel.streams import EventLog, TextStream
from kernel.unbroken import to_the_end

log = logs.get(__name__)

Say = Callable[[str], None]

#: What a cut says about the end of an assignment; every other word means cancelled.
_CUTS = {"expired": AssignmentState.expired, "drain": AssignmentState.queued}


class Worker(Protocol):
    """What an assignment needs of the process that works on it."""

    agents: dict[str, AgentSpec]
    resources: Resources
    model: Model | None
    purse: Purse | None
    events: EventLog
    worker: str

    def tools(self, spec: AgentSpec) -> dict[str, Tool]:
        """Return an agent's own tools."""

    async def offered(self, spec: AgentSpec) -> tuple[dict[str, Tool], list[str]]:
        """Return the tools an agent is offered now, and notes on those that are missing."""


class Assignment:
    """The work of one worker on one assignment, under one fence."""

    def __init__(self, agents: Worker, row: AssignmentRow, say: Say) -> None:
        self._agents, self._row, self._say = agents, row, say
        self._settings = agents.resources.settings
        self._database = agents.resources.database
        self._redactor = make_redactor(self._settings, row.run_id.encode())
        self._missing: list[str] = []
        self._why_cut: Callable[[], str] = lambda: ""
        self._journal = Journal(
            self._database,
            run_id=row.run_id,
            assignment_id=row.id,
            fence=row.fence,
            worker=agents.worker,
            redactor=self._redactor,
            events=agents.events,
        )

    async def see_through(self, why_cut: Callable[[], str]) -> Parting:
        """Work until the outcome, the wait for a person, the deadline, a stop, or the end of the lease."""
        self._why_cut = why_cut
        spec: AgentSpec | None = None
        work: Work | None = None
        try:
            spec = self._spec()
            told, stopped, left = await asyncio.to_thread(load_work, self._database, self._row)
            work = told
            ending = stopped or await self._ending(spec, told, left)
        except Retryable as error:
            # what the journal could not take may have happened: the lease runs out, and whoever takes over judges
            log.warning("left_to_its_lease", reason=str(error))
            return LEFT
        except (asyncio.CancelledError, Cancelled) as stop:
            # the journal says stop where a call was about to begin before we were told
            why = stop.why if isinstance(stop, Cancelled) else why_cut()
            if why == "lost":
                log.warning("lease_lost", assignment=self._row.id)
                return LOST
            asked = asyncio.to_thread(why_stopped, self._database, self._row.run_id, why)
            reason = await to_the_end(asked)
            ending = Ending(_CUTS.get(why, AssignmentState.cancelled), reason=reason)
        except LostLease as lost:
            log.warning("left", reason=str(lost))
            return LOST
        except NightdeskError as error:
            # what a newer version has begun is for its workers
            state = AssignmentState.queued if isinstance(error, NewerShape) else AssignmentState.failed
            ending = Ending(state, reason=str(error))
        return await to_the_end(self._leave(ending, spec, work))

    async def _ending(self, spec: AgentSpec, work: Work, left: float) -> Ending:
        try:
            async with asyncio.timeout(left), Meter(self._agents.purse, work).running():
                ended = await self._loop(spec, work)
        except TimeoutError:
            return Ending(AssignmentState.expired, reason="the deadline passed")
        except OverBudget as over:
            turns = await self._journal.load()
            what = await what_there_is(spec, work, self._agents.resources, turns, over.what)
            return Ending(AssignmentState.failed, reason=over.what, outcome=what, stops_run=True)
        except (LostLease, Cancelled, Retryable):
            raise
        except NightdeskError as error:
            log.warning("assignment_failed", reason=str(error))
            return Ending(AssignmentState.failed, reason=self._redactor.text(str(error)))
        if isinstance(ended, Parked):
            return Ending(AssignmentState.waiting, reason=f"waits for a person: {', '.join(ended.calls)}")
        if not ended.achieved:
            why = ended.not_done[0].why if ended.not_done else "nothing could be done"
            return Ending(AssignmentState.failed, reason=self._redactor.text(why), outcome=ended)
        return Ending(AssignmentState.done, outcome=ended)

    async def _loop(self, spec: AgentSpec, work: Work) -> Outcome | Parked:
        tools, self._missing = await self._agents.offered(spec)
        texts = self._texts = TextStream(
            self._agents.events, run_id=work.run_id, assignment_id=work.assignment_id, agent=spec.name
        )
        if self._row.fence > 1:
            texts.turn = 1 + len(await self._journal.load())

        async def judge(outcome: Outcome) -> tuple[Outcome, list[str]]:
            return await judged(spec, work, self._agents.resources, outcome, await self._journal.load())

        try:
            return await work_through(
                work,
                make_brain(spec, self._agents.model, self._settings, work, list(tools.values())),
                tools=list(tools),
                limits=self._limits(spec),
                journal=self._journal,
                calls=self._execution(spec, work, tools),
                check=judge,
                on_text=texts.write,
                announce=self._announce,
            )
        finally:
            await texts.close()

    def _execution(self, spec: AgentSpec, work: Work, tools: dict[str, Tool]) -> Execution:
        gate = Gate(
            work=work,
            database=self._database,
            journal=self._journal,
            policy=spec.policy(self._settings),
            ttl_seconds=self._settings.approval_ttl_seconds,
            redactor=self._redactor,
        )
        return Execution(
            work=work,
            tools=tools,
            journal=self._journal,
            gate=gate,
            meter=Meter(self._agents.purse, work),
            resources=self._agents.resources,
            redactor=self._redactor,
            why_cut=self._why_cut,
        )

    def _limits(self, spec: AgentSpec) -> Limits:
        s = self._settings
        turns = spec.max_turns or s.max_turns
        return Limits(turns=turns, calls=s.max_calls, tokens=s.max_tokens, cost=s.max_cost)

    def _spec(self) -> AgentSpec:
        spec = self._agents.agents.get(self._row.agent)
        if spec is None:
            raise Fatal(
                f"this worker has no agent {self._row.agent!r}", next_step="Start a worker of that agent."
            )
        return spec

    async def _announce(self, turn: DoneTurn) -> None:
        calls = ", ".join(call.tool for call in turn.calls) or "answer"
        self._texts.turn = turn.number + 1
        line = f"turn {turn.number} ({turn.brain}): {calls}"
        # nobody waits for Flower to hear of it
        asyncio.get_running_loop().run_in_executor(None, self._say, line)

    async def _leave(self, ending: Ending, spec: AgentSpec | None, work: Work | None) -> Parting:
        """Record how it ended, with what the journal proves was done."""
        try:
            turns = await self._journal.load()
            if ending.state is AssignmentState.waiting:
                await self._agents.events.told(park, self._database, self._row, ending.reason)
            else:
                outcome = None
                if spec and work and ending.state is not AssignmentState.queued:
                    tools = self._agents.tools(spec)
                    turns = await self._execution(spec, work, tools).close_open(turns)
                    collected = spec.collect(work, turns) if spec.collect else effects(turns)
                    outcome = merge(ending.outcome, self._without(collected, work, turns), turns)
                tell: list[Event] = [self._found(finding) for finding in outcome.findings] if outcome else []
                tell.append(moved(self._row, ending.state, ending.reason))
                await self._agents.events.told(finish, self._database, self._row, ending, outcome, tell=tell)
        except LostLease as lost:
            log.warning("outcome_not_recorded", reason=str(lost))
            return LOST
        return part(self._row, ending, turns)

    def _without(self, collected: Outcome, work: Work, turns: list[DoneTurn]) -> Outcome:
        """Return the outcome with what this assignment had to do without."""
        notes = [NotDone(what="MCP tools", why=self._redactor.text(why)) for why in self._missing]
        if work.brain == "model" and self._agents.model is None:
            notes.append(NotDone(what="the model asked for", why="none is configured; the routine answered"))
        elif why := why_instead(turns):
            notes.append(NotDone(what="an answer of the model", why=f"{why}; the routine answered"))
        return collected.model_copy(update={"not_done": [*collected.not_done, *notes]})

    def _found(self, finding: Finding) -> Event:
        row = self._row
        return FindingFound(run_id=row.run_id, assignment_id=row.id, agent=row.agent, finding=finding)
