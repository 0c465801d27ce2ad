"""The approval decision and the digest it binds to."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.runtime.approvals import ApprovalPolicy, decide, digest, is_protected
from agents.runtime.tools import Prepared
from kernel.contracts import Effect
from kernel.errors import Fatal

WHEN = datetime(2026, 11, 3, 12, 0, tzinfo=UTC)
EVERYTHING = ApprovalPolicy(allow=["restart"])


@pytest.mark.parametrize(
    ("effect", "risk", "policy", "tainted", "want"),
    [
        (Effect.read, "read", ApprovalPolicy(), False, "allow"),
        (Effect.read, "read", ApprovalPolicy(), True, "allow"),
        (Effect.idempotent, "low", ApprovalPolicy(), False, "ask"),
        (Effect.idempotent, "low", EVERYTHING, False, "allow"),
        (Effect.idempotent, "low", EVERYTHING, True, "ask"),
        (Effect.idempotent, "high", EVERYTHING, False, "ask"),
        (Effect.read, "high", EVERYTHING, False, "ask"),
        (Effect.unsafe, "low", EVERYTHING, False, "ask"),
        (Effect.unsafe, "read", EVERYTHING, False, "ask"),
        (Effect.read, "read", ApprovalPolicy(refuse=["restart"]), False, "refuse"),
        (Effect.idempotent, "low", ApprovalPolicy(allow=["restart"], refuse=["restart"]), False, "refuse"),
    ],
)
def test_the_strictest_rule_wins(
    effect: Effect, risk: Any, policy: ApprovalPolicy, tainted: bool, want: str
) -> None:
    assert decide(effect, risk, tool="restart", policy=policy, tainted=tainted) == want


@given(st.sampled_from(list(Effect)), st.sampled_from(["low", "high"]), st.text())
def test_a_tainted_call_with_an_effect_never_runs_unasked(effect: Effect, risk: Any, tool: str) -> None:
    policy = ApprovalPolicy(allow=[tool])
    assert decide(effect, risk, tool=tool, policy=policy, tainted=True) == "ask"


def test_a_protected_target_is_refused_whatever_the_risk() -> None:
    policy = ApprovalPolicy(allow=["restart"], protected=["service:redis*"])
    assert (
        decide(Effect.idempotent, "low", tool="restart", policy=policy, target="service:redis-1") == "refuse"
    )
    assert decide(Effect.idempotent, "low", tool="restart", policy=policy, target="service:web") == "allow"
    assert not is_protected("", policy)


def _digest(**changes: Any) -> str:
    values: dict[str, Any] = {
        "tool": "restart",
        "arguments": {"service": "结账", "config": "last-good"},
        "prepared": Prepared(
            argv=["/bin/x", "a"], target="service:结账", risk="high", dry_run="would restart"
        ),
        "requester": "ann",
        "expires_at": WHEN,
    }
    return digest(**(values | changes))


def test_the_digest_does_not_depend_on_key_order_or_zone() -> None:
    same = _digest(
        arguments={"config": "last-good", "service": "结账"},
        expires_at=WHEN.astimezone(timezone(timedelta(hours=8))),
    )
    assert same == _digest()
    assert len(same) == 64


@pytest.mark.parametrize(
    "changes",
    [
        {"tool": "stop"},
        {"arguments": {"service": "结账", "config": "current"}},
        {
            "prepared": Prepared(
                argv=["/bin/x", "a b"], target="service:结账", risk="high", dry_run="would restart"
            )
        },
        {
            "prepared": Prepared(
                argv=["/bin/x", "a"], target="service:b", risk="high", dry_run="would restart"
            )
        },
        {
            "prepared": Prepared(
                argv=["/bin/x", "a"], target="service:结账", risk="high", dry_run="would stop"
            )
        },
        {"requester": "bob"},
        {"expires_at": WHEN + timedelta(microseconds=1)},
    ],
)
def test_any_change_gives_another_digest(changes: dict[str, Any]) -> None:
    assert _digest(**changes) != _digest()


def test_argv_elements_do_not_run_together() -> None:
    one = _digest(prepared=Prepared(argv=["a", "b"]))
    assert one != _digest(prepared=Prepared(argv=["a b"]))


def test_a_lone_surrogate_still_has_a_digest() -> None:
    assert len(_digest(arguments={"x": "\ud800"})) == 64


def test_an_expiry_without_zone_is_a_bug() -> None:
    with pytest.raises(Fatal, match="without a zone"):
        _digest(expires_at=datetime(2026, 11, 3))  # noqa: DTZ001 the point of the test
