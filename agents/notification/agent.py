"""The notification agent: one message per run and channel, to the channels that the operator configured."""

from __future__ import annotations

from pathlib import Path

from agents.notification.outcome import collect
from agents.notification.routine import routine
from agents.notification.tools import build_tools
from agents.runtime.spec import AgentSpec

AGENT = AgentSpec(
    name="notification",
    purpose="Tells people what was found and done: console, signed webhook, e-mail, or Apprise.",
    prompt=Path(__file__).with_name("prompt.md").read_text(encoding="utf-8"),
    routine=routine,
    tools=build_tools,
    collect=collect,
)
