"""The policy file."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.action_execution.policy import load_policy
from agents.runtime.approvals import ApprovalPolicy, is_protected
from kernel.errors import Fatal

REPO = Path(__file__).parents[4]


def test_without_a_file_nothing_is_allowed(tmp_path: Path) -> None:
    assert load_policy(tmp_path) == ApprovalPolicy()


def test_the_shipped_policy_protects_process_1_and_allows_nothing() -> None:
    policy = load_policy(REPO / "ops" / "actions")
    assert policy.allow == []
    assert is_protected("process:1", policy)


@pytest.mark.parametrize("text", ["allow: everything", "permit: [x]", "- x", "a: ["])
def test_a_wrong_file_stops(tmp_path: Path, text: str) -> None:
    (tmp_path / "policy.yaml").write_text(text)
    with pytest.raises(Fatal, match=r"policy\.yaml"):
        load_policy(tmp_path)
