"""The approval policy file: `policy.yaml` beside the catalogue; without one every effect asks."""

from __future__ import annotations

from pathlib import Path

from pydantic import ValidationError

from agents.action_execution.inventory import bad_file, problems, read_mapping
from agents.runtime.approvals import ApprovalPolicy

POLICY_FILE = "policy.yaml"


def load_policy(folder: Path) -> ApprovalPolicy:
    """Return the policy of a catalogue folder; raise Fatal, naming the file, where it is wrong."""
    path = folder / POLICY_FILE
    if not path.exists():
        return ApprovalPolicy()
    try:
        return ApprovalPolicy.model_validate(read_mapping(path))
    except ValidationError as error:
        raise bad_file(path, problems(error)) from error
