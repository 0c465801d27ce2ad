"""Retry-After is read in both its forms; refusals go where they can be mended."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kernel.errors import Exhausted, Fatal, NightdeskError, Retryable
from kernel.model.outcomes import classified, seconds_to_wait
from kernel.model.port import ContextTooLong

NOON = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        (None, None),
        ("", None),
        ("7", 7.0),
        ("0.5", 0.5),
        ("-3", 0.0),
        ("Sun, 29 Nov 2026 12:00:30 GMT", 30.0),
        ("Sun, 29 Nov 2026 11:00:00 GMT", 0.0),
        ("soon", None),
    ],
)
def test_seconds_to_wait(header: str | None, seconds: float | None) -> None:
    assert seconds_to_wait(header, NOON) == seconds


@pytest.mark.parametrize(
    ("status", "code", "message", "kind"),
    [
        (429, "rate_limit_exceeded", "slow down", Retryable),
        (429, "", "tokens per minute: too many tokens", Retryable),
        (429, "insufficient_quota", "", Exhausted),
        (400, "Arrearage", "", Exhausted),
        (402, "", "", Exhausted),
        (400, "", "This model's maximum context length is 8192 tokens", ContextTooLong),
        (400, "", "bad tool schema", Fatal),
        (403, "", "", Fatal),
        (529, "", "overloaded", Retryable),
        (None, "server_error", "in the stream", Retryable),
        (None, "insufficient_quota", "in the stream", Exhausted),
    ],
)
def test_classes(status: int | None, code: str, message: str, kind: type[NightdeskError]) -> None:
    error = classified(
        name="m",
        base_url="http://x",
        status=status,
        code=code,
        message=message,
        retry_after=None,
        transport=False,
    )
    assert type(error) is kind
    assert kind is Retryable or error.next_step
