"""The model port: what is asked of a chat model and what comes back; no vendor and no I/O."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

from kernel.budgets import Spender
from kernel.contracts import Value
from kernel.errors import Exhausted, Retryable

#: Receives text as it arrives; None says that what came before is superseded (a cut stream is asked again).
OnText = Callable[[str | None], Awaitable[None]]


#: Bytes of UTF-8 a token holds (English is near 4, CJK near 3): low, so that an estimate errs upwards.
BYTES_PER_TOKEN = 3.5


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a text is, rather too many than too few."""
    return int(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN) + 1


class ModelCall(Value):
    """A tool call of a model; `arguments` is the raw text where it was no JSON object."""

    id: str
    name: str
    arguments: dict[str, Any] | str = {}


class Message(Value):
    """One message; a `tool` message answers the call `call_id` of an assistant message before it."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str = ""
    calls: list[ModelCall] = []
    call_id: str = ""
    name: str = ""


class ToolSchema(Value):
    """A tool as a model sees it; `parameters` is a JSON schema."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = {}


class ModelRequest(Value):
    """One question. `json_schema` asks for one JSON document as text; it excludes `tools`."""

    messages: list[Message]
    tools: list[ToolSchema] = []
    json_schema: dict[str, Any] | None = None
    max_output_tokens: int = 2048
    temperature: float = 0.0
    #: In whose budgets it counts; a desk's own model refuses a question of nobody.
    spender: Spender | None = None

    def input_tokens(self) -> int:
        """Return about how many tokens are sent, rather too many than too few."""
        calls = "".join(call.model_dump_json() for message in self.messages for call in message.calls)
        shapes = "".join(tool.model_dump_json() for tool in self.tools)
        schema = json.dumps(self.json_schema) if self.json_schema is not None else ""
        said = sum(estimate_tokens(message.content) for message in self.messages)
        return said + estimate_tokens(calls + shapes + schema)


class ModelUsage(Value):
    """What a reply cost; `estimated` where the server did not count."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    estimated: bool = False


class ModelReply(Value):
    """One answer. `problem` says why its text is no readable action (JSON protocol only)."""

    text: str = ""
    calls: list[ModelCall] = []
    usage: ModelUsage = ModelUsage()
    seconds_to_first_token: float = 0.0
    tokens_per_second: float = 0.0
    finish: str = "stop"
    model: str = ""
    problem: str = ""


class ContextTooLong(Exhausted):
    """The endpoint's window is smaller than what was sent: send less."""

    code = "context_too_long"


class Adjusted(Retryable):
    """The endpoint refused an optional part of the question and is not sent it any more: ask again at once."""


class Model(Protocol):
    """A chat model; cancelling `reply` stops it at the provider too."""

    name: str

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """Return the answer to one request that is sent; raise Retryable, Exhausted or Fatal."""

    async def close(self) -> None:
        """Release connections."""


async def ignore_text(text: str | None) -> None:
    """Take streamed text and do nothing with it."""
