"""The action agent: carries out remedies by typed actions from the operator's catalogue."""

from __future__ import annotations

from pathlib import Path

from agents.action_execution.outcome import collect
from agents.action_execution.policy import load_policy
from agents.action_execution.routine import routine
from agents.action_execution.tools import build_tools
from agents.runtime.spec import AgentSpec

AGENT = AgentSpec(
    name="action_execution",
    purpose="Runs a named, typed action (restart a service, look at disk or processes) and verifies it.",
    prompt=Path(__file__).with_name("prompt.md").read_text(encoding="utf-8"),
    routine=routine,
    tools=build_tools,
    collect=collect,
    policy=lambda settings: load_policy(settings.actions),
)
