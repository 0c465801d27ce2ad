"""Verification: asks the world, again and again up to a limit, whether an action worked."""

from __future__ import annotations

import asyncio
from urllib.parse import urlsplit

import httpx

from agents.action_execution.action import Action, Verify
from agents.action_execution.children import run_child
from agents.action_execution.resolution import Resolved
from kernel.clock import monotonic
from kernel.contracts import Value

#: Seconds one question may take.
QUESTION_SECONDS = 5.0

#: Bytes of an HTTP answer that are looked at.
_ANSWER_BYTES = 64 * 1024

_DETAIL_CHARACTERS = 200


class Verified(Value):
    """Whether an action worked, and what was seen last; `good` is None where nothing says how to see it."""

    good: bool | None
    detail: str


async def verify(action: Action, resolved: Resolved, hosts: frozenset[str]) -> Verified:
    """Ask until the answer is good or the action's time for it is over."""
    spec = action.verify
    if spec is None:
        return Verified(good=None, detail="the action has no verify step")
    started, asked = monotonic(), 0
    while True:
        asked += 1
        good, seen = await _ask(action, spec, resolved, hosts)
        passed = monotonic() - started
        if good:
            return Verified(good=True, detail=f"{seen} after {passed:.1f} s")
        if passed + spec.every_seconds > spec.within_seconds:
            return Verified(good=False, detail=f"{seen} still after {passed:.1f} s ({asked} tries)")
        await asyncio.sleep(spec.every_seconds)


async def _ask(action: Action, spec: Verify, resolved: Resolved, hosts: frozenset[str]) -> tuple[bool, str]:
    if spec.http:
        return await _ask_http(spec, resolved.verify_url, hosts)
    result = await run_child(
        resolved.verify_argv, seconds=QUESTION_SECONDS, limits=action.limits, env=resolved.env
    )
    if result.timed_out:
        return False, f"{resolved.verify_argv[0]} gave no answer in {QUESTION_SECONDS:.0f} s"
    good = result.exit_code == spec.exit_code and spec.contains in result.output
    first = result.output.strip().partition("\n")[0][:_DETAIL_CHARACTERS]
    return good, f"exit code {result.exit_code}{f': {first}' if first else ''}"


async def _ask_http(spec: Verify, url: str, hosts: frozenset[str]) -> tuple[bool, str]:
    host = urlsplit(url).hostname or ""
    if host not in hosts:
        return False, f"the host {host!r} is not among the inventory's allowed_hosts"
    try:
        # no proxy and no redirect: the answer must come from the host that was allowed
        async with (
            httpx.AsyncClient(trust_env=False, follow_redirects=False, timeout=QUESTION_SECONDS) as client,
            client.stream("GET", url) as response,
        ):
            body = b""
            async for chunk in response.aiter_bytes():
                body += chunk
                if len(body) > _ANSWER_BYTES:
                    break
    except httpx.HTTPError as error:
        return False, f"GET {url}: {type(error).__name__}"
    good = response.status_code == spec.status and spec.contains.encode() in body
    return good, f"GET {url}: HTTP {response.status_code}"
