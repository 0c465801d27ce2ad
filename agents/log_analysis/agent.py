"""The log analysis agent's specification."""

from __future__ import annotations

from pathlib import Path

from agents.log_analysis.routine import routine
from agents.log_analysis.sources.named import available
from agents.log_analysis.tools import read_line, tools
from agents.runtime.spec import AgentSpec

AGENT = AgentSpec(
    name="log_analysis",
    purpose="Reads logs, finds what went wrong and when, and proves it by source and line; never changes anything.",
    prompt=Path(__file__).with_name("prompt.md").read_text(encoding="utf-8"),
    routine=routine,
    tools=tools,
    first_tools=("overview", "search", "context", "histogram", "entities"),
    read_line=read_line,
    sources=available,
)
