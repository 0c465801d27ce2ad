"""Tools of the action agent: one per action of the catalogue, and nothing that takes a command line."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass
from typing import Any

import structlog

from agents.action_execution.action import Action
from agents.action_execution.catalogue import Catalogue, load_catalogue
from agents.action_execution.children import ChildResult, run_child
from agents.action_execution.policy import load_policy
from agents.action_execution.resolution import Resolved
from agents.action_execution.verification import QUESTION_SECONDS, Verified, verify
from agents.runtime.approvals import ApprovalPolicy, is_protected
from agents.runtime.processes import GRACE_SECONDS
from agents.runtime.tools import Prepared, Reconciled, Tool, ToolContext
from kernel.contracts import Effect
from kernel.database import BUSY_SECONDS
from kernel.errors import Correctable, Refused, Unknown
from kernel.settings import Settings

#: Seconds a dry run may take.
DRY_RUN_SECONDS = 10.0

#: Seconds that a tool's time-out lies above what its parts may take, so that the parts end it cleanly; the
#: program waits for its record, and that for a busy database.
_MARGIN_SECONDS = 5.0 + BUSY_SECONDS

_WHY_CHARACTERS = 500


def build_tools(settings: Settings) -> list[Tool]:
    """Return one tool per action that can run here; raise Fatal where the catalogue is wrong."""
    catalogue, policy = load_catalogue(settings.actions), load_policy(settings.actions)
    if catalogue.unavailable:
        structlog.get_logger().info("actions_unavailable", actions=catalogue.unavailable)
    return [CatalogueAction(a, catalogue, policy).tool() for a in catalogue.actions.values()]


@dataclass(frozen=True)
class CatalogueAction:
    """One action bound to its catalogue and policy."""

    action: Action
    catalogue: Catalogue
    policy: ApprovalPolicy

    def tool(self) -> Tool:
        """Return the action as a tool."""
        action = self.action
        probing = DRY_RUN_SECONDS if action.probe else 0.0
        verifying = action.verify.within_seconds + QUESTION_SECONDS if action.verify else 0.0
        return Tool(
            name=action.name,
            description=_description(action),
            parameters=self.catalogue.resolver.schema(action),
            effect=action.effect,
            risk="high" if action.risk == "forbidden" else action.risk,
            timeout=action.timeout + GRACE_SECONDS + probing + verifying + _MARGIN_SECONDS,
            run=self.run,
            prepare=self.prepare,
            reconcile=self.reconcile if action.probe else None,
        )

    async def prepare(self, ctx: ToolContext, arguments: dict[str, Any]) -> Prepared:
        """Return what a use would do, with its dry run; raise Correctable where the dry run says no."""
        action, resolved = self.action, self._resolve(ctx, arguments)
        dry_run = ""
        if resolved.dry_run:
            result = await run_child(
                resolved.dry_run, seconds=DRY_RUN_SECONDS, limits=action.limits, env=resolved.env
            )
            if result.exit_code or result.timed_out:
                raise Correctable(
                    f"the dry run of {action.name!r} failed",
                    why=_ending(result),
                    next_step="Look at the target before you try again.",
                )
            dry_run = result.output.strip()
        return Prepared(
            argv=resolved.argv,
            target=resolved.target,
            risk="high" if action.risk == "forbidden" else action.risk,
            dry_run=dry_run,
            undo=resolved.undo,
            detail={"effect": action.effect.value, "verify": resolved.verify_argv or resolved.verify_url},
        )

    async def run(self, ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, Any]:
        """Run the action and verify it. A failed exit is a result; an open outcome is Unknown."""
        action, resolved = self.action, self._resolve(ctx, arguments)
        result = await run_child(
            resolved.argv,
            seconds=action.timeout,
            limits=action.limits,
            env=resolved.env,
            log=ctx.children,
        )
        if (
            result.timed_out or result.exit_code < 0
        ):  # a program that was killed could not say what it had done
            return await self._after_stop(ctx, arguments, resolved, result)
        if result.exit_code:
            return _report(resolved, "failed", _not_verified(result), result)
        checked = await verify(action, resolved, self.catalogue.resolver.inventory.hosts)
        return _report(resolved, "done", checked, result)

    async def _after_stop(
        self, ctx: ToolContext, arguments: dict[str, Any], resolved: Resolved, result: ChildResult
    ) -> dict[str, Any]:
        """Return what a stopped use came to; raise Unknown where neither its effect nor a probe can tell."""
        if self.action.effect in (Effect.read, Effect.idempotent):
            return _report(resolved, "failed", _not_verified(result), result)
        found = await self.reconcile(ctx, arguments)
        if found.happened is None:
            raise Unknown(
                f"{self.action.name!r} was stopped and may have had its effect",
                why=f"{shlex.join(resolved.argv)}: {_ending(result)}; {found.note}",
                next_step="Look at the target; do not run it again unseen.",
            )
        if found.happened:
            return dict(found.value)
        return _report(resolved, "failed", _not_verified(result), result)

    async def reconcile(self, ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        """Ask the world whether the action happened, by its probe."""
        action, resolved = self.action, self._resolve(ctx, arguments)
        if action.probe is None:
            return Reconciled(happened=None, note="the action has no probe")
        seen = await run_child(
            resolved.probe, seconds=DRY_RUN_SECONDS, limits=action.limits, env=resolved.env
        )
        note = f"probe: {_ending(seen)}"
        if seen.timed_out or seen.exit_code not in (action.probe.happened, action.probe.not_happened):
            return Reconciled(happened=None, note=note)
        if seen.exit_code == action.probe.not_happened:
            return Reconciled(happened=False, note=note)
        checked = await verify(action, resolved, self.catalogue.resolver.inventory.hosts)
        return Reconciled(happened=True, value=_report(resolved, "done", checked, None), note=note)

    def _resolve(self, ctx: ToolContext, arguments: dict[str, Any]) -> Resolved:
        resolved = self.catalogue.resolver.resolve(self.action, arguments, key=ctx.key or "none")
        if is_protected(resolved.target, self.policy):
            raise Refused(
                f"{resolved.target} is protected",
                why=f"the policy lets no action touch it, so {self.action.name!r} was not run",
                next_step="Do it by hand if it must be done.",
            )
        return resolved


def _description(action: Action) -> str:
    verified = "Verified after it ran." if action.verify else "Not verified."
    asks = "" if action.risk == "read" else " A person may have to approve it first."
    example = json.dumps(action.examples.accept[0], ensure_ascii=False)
    return f"{action.description.strip()} {verified}{asks}\n\nExample: {example}"


def _ending(result: ChildResult) -> str:
    how = f"timed out after {result.seconds:.0f} s" if result.timed_out else f"exit code {result.exit_code}"
    said = result.output.strip()[-_WHY_CHARACTERS:]
    return f"{how}: {said}" if said else how


def _not_verified(result: ChildResult) -> Verified:
    return Verified(good=None, detail=f"not verified: {_ending(result)}")


def _report(resolved: Resolved, state: str, checked: Verified, result: ChildResult | None) -> dict[str, Any]:
    """Return what the journal keeps of a use; `exit_code` is None where only a probe saw it."""
    ended = result.model_dump() if result else {"exit_code": None, "output_head": "", "output_tail": ""}
    return {
        "state": state,
        "argv": resolved.argv,
        **ended,
        "verified": checked.good,
        "verify_detail": checked.detail,
    }
