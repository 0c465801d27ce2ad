"""A message and its delivery, pure: what is sent, and the key that makes it one per run and channel."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from kernel.contracts import Value

Severity = Literal["critical", "error", "warning", "info"]


class Message(Value):
    """One message to one channel. `text` and `html` are rendered and neutral; title and body are too."""

    key: str
    run_id: str
    channel: str
    severity: Severity
    title: str
    body: str
    text: str
    html: str = ""


#: Sends a message and returns what the other side answered, without secrets. Retryable: surely not delivered, or
#: safe to send again; Refused: surely not delivered and never will be; Unknown: perhaps delivered.
Send = Callable[[Message], Awaitable[str]]


@dataclass(frozen=True, kw_only=True)
class Channel:
    """A configured channel.

    `resend`: the receiver drops a second message with the same key, so an open outcome may be sent again.
    `max_bytes` bounds the body.
    """

    name: str
    send: Send
    max_bytes: int
    resend: bool = False


def delivery_key(run_id: str, channel: str) -> str:
    """Return the name of the one message of a run to a channel."""
    return f"{run_id}:{channel}"
