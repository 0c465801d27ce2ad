"""Execution of a turn's calls: validate, gate, claim in the ledger, run in time, retry, commit, tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from agents.runtime.children import CallChildren, stop_earlier
from agents.runtime.gate import Gate
from agents.runtime.journal import Journal
from agents.runtime.meter import Meter
from agents.runtime.results import bounded, not_known, summary
from agents.runtime.spec import DoneCall, DoneTurn
from agents.runtime.tools import Reconciled, Resources, Tool, ToolContext
from kernel import logs
from kernel.clock import monotonic
from kernel.contracts import Effect, Work
from kernel.errors import Correctable, Exhausted, LostLease, NightdeskError, Refused, Retryable, Unknown
from kernel.events import ToolCallResult, ToolCallStart
from kernel.faults import around
from kernel.records import CallRow
from kernel.redaction import Redactor
from kernel.states import CALL_ENDED, CallState

log = logs.get(__name__)

#: Network errors are retried twice, one second apart (architecture, section 6).
_RETRIES = 2
_RETRY_SECONDS = 1.0
#: May be made again when the outcome of an earlier attempt is not known.
_REPEATABLE = frozenset({Effect.read, Effect.idempotent, Effect.keyed})


@dataclass(frozen=True, kw_only=True)
class Execution:
    """Runs the calls of one assignment; independent calls of a turn run side by side."""

    work: Work
    tools: dict[str, Tool]
    journal: Journal
    gate: Gate
    meter: Meter
    resources: Resources
    redactor: Redactor
    #: Why this work is being cut, once it is: a drained call is left for the next worker to judge.
    why_cut: Callable[[], str] = lambda: ""

    async def run_calls(self, turn: DoneTurn) -> DoneTurn:
        """Run every call of the turn that has not ended; those that need a person stay `waiting`."""
        settled: dict[str, DoneCall] = {}
        turn = await stop_earlier(self.resources.database, self.journal, turn)
        firsts = list({call.key: call for call in reversed(turn.calls)}.values())
        # the same call twice in one turn: the second comes after the first, and finds its result
        for group in (firsts, [call for call in turn.calls if call not in firsts]):
            results = await asyncio.gather(*(self._settle(call) for call in group), return_exceptions=True)
            for call, result in zip(group, results, strict=True):
                if isinstance(result, BaseException):
                    raise result
                settled[call.id] = result
        return turn.model_copy(update={"calls": [settled[call.id] for call in turn.calls]})

    async def _settle(self, call: DoneCall) -> DoneCall:
        if call.state in CALL_ENDED:
            return call
        tool = self.tools.get(call.tool)
        try:
            if tool is None:
                raise Correctable(
                    f"there is no tool {call.tool!r}",
                    next_step=f"Use one of: {', '.join(sorted(self.tools))}.",
                )
            tool.check(call.arguments)
            if call.fence and call.fence != self.journal.fence:
                if (taken := await self._take_over(tool, call)) is not None:
                    return taken
            elif tool.effect is not Effect.read and (twin := await self.journal.twin(call)) is not None:
                return await self._as_twin(call, twin)
            context = self._context(call)
            if not await self.gate.opens(tool, call, context):
                return call
            await self.meter.count(call.id)
            return await self._make(tool, call, context)
        except (Correctable, Refused) as error:
            return await self._refuse(call, error)

    async def _make(self, tool: Tool, call: DoneCall, context: ToolContext) -> DoneCall:
        told = ToolCallStart(
            run_id=self.work.run_id,
            assignment_id=self.work.assignment_id,
            agent=self.work.agent,
            call_id=call.id,
            tool=call.tool,
            arguments=self.redactor.value(call.arguments),
            attempt=call.attempts + 1,
        )
        attempt = await self.journal.begin(call.id, tool.effect, tell=[told])
        started = monotonic()
        try:
            value = await self._attempts(tool, call, context, attempt)
        except asyncio.CancelledError:
            await asyncio.shield(self._cut_short(tool, call, monotonic() - started))
            raise
        except LostLease:
            raise
        except NightdeskError as error:
            state = CallState.unknown if isinstance(error, Unknown) else CallState.failed
            return await self._end(tool, call, state, monotonic() - started, error=error)
        except Exception as error:  # the tool boundary: a tool's bug is a result, not the end of the run
            log.exception("tool_bug", tool=call.tool, call=call.id)
            state = CallState.failed if tool.effect is Effect.read else CallState.unknown
            bug = NightdeskError(f"{call.tool} broke", why=f"{type(error).__name__}: {error}")
            return await self._end(tool, call, state, monotonic() - started, error=bug)
        return await self._end(tool, call, CallState.done, monotonic() - started, value=value)

    async def _attempts(self, tool: Tool, call: DoneCall, context: ToolContext, attempt: int) -> Any:
        settings = self.resources.settings
        limit = tool.timeout or (settings.external_tool_timeout if tool.external else settings.tool_timeout)
        for left in range(_RETRIES, -1, -1):
            try:
                async with asyncio.timeout(limit):
                    with around("call.effect"):
                        return await tool.run(context, call.arguments)
            except TimeoutError:
                return self._timed_out(tool, limit)
            except Retryable as error:
                if left == 0 or not (tool.effect in _REPEATABLE or error.untouched):
                    raise self._surely(tool, error) from error
                await asyncio.sleep(max(_RETRY_SECONDS, error.retry_after or 0.0))
        raise Unknown(f"{tool.name} ended without an answer")

    @staticmethod
    def _surely(tool: Tool, error: Retryable) -> NightdeskError:
        """Return the error where nothing can have happened, else that it is not known."""
        if tool.effect is Effect.read or error.untouched:
            return error
        return Unknown(error.what, why=f"{error.why}; it may have happened all the same")

    @staticmethod
    def _timed_out(tool: Tool, limit: float) -> Any:
        if tool.effect is Effect.read:
            raise Exhausted(
                f"{tool.name} took longer than {limit:g} s", next_step="Ask for less, or use another tool."
            )
        raise Unknown(f"{tool.name} took longer than {limit:g} s", why="it may have happened all the same")

    async def _take_over(self, tool: Tool, call: DoneCall) -> DoneCall | None:
        """Decide about a call that another worker began: None means make it (again)."""
        if tool.effect in _REPEATABLE and not call.runs_on:
            return None
        asks = tool.effect is Effect.probe and tool.reconcile is not None and not call.runs_on
        found = await self._probe(tool, call, self._context(call)) if asks else Reconciled(happened=None)
        if found.happened is False:
            return None
        if found.happened:
            return await self._end(tool, call, CallState.done, 0.0, value=found.value)
        return await self._end(tool, call, CallState.unknown, 0.0, error=not_known(call, probe=found.note))

    async def _probe(self, tool: Tool, call: DoneCall, context: ToolContext) -> Reconciled:
        """Ask the world; a probe that fails knows nothing."""
        assert tool.reconcile is not None
        try:
            return await tool.reconcile(context, call.arguments)
        except LostLease:
            raise
        except NightdeskError as error:
            log.warning("probe_failed", call=call.id, reason=str(error))
            return Reconciled(happened=None, note=str(error))

    async def _as_twin(self, call: DoneCall, twin: CallRow) -> DoneCall:
        """Answer a call with the stored result of its twin: the same effect happens at most once."""
        result = twin.result or {}
        await self.journal.begin(call.id, Effect(twin.effect))
        state = CallState(twin.state) if CallState(twin.state) in CALL_ENDED else CallState.unknown
        state = CallState.failed if state is CallState.denied else state
        return await self._close(call, state, value=result.get("value"), error=result.get("error"))

    async def _cut_short(self, tool: Tool, call: DoneCall, seconds: float) -> None:
        if self.why_cut() in ("drain", "lost"):
            return  # it stays claimed: whoever takes over judges it by its effect
        state = CallState.failed if tool.effect is Effect.read else CallState.unknown
        error = NightdeskError("stopped while it ran", why="the run was stopped", next_step="")
        try:
            await self._end(tool, call, state, seconds, error=error)
        except NightdeskError as lost:
            log.warning("cut_short_not_recorded", call=call.id, reason=str(lost))

    async def _refuse(self, call: DoneCall, error: NightdeskError) -> DoneCall:
        """End a call that is not made now; one that an earlier worker began may have happened all the same."""
        if call.fence and call.effect != Effect.read.value:
            unsure = self.redactor.value(not_known(call).as_result())
            return await self._close(call, CallState.unknown, error=unsure)
        if call.state is CallState.waiting and isinstance(error, Refused):
            state = CallState.denied
        else:
            state = CallState.failed
            if call.state is CallState.waiting:
                await self.journal.move(call.id, CallState.claimed)
        return await self._close(call, state, error=self.redactor.value(error.as_result()))

    async def _end(
        self,
        tool: Tool,
        call: DoneCall,
        state: CallState,
        seconds: float,
        *,
        value: Any = None,
        error: NightdeskError | None = None,
    ) -> DoneCall:
        safe = await asyncio.to_thread(bounded, value, self.redactor, self.resources.artifacts)
        problem = self.redactor.value(error.as_result()) if error is not None else None
        return await self._close(call, state, value=safe, error=problem, effect=tool.effect, seconds=seconds)

    async def _close(
        self,
        call: DoneCall,
        state: CallState,
        *,
        value: Any = None,
        error: dict[str, str] | None = None,
        effect: Effect = Effect.read,
        seconds: float = 0.0,
    ) -> DoneCall:
        """Commit the end of a call with the event that tells of it, and return the call as it ended."""
        done = call.model_copy(update={"state": state, "value": value, "error": error})
        told = ToolCallResult(
            run_id=self.work.run_id,
            assignment_id=self.work.assignment_id,
            agent=self.work.agent,
            call_id=call.id,
            tool=call.tool,
            state=state.value,
            summary=summary(done),
            seconds=round(seconds, 3),
        )
        await self.journal.end(call.id, state, value=value, error=error, effect=effect, tell=[told])
        return done

    def _context(self, call: DoneCall) -> ToolContext:
        return ToolContext(
            work=self.work,
            resources=self.resources,
            call_id=call.id,
            key=call.key,
            attempt=call.attempts + 1,
            children=CallChildren(self.journal, call.id),
        )
