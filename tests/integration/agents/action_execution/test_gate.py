"""The gate: whatever is given as a parameter reaches the child as one inert argument, or is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.runtime.tools import Tool, ToolContext
from kernel.errors import Correctable

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[4] / ".." / "shared" / "data" / "synthetic"
FREE_TEXT = {
    "type": "object",
    "properties": {"text": {"type": "string", "maxLength": 4000}},
    "required": ["text"],
}

Build = Callable[..., dict[str, Tool]]
Entry = Callable[..., dict[str, Any]]


@pytest.fixture
def echo(build: Build, entry: Entry) -> Tool:
    argv = entry("echo")["argv"]
    action = entry(
        "echo",
        parameters=FREE_TEXT,
        argv=[*argv, "{text}", "--text={text}"],
        examples={"accept": [{"text": "a"}]},
    )
    return build(action)["do_echo"]


async def _through(tool: Tool, ctx: ToolContext, text: str) -> list[str] | None:
    """Return what the child got, or None where the value was refused."""
    try:
        tool.check({"text": text})
        prepared = await tool.prepare(ctx, {"text": text}) if tool.prepare else None
        result = await tool.run(ctx, {"text": text})
    except Correctable:
        return None
    assert prepared is not None
    assert prepared.argv == result["argv"]
    assert result["exit_code"] == 0
    got: list[str] = json.loads(result["output_head"])
    return got


@pytest.mark.parametrize("file", ["commands.jsonl", "injection.jsonl"])
async def test_hostile_lines_are_inert_or_refused(echo: Tool, ctx: ToolContext, file: str) -> None:
    path = DATA / file
    if not path.exists():
        pytest.skip(f"needs {path}")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]
    values = [line.get("cmd", line.get("log")) for line in lines]
    inert = refused = 0
    for value in values:
        got = await _through(echo, ctx, value)
        assert got in (None, [value, f"--text={value}"]), value
        inert, refused = inert + (got is not None), refused + (got is None)
    assert (inert + refused, bool(inert)) == (len(values), True)
    if file == "commands.jsonl":
        assert "-rf" in values
        assert refused >= 2  # an option, and a CR LF


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(max_size=200))
async def test_any_text_is_inert_or_refused(echo: Tool, ctx: ToolContext, text: str) -> None:
    assert await _through(echo, ctx, text) in (None, [text, f"--text={text}"])


async def test_nothing_is_started_for_a_refused_value(
    build: Build, entry: Entry, ctx: ToolContext, state: Path
) -> None:
    action = entry("count", parameters=FREE_TEXT, argv=[*entry("count")["argv"], "{text}"])
    tool = build(action | {"examples": {"accept": [{"text": "a"}]}})["do_count"]
    for text in ("-x", "a\nb", "\0", "a" * 4001):
        with pytest.raises(Correctable):
            await tool.run(ctx, {"text": text})
    assert not state.exists()
    await tool.run(ctx, {"text": "; touch x"})
    assert state.read_text() == "x"
