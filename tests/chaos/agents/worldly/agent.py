"""The worldly agent: an agent for the chaos harness whose tools change the fake world, one for each effect class."""

from __future__ import annotations

from pathlib import Path

from worldly.routine import collect, routine
from worldly.tools import build_tools

from agents.runtime.spec import AgentSpec

AGENT = AgentSpec(
    name="worldly",
    purpose="Changes a fake world that counts.",
    prompt=Path(__file__).with_name("prompt.md").read_text(encoding="utf-8"),
    routine=routine,
    tools=build_tools,
    collect=collect,
)
