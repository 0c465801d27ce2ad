"""Execution of a turn's calls: validate, gate, claim in the ledger, run in time, retry, commit, tell."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from agents.runtime.children import CallChildren, stop_earlier
from agents.runtime.gate import Gate
from agents.runtime.journal import Journal
from agents.runtime.meter import Meter
from agents.runtime.progress import CallProgress
from agents.runtime.spec import DoneCall, DoneTurn
from agents.runtime.tools import Resources, Tool, ToolContext
from agents.runtime.verdicts import REPEATABLE, Verdicts
from kernel import logs
from kernel.clock import monotonic
from kernel.contracts import Effect, Work
from kernel.errors import Correctable, Exhausted, LostLease, NightdeskError, Refused, Retryable, Unknown
from kernel.events import ToolCallStart
from kernel.faults import around
from kernel.redaction import Redactor
from kernel.states import CALL_ENDED, CallState
from kernel.unbroken import to_the_end

log = logs.get(__name__)

#: Network errors are retried twice, one second apart (architecture, section 6).
_RETRIES = 2
_RETRY_SECONDS = 1.0


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

    @cached_property
    def verdicts(self) -> Verdicts:
        """Return what ends the calls."""
        return Verdicts(
            work=self.work, journal=self.journal, artifacts=self.resources.artifacts, redactor=self.redactor
        )

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
                if (taken := await self.verdicts.taken_over(tool, call, self._context(call))) is not None:
                    return taken
            elif tool.effect is not Effect.read and (twin := await self.journal.twin(call)) is not None:
                return await self.verdicts.as_twin(call, twin)
            context = self._context(call)
            if not await self.gate.opens(tool, call, context):
                return call
            await self.meter.count(call.id)
            return await self._make(tool, call, context)
        except (Correctable, Refused) as error:
            return await self.verdicts.refused(call, error)

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
            await to_the_end(self._cut_short(tool, call, context, monotonic() - started))
            raise
        except LostLease:
            raise
        except NightdeskError as error:
            state = CallState.unknown if isinstance(error, Unknown) else CallState.failed
            return await self.verdicts.end(tool, call, state, monotonic() - started, error=error)
        except Exception as error:  # the tool boundary: a tool's bug is a result, not the end of the run
            log.exception("tool_bug", tool=call.tool, call=call.id)
            state = CallState.failed if tool.effect is Effect.read else CallState.unknown
            bug = NightdeskError(f"{call.tool} broke", why=f"{type(error).__name__}: {error}")
            return await self.verdicts.end(tool, call, state, monotonic() - started, error=bug)
        return await self.verdicts.end(tool, call, CallState.done, monotonic() - started, value=value)

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
                if left == 0 or not (tool.effect in REPEATABLE or error.untouched):
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

    async def _cut_short(self, tool: Tool, call: DoneCall, context: ToolContext, seconds: float) -> None:
        if self.why_cut() in ("drain", "lost"):
            return  # it stays claimed: whoever takes over judges it by its effect
        try:
            await self.verdicts.stopped(tool, call, context, seconds)
        except NightdeskError as lost:
            log.warning("cut_short_not_recorded", call=call.id, reason=str(lost))

    async def close_open(self, turns: list[DoneTurn]) -> list[DoneTurn]:
        """End the calls that were begun and never ended, as an assignment ends: nobody takes them over any more."""
        return [await self._close_turn(turn) for turn in turns]

    async def _close_turn(self, turn: DoneTurn) -> DoneTurn:
        if not any(_is_open(call) for call in turn.calls):
            return turn
        turn = await stop_earlier(self.resources.database, self.journal, turn)
        calls = [
            await self.verdicts.stopped(self.tools.get(call.tool), call, self._context(call), 0.0)
            if _is_open(call)
            else call
            for call in turn.calls
        ]
        return turn.model_copy(update={"calls": calls})

    def _context(self, call: DoneCall) -> ToolContext:
        return ToolContext(
            work=self.work,
            resources=self.resources,
            call_id=call.id,
            key=call.key,
            attempt=call.attempts + 1,
            children=CallChildren(self.journal, call.id),
            progress=CallProgress(self.journal.events, self.work, call),
        )


def _is_open(call: DoneCall) -> bool:
    return call.fence > 0 and call.state not in CALL_ENDED
