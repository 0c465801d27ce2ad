"""The webhook channel: one signed JSON document by POST. The address is a secret and appears nowhere."""

from __future__ import annotations

import hashlib
import hmac
import json
import logging
from email.utils import parsedate_to_datetime
from typing import Any

import httpx
from pydantic import SecretStr

from agents.notification.message import Message
from kernel.clock import now
from kernel.errors import Fatal, Refused, Retryable

#: Seconds for the whole exchange; below the tool's time-out, so that we see the error and not the clock.
SEND_SECONDS = 8.0

_BUSY = frozenset({408, 425, 429})
_SERVER_ERROR = 500
_GOOD = range(200, 300)
_ANSWER_BYTES = 4096

#: HTTP 200 with one of these in `errcode` or `code` means "too fast, not delivered": DingTalk 130101, WeCom 45009,
#: Feishu 9499 and 11232.
_TOO_FAST = frozenset({130101, 45009, 9499, 11232})


class WebhookSender:
    """Posts messages; the receiver checks the signature and drops an id that it has seen."""

    def __init__(self, url: SecretStr, secret: SecretStr | None) -> None:
        self._url, self._secret = url, secret
        try:
            parsed = httpx.URL(url.get_secret_value())
        except httpx.InvalidURL:
            parsed = httpx.URL("")
        if parsed.scheme not in ("http", "https") or not parsed.host:
            raise Fatal("NIGHTDESK_WEBHOOK_URL is not an HTTP address", next_step="Set it to http(s)://...")
        # httpx logs each request with its address at INFO, and httpcore at DEBUG
        for name in ("httpx", "httpcore"):
            logging.getLogger(name).setLevel(logging.WARNING)

    async def __call__(self, message: Message) -> str:
        """Post the message; return what the other side answered."""
        body = json.dumps(_document(message), ensure_ascii=False).encode()
        try:
            async with httpx.AsyncClient(
                trust_env=False, follow_redirects=False, timeout=SEND_SECONDS
            ) as client:
                response = await client.post(
                    self._url.get_secret_value(), content=body, headers=self._headers(message, body)
                )
        except httpx.HTTPError as error:
            # `from None`: the error holds the request, and the request holds the address
            raise Retryable("the webhook did not answer", why=type(error).__name__) from None
        _check(response)
        return f"HTTP {response.status_code}"

    def _headers(self, message: Message, body: bytes) -> dict[str, str]:
        timestamp = str(int(now().timestamp()))
        headers = {
            "Content-Type": "application/json; charset=utf-8",
            "X-Nightdesk-Timestamp": timestamp,
            "X-Nightdesk-Id": message.key,
        }
        if self._secret:
            headers["X-Nightdesk-Signature"] = sign(self._secret.get_secret_value(), timestamp, body)
        return headers


def sign(secret: str, timestamp: str, body: bytes) -> str:
    """Return `sha256=` and the HMAC-SHA256 over timestamp, a dot and the body; the receiver does the same."""
    signed = timestamp.encode() + b"." + body
    return f"sha256={hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest()}"


def _document(message: Message) -> dict[str, str]:
    return {
        "id": message.key,
        "run_id": message.run_id,
        "severity": message.severity,
        "title": message.title,
        "body": message.body,
        "text": message.text,  # what Slack-like receivers show
    }


def _check(response: httpx.Response) -> None:
    status = response.status_code
    if status in _BUSY or status >= _SERVER_ERROR:
        wait = _retry_after(response.headers.get("Retry-After", ""))
        raise Retryable("the webhook is busy", why=f"HTTP {status}", retry_after=wait)
    if status not in _GOOD:
        raise Refused(
            "the webhook refused the message",
            why=f"HTTP {status}",
            next_step="Check NIGHTDESK_WEBHOOK_URL and what its receiver accepts.",
        )
    code = _error_code(response)
    if code in _TOO_FAST:
        raise Retryable("the webhook is busy", why=f"HTTP {status} with code {code}")
    if code:
        raise Refused("the webhook refused the message", why=f"HTTP {status} with code {code}")


def _error_code(response: httpx.Response) -> int | str | None:
    """Return the error that a chat robot hides in a good answer, or None."""
    if len(response.content) > _ANSWER_BYTES:
        return None
    try:
        answer: Any = response.json()
    except ValueError:
        return None
    if not isinstance(answer, dict):
        return None
    if answer.get("ok") is False:
        return "ok=false"
    for name in ("errcode", "code"):
        if isinstance(answer.get(name), int) and answer[name]:
            return int(answer[name])
    return None


def _retry_after(value: str) -> float | None:
    if value.isdigit():
        return float(value)
    try:
        return max(0.0, (parsedate_to_datetime(value) - now()).total_seconds())
    except (ValueError, TypeError):
        return None
