"""The gate before a call: policy first, then a person's decision bound to what the call would do now."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from datetime import timedelta

from sqlmodel import Session

from agents.runtime.approvals import ApprovalPolicy, decide, digest
from agents.runtime.journal import Journal
from agents.runtime.spec import DoneCall
from agents.runtime.tools import Prepared, Tool, ToolContext
from kernel.clock import now
from kernel.contracts import Work
from kernel.database import Database
from kernel.errors import Refused
from kernel.events import ApprovalRequested
from kernel.records import ApprovalRow
from kernel.redaction import Redactor
from kernel.states import ApprovalState

_SAID = {
    ApprovalState.denied: "a person said no",
    ApprovalState.expired: "nobody decided in time, which means no",
}


@dataclass(frozen=True, kw_only=True)
class Gate:
    """Lets a call through, refuses it, or asks a person and keeps it waiting."""

    work: Work
    database: Database
    journal: Journal
    policy: ApprovalPolicy
    ttl_seconds: float
    redactor: Redactor

    async def opens(self, tool: Tool, call: DoneCall, context: ToolContext) -> bool:
        """Return True where the call may be made now, False where it waits; raise Refused where it must not."""
        prepared = await tool.prepare(context, call.arguments) if tool.prepare else Prepared(risk=tool.risk)
        verdict = decide(
            tool.effect, prepared.risk, tool=tool.name, policy=self.policy, target=prepared.target
        )
        if verdict == "refuse":
            raise Refused(f"{tool.name} is not allowed here", why="the approval policy refuses it")
        if verdict == "allow":
            return True
        approval = await asyncio.to_thread(self._approval, call.id)
        if approval is None:
            await self._ask(tool, call, prepared)
            return False
        return self._decided(tool, call, prepared, approval)

    def _decided(self, tool: Tool, call: DoneCall, prepared: Prepared, approval: ApprovalRow) -> bool:
        state = ApprovalState(approval.state)
        if state is ApprovalState.pending:
            return False
        if state is not ApprovalState.approved:
            raise Refused(f"{tool.name} was not approved", why=approval.reason or _SAID[state])
        if self._digest(tool, call, prepared, approval) != approval.digest:
            raise Refused(
                f"{tool.name} was approved for something else",
                why="its target or its command changed since a person looked at it",
                next_step="Submit it again to have the present state approved.",
            )
        return True

    def _digest(self, tool: Tool, call: DoneCall, prepared: Prepared, approval: ApprovalRow) -> str:
        assert approval.expires_at is not None
        return digest(
            tool=tool.name,
            arguments=call.arguments,
            prepared=prepared,
            requester=approval.requester,
            expires_at=approval.expires_at,
        )

    def _approval(self, call_id: str) -> ApprovalRow | None:
        with self.database.reading() as session:
            return session.get(ApprovalRow, call_id)

    async def _ask(self, tool: Tool, call: DoneCall, prepared: Prepared) -> None:
        asked = ApprovalRow(
            call_id=call.id,
            run_id=self.work.run_id,
            assignment_id=self.work.assignment_id,
            tool=tool.name,
            argv=self.redactor.value(prepared.argv),
            digest="",
            risk=prepared.risk,
            why=self.redactor.text(self.work.goal)[:300],
            shown=self.redactor.value(_shown(prepared)),
            requester=self.work.user,
            expires_at=now() + timedelta(seconds=self.ttl_seconds),
        )
        asked.digest = self._digest(tool, call, prepared, asked)

        def change(session: Session) -> None:
            session.add(asked)

        told = ApprovalRequested(
            run_id=self.work.run_id,
            assignment_id=self.work.assignment_id,
            agent=self.work.agent,
            call_id=call.id,
            tool=tool.name,
            argv=asked.argv,
            digest=asked.digest,
            risk=asked.risk,
            expires_at=asked.expires_at.isoformat() if asked.expires_at else "",
            why=asked.why,
            **asked.shown,
        )
        await self.journal.write("journal.ask", change, durable=True, tell=[told])


def _shown(prepared: Prepared) -> dict[str, str]:
    """Return what the person sees beside the argv; the digest covers it."""
    return {"target": prepared.target, "dry_run": prepared.dry_run, "undo": prepared.undo}
