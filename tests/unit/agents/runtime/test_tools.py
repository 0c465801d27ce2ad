import asyncio
import threading
from typing import Any, Literal

import pytest

from agents.runtime.tools import ToolContext, given_up, in_thread, tool
from kernel.contracts import Effect
from kernel.errors import Correctable


@tool(effect=Effect.keyed, timeout=3)
async def search(
    ctx: ToolContext, pattern: str, limit: int = 20, order: Literal["old", "new"] = "old"
) -> dict[str, Any]:
    """Search lines.

    Use it when you know a word.

    Args:
        pattern: RE2 regex,
            in one line.
        limit: how many, at most 50.

    Example: search(pattern="503")
    """
    return {"pattern": pattern, "limit": limit, "order": order}


@tool()
def slow(ctx: ToolContext) -> str:
    """Block."""
    import threading

    return threading.current_thread().name


def test_signature_and_docstring_are_the_schema() -> None:
    assert search.name == "search"
    assert (
        search.description
        == 'Search lines.\n\nUse it when you know a word.\n\nExample: search(pattern="503")'
    )
    assert search.parameters["required"] == ["pattern"]
    assert search.parameters["additionalProperties"] is False
    assert search.parameters["properties"]["limit"]["description"] == "how many, at most 50."
    assert search.parameters["properties"]["order"]["enum"] == ["old", "new"]
    assert (search.effect, search.timeout) == (Effect.keyed, 3)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({}, "'pattern' is a required property"),
        ({"pattern": 1}, "pattern: 1 is not"),
        ({"pattern": "x", "z": 1}, "'z'"),
    ],
)
def test_bad_arguments_are_named(arguments: dict[str, Any], said: str) -> None:
    with pytest.raises(Correctable, match=said):
        search.check(arguments)


async def test_defaults_are_filled_and_blocking_tools_leave_the_loop() -> None:
    context: Any = None
    assert await search.run(context, {"pattern": "x"}) == {"pattern": "x", "limit": 20, "order": "old"}
    assert await slow.run(context, {}) != "MainThread"


async def test_a_thread_is_told_when_its_call_is_given_up() -> None:
    begun, seen = threading.Event(), threading.Event()

    def long() -> None:
        event = given_up()
        assert event is not None
        begun.set()
        if event.wait(30):
            seen.set()

    calling = asyncio.create_task(in_thread(long))
    assert await asyncio.to_thread(begun.wait, 30)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling
    assert await asyncio.to_thread(seen.wait, 30)
    assert given_up() is None
