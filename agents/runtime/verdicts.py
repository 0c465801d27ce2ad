"""Verdicts on calls: what one came to, as far as can be known, committed with the event that tells of it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any

from agents.runtime.journal import Journal
from agents.runtime.results import bounded, not_known, summary
from agents.runtime.spec import DoneCall
from agents.runtime.tools import Reconciled, Tool, ToolContext
from kernel import logs
from kernel.artifacts import ArtifactStore
from kernel.contracts import Effect, Work
from kernel.errors import LostLease, NightdeskError, Refused, Retryable
from kernel.events import ToolCallResult
from kernel.records import CallRow
from kernel.redaction import Redactor
from kernel.states import CALL_ENDED, CallState

log = logs.get(__name__)

#: May be made again when the outcome of an earlier attempt is not known.
REPEATABLE = frozenset({Effect.read, Effect.idempotent, Effect.keyed})
#: Seconds that the world is asked what a stopped call came to: a person waits for the answer to a cancel.
_LOOK_SECONDS = 5.0
#: A database that restarts or fails over is back in this time; a lease that runs out before cuts the wait.
_TRIES, _TRY_SECONDS = 20, 1.0
_STOPPED = NightdeskError("stopped while it ran", why="the run was stopped")


@dataclass(frozen=True, kw_only=True)
class Verdicts:
    """Ends the calls of one assignment under one fence."""

    work: Work
    journal: Journal
    artifacts: ArtifactStore
    redactor: Redactor

    async def taken_over(self, tool: Tool, call: DoneCall, context: ToolContext) -> DoneCall | None:
        """Decide about a call that another attempt began: None means make it (again)."""
        if tool.effect in REPEATABLE and not call.runs_on:
            return None
        found = await self._look(tool, call, context)
        if found.happened is False:
            return None
        if found.happened:
            return await self.end(tool, call, CallState.done, 0.0, value=found.value)
        return await self.end(tool, call, CallState.unknown, 0.0, error=not_known(call, probe=found.note))

    async def stopped(
        self, tool: Tool | None, call: DoneCall, context: ToolContext, seconds: float
    ) -> DoneCall:
        """End a call that was cut, or left behind, and that nobody makes again; the world is asked where it can be."""
        effect = tool.effect if tool is not None else Effect(call.effect)
        if effect is Effect.read:
            return await self._close(call, CallState.failed, error=_STOPPED, effect=effect, seconds=seconds)
        found = await self._look(tool, call, context) if tool is not None else Reconciled(happened=None)
        if found.happened:
            value = await self._stored(found.value)
            return await self._close(call, CallState.done, value=value, effect=effect, seconds=seconds)
        if found.happened is False:
            gone = NightdeskError("stopped before it had any effect", why=found.note)
            return await self._close(call, CallState.failed, error=gone, effect=effect, seconds=seconds)
        unsure = not_known(call, probe=found.note) if call.fence else _STOPPED
        return await self._close(call, CallState.unknown, error=unsure, effect=effect, seconds=seconds)

    async def as_twin(self, call: DoneCall, twin: CallRow) -> DoneCall:
        """Answer a call with the stored result of its twin: the same effect happens at most once."""
        result = twin.result or {}
        await self.journal.begin(call.id, Effect(twin.effect))
        state = CallState(twin.state) if CallState(twin.state) in CALL_ENDED else CallState.unknown
        state = CallState.failed if state is CallState.denied else state
        return await self._commit(call, state, value=result.get("value"), error=result.get("error"))

    async def refused(self, call: DoneCall, error: NightdeskError) -> DoneCall:
        """End a call that is not made now; one that an earlier worker began may have happened all the same."""
        if call.fence and call.effect != Effect.read.value:
            return await self._close(call, CallState.unknown, error=not_known(call))
        if call.state is CallState.waiting and isinstance(error, Refused):
            return await self._close(call, CallState.denied, error=error)
        if call.state is CallState.waiting:
            await self.journal.move(call.id, CallState.claimed)
        return await self._close(call, CallState.failed, error=error)

    async def end(
        self,
        tool: Tool,
        call: DoneCall,
        state: CallState,
        seconds: float,
        *,
        value: Any = None,
        error: NightdeskError | None = None,
    ) -> DoneCall:
        """Commit how a call ended; a large value becomes an artifact, all of it is redacted."""
        safe = await self._stored(value)
        return await self._close(call, state, value=safe, error=error, effect=tool.effect, seconds=seconds)

    async def _look(self, tool: Tool, call: DoneCall, context: ToolContext) -> Reconciled:
        """Ask the world whether a call happened; a probe that fails, or takes long, knows nothing."""
        if tool.effect is not Effect.probe or tool.reconcile is None or call.runs_on:
            return Reconciled(happened=None)
        try:
            async with asyncio.timeout(_LOOK_SECONDS):
                return await tool.reconcile(context, call.arguments)
        except TimeoutError:
            return Reconciled(happened=None, note=f"the probe gave no answer within {_LOOK_SECONDS:g} s")
        except LostLease:
            raise
        except NightdeskError as error:
            log.warning("probe_failed", call=call.id, reason=str(error))
            return Reconciled(happened=None, note=str(error))

    async def _stored(self, value: Any) -> Any:
        return await asyncio.to_thread(bounded, value, self.redactor, self.artifacts)

    async def _close(
        self,
        call: DoneCall,
        state: CallState,
        *,
        value: Any = None,
        error: NightdeskError | None = None,
        effect: Effect = Effect.read,
        seconds: float = 0.0,
    ) -> DoneCall:
        told = self.redactor.value(error.as_result()) if error is not None else None
        return await self._commit(call, state, value=value, error=told, effect=effect, seconds=seconds)

    async def _commit(
        self,
        call: DoneCall,
        state: CallState,
        *,
        value: Any = None,
        error: dict[str, str] | None = None,
        effect: Effect = Effect.read,
        seconds: float = 0.0,
    ) -> DoneCall:
        """Commit the end of a call with the event that tells of it, and return the call as it ended.

        Nobody else knows it: a database that is away for a moment is waited for, while the lease is ours.
        """
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
        for left in range(_TRIES - 1, -1, -1):
            try:
                await self.journal.end(call.id, state, value=value, error=error, effect=effect, tell=[told])
                break
            except Retryable as away:
                if not left:
                    raise
                log.warning("end_of_call_waits", call=call.id, reason=str(away))
                await asyncio.sleep(_TRY_SECONDS)
        return done
