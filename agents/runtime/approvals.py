"""Approvals, pure: whether a call runs, asks a person or is refused, and what a decision binds to."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from typing import Any, Literal

from agents.runtime.tools import Prepared, Risk
from kernel.contracts import Effect, Value
from kernel.errors import Fatal

Decision = Literal["allow", "ask", "refuse"]

#: Goes into every digest, so that a change of its recipe voids open approvals instead of confusing them.
_DIGEST_VERSION = "nightdesk-approval-1"


class ApprovalPolicy(Value):
    """What the operator decided beforehand.

    `allow` names low-risk tools that run without a person, `refuse` names tools that never run, `protected`
    holds patterns (`service:redis*`) over resolved targets that nothing may touch. Empty: ask about all.
    """

    allow: list[str] = []
    refuse: list[str] = []
    protected: list[str] = []


def decide(
    effect: Effect,
    risk: Risk,
    *,
    tool: str,
    policy: ApprovalPolicy,
    tainted: bool = False,
    target: str = "",
) -> Decision:
    """Return what the policy says about a call.

    `tainted`: an argument was seen in untrusted text only; such a call with an effect always asks. The
    strictest rule wins: refuse, then ask, then allow.
    """
    if tool in policy.refuse or is_protected(target, policy):
        return "refuse"
    if risk == "high" or effect is Effect.unsafe:
        return "ask"  # also a tool that calls itself harmless but cannot say whether it happened
    if risk == "read":
        return "allow"
    return "allow" if tool in policy.allow and not tainted else "ask"


def is_protected(target: str, policy: ApprovalPolicy) -> bool:
    """Return whether a resolved target matches a protected pattern."""
    return bool(target) and any(fnmatchcase(target, pattern) for pattern in policy.protected)


def digest(
    *, tool: str, arguments: dict[str, Any], prepared: Prepared, requester: str, expires_at: datetime
) -> str:
    """Return the sha256 a decision binds to: all that the person saw is in it, so any change asks again."""
    if expires_at.tzinfo is None:
        raise Fatal(f"an approval cannot expire at a moment without a zone: {expires_at!r}")
    seen = {
        "version": _DIGEST_VERSION,
        "action": tool,
        "parameters": arguments,
        "target": prepared.target,
        "argv": prepared.argv,
        "dry_run": prepared.dry_run,
        "undo": prepared.undo,
        "risk": prepared.risk,
        "requester": requester,
        "expires_at": expires_at.astimezone(UTC).isoformat(),
    }
    # ASCII escapes: every string, even one with a lone surrogate from a model, has exactly one spelling
    canonical = json.dumps(seen, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(canonical.encode("ascii")).hexdigest()
