from __future__ import annotations

from agents.log_analysis.tools import SCAN_SECONDS, tools
from kernel.settings import Settings


def test_each_tool_may_be_the_first_to_read_a_large_log() -> None:
    assert {tool.timeout for tool in tools(Settings())} == {SCAN_SECONDS}
    assert SCAN_SECONDS >= 600
