"""Who is let in, as a listener on all addresses sees it."""

from __future__ import annotations

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from coordinator.http import Guard, is_loopback


async def inside(_request: Request) -> Response:
    return PlainTextResponse("in")


async def status(url: str, *, token: str | None = None, **headers: str) -> int:
    app = Starlette(routes=[Route("/metrics", inside), Route("/healthz", inside)])
    guarded = Guard(app, token=SecretStr(token) if token else None)
    transport = httpx.ASGITransport(guarded)
    async with httpx.AsyncClient(transport=transport) as client:
        return (await client.get(url, headers=headers)).status_code


@pytest.mark.parametrize(
    ("url", "code"),
    [
        ("http://127.0.0.1/metrics", 200),
        ("http://[::1]:8080/metrics", 200),
        ("http://10.0.0.5/metrics", 403),
        ("http://[2001:db8::1]/metrics", 403),
        ("http://desk.example/metrics", 403),
        ("http://10.0.0.5/healthz", 200),
    ],
)
async def test_without_a_token_only_connections_over_loopback_are_served(url: str, code: int) -> None:
    assert await status(url) == code


async def test_with_the_token_every_address_is_served() -> None:
    url = "http://10.0.0.5/metrics"
    assert await status(url, token="sécret-密", authorization="Bearer wrong") == 401
    assert await status(url, token="secret", authorization="Bearer secret") == 200
    assert await status(url, token="secret", authorization="Bearer  secret ", origin="https://x") == 200
    assert await status(url, token="secret", authorization="Bearer") == 401
    assert await status(url, token="secret") == 401


@pytest.mark.parametrize(
    ("host", "own"),
    [
        ("localhost", True),
        ("127.8.9.1", True),
        ("::1", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("127.0.0.1.evil", False),
    ],
)
def test_what_counts_as_loopback(host: str, own: bool) -> None:
    assert is_loopback(host) is own
