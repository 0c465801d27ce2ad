"""Tools of every effect class over the fake world: each tells the world its key, and says whether the world can have heard it."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import Any

import httpx

from agents.runtime.tools import Prepared, Reconciled, Tool, ToolContext, tool
from kernel.contracts import Effect
from kernel.errors import Retryable
from kernel.settings import Settings

#: Seconds until an answer that does not come counts as lost.
ANSWER_SECONDS = 2.0
_SERVER_ERROR = 500
#: Longer than every lease and visibility time-out in force.
LONGEST_SECONDS = 240.0


def build_tools(settings: Settings) -> list[Tool]:
    """Return the tools; the world's address is that of the webhook."""
    assert settings.webhook_url is not None
    url = settings.webhook_url.get_secret_value().removesuffix("/hook")
    return [
        _read(url),
        _stall(),
        *(_effect(url, effect) for effect in Effect if effect is not Effect.read),
        _long(url),
    ]


def _read(url: str) -> Tool:
    @tool(timeout=ANSWER_SECONDS + 2)
    async def read(ctx: ToolContext, what: str) -> dict[str, Any]:
        """Read something from the world. Use it to look.

        Args:
            what: A name for it.

        Example: {"what": "a"}
        """
        return await ask(
            url, "/read", {"key": ctx.key, "kind": "read", "run": ctx.work.run_id, "tool": "read"}
        )

    return read


def _stall() -> Tool:
    @tool(timeout=LONGEST_SECONDS)
    async def stall(ctx: ToolContext, what: str, seconds: float = 30.0) -> dict[str, Any]:
        """Wait. Use it to be slow.

        Args:
            what: A name for it.
            seconds: How long.

        Example: {"what": "a", "seconds": 3}
        """
        await asyncio.sleep(seconds)
        return {"waited": seconds}

    return stall


def _effect(url: str, effect: Effect) -> Tool:
    @tool(effect=effect, timeout=ANSWER_SECONDS + 2)
    async def change(ctx: ToolContext, what: str) -> dict[str, Any]:
        """Change the world once.

        Args:
            what: A name for it.

        Example: {"what": "a"}
        """
        return await post(url, ctx, effect)

    async def reconcile(ctx: ToolContext, arguments: dict[str, Any]) -> Reconciled:
        async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
            try:
                answer = await client.get(f"{url}/happened", params={"key": ctx.key})
            except httpx.HTTPError as error:
                return Reconciled(happened=None, note=repr(error))
        found = answer.json()
        return Reconciled(happened=found["happened"], value=found)

    async def prepare(ctx: ToolContext, arguments: dict[str, Any]) -> Prepared:
        risk = "high" if effect is Effect.unsafe else "read"
        return Prepared(
            argv=["change", str(arguments.get("what"))], target=f"world:{ctx.work.run_id[:8]}", risk=risk
        )

    return replace(
        change,
        name=effect.value,
        prepare=prepare if effect is Effect.unsafe else None,
        reconcile=reconcile if effect is Effect.probe else None,
    )


def _long(url: str) -> Tool:
    @tool(effect=Effect.keyed, timeout=LONGEST_SECONDS)
    async def long(ctx: ToolContext, what: str, seconds: float = 75.0) -> dict[str, Any]:
        """Say that it starts, take long, then change the world.

        Args:
            what: A name for it.
            seconds: How long.

        Example: {"what": "a", "seconds": 75}
        """
        started = {"key": f"start:{ctx.key}", "kind": "start", "run": ctx.work.run_id, "tool": "start"}
        await ask(url, "/effect", started)
        await asyncio.sleep(seconds)
        ended = {"key": ctx.key, "kind": "long", "run": ctx.work.run_id, "tool": "long"}
        return await ask(url, "/effect", ended)

    return long


async def post(url: str, ctx: ToolContext, effect: Effect) -> dict[str, Any]:
    """Make the effect, named by the call's key."""
    body = {"key": ctx.key, "kind": effect.value, "run": ctx.work.run_id, "tool": effect.value}
    return await ask(url, "/effect", body)


async def ask(url: str, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the world's answer; raise Retryable where none comes, saying whether the world can have heard us."""
    async with httpx.AsyncClient(timeout=ANSWER_SECONDS, trust_env=False) as client:
        try:
            answer = await client.post(f"{url}{path}", json=body)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Retryable("the world cannot be reached", why=repr(error), untouched=True) from error
        except httpx.HTTPError as error:
            raise Retryable("the world did not answer", why=repr(error)) from error
    if answer.status_code >= _SERVER_ERROR:
        raise Retryable("the world failed", why=f"HTTP {answer.status_code}")
    found: dict[str, Any] = answer.json()
    return found
