"""How a provider's refusals are classed: who must act, how long to wait, what to do next."""

from __future__ import annotations

import re
from datetime import datetime
from email.utils import parsedate_to_datetime

from kernel.clock import now
from kernel.errors import Exhausted, Fatal, NightdeskError, Retryable
from kernel.model.port import ContextTooLong

_BUSY = frozenset({408, 409, 425, 429})
_SERVER_ERROR = 500
#: OpenAI, DashScope (Arrearage), DeepSeek (402), Moonshot, Zhipu: paying helps, waiting does not.
_QUOTA = re.compile(
    r"(?i)insufficient_quota|arrearage|insufficient.balance|exceeded_current_quota|billing|余额|欠费"
)
#: OpenAI, vLLM, llama.cpp, DashScope: the question is longer than the window.
_TOO_LONG = re.compile(
    r"(?i)context_length|context length|context size|context window|maximum context|too many tokens|"
    r"prompt is too long|range of input length"
)
_NEXT_STEPS = {
    401: "Check NIGHTDESK_MODEL_API_KEY.",
    403: "Check what NIGHTDESK_MODEL_API_KEY may use.",
    404: "Check NIGHTDESK_MODEL_BASE_URL (most end in /v1) and NIGHTDESK_MODEL_NAME.",
}
_PAYMENT_REQUIRED = 402


def classified(
    *,
    name: str,
    base_url: str,
    status: int | None,
    code: str,
    message: str,
    retry_after: str | None,
    transport: bool,
) -> NightdeskError:
    """Return the error of ours for a provider's answer; `status` is None inside a stream or without one."""
    why = f"{message[:300]}{f' (HTTP {status})' if status else ''}"
    if transport:
        return Retryable(f"{name} at {base_url} cannot be reached", why=why, next_step="Check that it runs.")
    told = f"{code} {message}"
    if status == _PAYMENT_REQUIRED or _QUOTA.search(told):
        return Exhausted(
            f"the quota of {name} is used up", why=why, next_step="Top up the account, or name another model."
        )
    if _TOO_LONG.search(told) and status not in _BUSY:
        return ContextTooLong(
            f"the question is too long for {name}", why=why, next_step="Lower NIGHTDESK_MODEL_CONTEXT_TOKENS."
        )
    if status is None or status in _BUSY or status >= _SERVER_ERROR:
        return Retryable(
            f"{name} is busy or broken", why=why, retry_after=seconds_to_wait(retry_after, now())
        )
    return Fatal(
        f"{name} at {base_url} refused the question",
        why=why,
        next_step=_NEXT_STEPS.get(status, "Check the model's settings."),
    )


def seconds_to_wait(header: str | None, moment: datetime) -> float | None:
    """Return what a Retry-After header asks for, in seconds or as an HTTP date; None where there is none."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        return max(0.0, (parsedate_to_datetime(header) - moment).total_seconds())
    except (ValueError, TypeError):
        return None
