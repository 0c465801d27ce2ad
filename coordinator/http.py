"""HTTP's borders: who may come in, how much they may send, and how our errors look from outside."""

from __future__ import annotations

import hmac
import ipaddress
import json
from typing import Any
from urllib.parse import urlsplit

from pydantic import SecretStr
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from kernel.errors import Correctable, Exhausted, Fatal, NightdeskError, Refused, Retryable

#: A probe has no token, and learns only whether the desk answers.
_OPEN = frozenset({"/healthz", "/readyz", "/livez"})
_RETRY_AFTER_SECONDS = "2"
#: The class of an error says who must act; so does the status.
_STATUS: tuple[tuple[type[NightdeskError], int], ...] = (
    (Exhausted, 413),
    (Correctable, 400),
    (Refused, 409),
    (Retryable, 503),
    (Fatal, 500),
)


class NotFound(Correctable):
    """The path names nothing that exists."""

    code = "not_found"


class Guard:
    """Lets in who has the token; without a token, only programs of this machine.

    A web page open in somebody's browser is a program of this machine too: without a token its requests are
    known by their Origin, or by a Host that is no loopback name, and refused.
    """

    def __init__(self, app: ASGIApp, *, token: SecretStr | None) -> None:
        self._app = app
        self._token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer it."""
        if scope["type"] != "http" or scope["path"] in _OPEN:
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        refusal = self._local(scope, headers) if self._token is None else self._bearer(headers, self._token)
        await (refusal or self._app)(scope, receive, send)

    @staticmethod
    def _bearer(headers: Headers, token: SecretStr) -> Response | None:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        wanted = token.get_secret_value().encode()
        known = hmac.compare_digest(given.strip().encode(), wanted)
        if known and scheme.lower() == "bearer":
            return None
        return _problem(
            401,
            "unauthorized",
            "the bearer token is missing or wrong",
            "Send the header: Authorization: Bearer TOKEN (NIGHTDESK_API_TOKEN of the desk).",
            {"WWW-Authenticate": "Bearer"},
        )

    @staticmethod
    def _local(scope: Scope, headers: Headers) -> Response | None:
        server = (scope.get("server") or ("", None))[0]
        if is_loopback(server) and is_loopback(_host(headers.get("host", ""))) and "origin" not in headers:
            return None
        return _problem(
            403,
            "refused",
            "without a token only programs of this machine are served",
            "Set NIGHTDESK_API_TOKEN and send it as a bearer token.",
        )


def is_loopback(host: str) -> bool:
    """Tell whether a name or address is this machine's own."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _host(header: str) -> str:
    try:
        return urlsplit(f"//{header}").hostname or ""
    except ValueError:
        return ""


async def read_object(request: Request, *, most_bytes: int, needed: bool = True) -> dict[str, Any]:
    """Return the body's JSON object; raise Exhausted past the limit, Correctable where it is none."""
    declared = request.headers.get("content-length", "0")
    too_large = Exhausted(
        "the body is too large",
        why=f"the limit is {most_bytes:,} bytes",
        next_step="Name long text as a source instead of sending it.",
    )
    if declared.isdigit() and int(declared) > most_bytes:
        raise too_large
    body = bytearray()
    async for piece in request.stream():
        body += piece
        if len(body) > most_bytes:
            raise too_large
    if not body and not needed:
        return {}
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise Correctable(
            "the body is not declared as JSON", next_step="Send Content-Type: application/json."
        )
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise Correctable("the body is no JSON", why=str(error)[:200]) from error
    if not isinstance(value, dict):
        raise Correctable("the body is no JSON object", why=f"it is a {type(value).__name__}")
    return value


def problem_of(request: Request, error: Exception) -> Response:
    """Return an error of ours as {code, message, suggestion}, redacted."""
    assert isinstance(error, NightdeskError)
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 500)
    status = 404 if isinstance(error, NotFound) else status
    shown = request.app.state.redactor.value(error.as_result())
    headers = {"Retry-After": _RETRY_AFTER_SECONDS} if isinstance(error, Retryable) else None
    return JSONResponse(shown, status, headers=headers)


def unknown_path(_request: Request, error: Exception) -> Response:
    """Return what the router refused in the same shape."""
    assert isinstance(error, HTTPException)
    return _problem(
        error.status_code,
        "not_found" if error.status_code == 404 else "refused",  # noqa: PLR2004 the status of HTTP
        error.detail,
        "",
        dict(error.headers or {}),
    )


def _problem(
    status: int, code: str, message: str, suggestion: str, headers: dict[str, str] | None = None
) -> Response:
    body = {"code": code, "message": message, "suggestion": suggestion}
    return JSONResponse(body, status, headers=headers)
