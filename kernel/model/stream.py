"""One streamed answer being put together: text, tool calls from their pieces, usage and speed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kernel.model.actions import read_arguments
from kernel.model.port import ModelCall, ModelReply, ModelRequest, ModelUsage, estimate_tokens
from kernel.settings import ModelEndpoint


@dataclass
class _CallPieces:
    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass
class Answer:
    """Collects the chunks of one stream; times are from a monotonic clock."""

    started: float
    first: float = 0.0
    ended: float = 0.0
    text: str = ""
    finish: str = ""
    model: str = ""
    usage: tuple[int, int] | None = None
    calls: dict[int, _CallPieces] = field(default_factory=dict)

    def add(self, chunk: Any, moment: float) -> str:
        """Take a chunk and return the text it brought."""
        self.model = chunk.model or self.model
        if chunk.usage is not None:
            self.usage = (chunk.usage.prompt_tokens or 0, chunk.usage.completion_tokens or 0)
        if not chunk.choices:
            return ""
        choice = chunk.choices[0]
        self.finish = choice.finish_reason or self.finish
        delta = choice.delta
        if delta is None:
            return ""
        for piece in delta.tool_calls or ():
            self._add_call(piece)
        text: str = delta.content or ""
        self.text += text
        if (text or delta.tool_calls) and not self.first:
            self.first = moment
        return text

    def _add_call(self, piece: Any) -> None:
        # some servers leave the index out, or repeat 0 with a new id for each call
        index = piece.index if piece.index is not None else len(self.calls)
        known = self.calls.get(index)
        if known is not None and piece.id and known.id and piece.id != known.id:
            index = max(self.calls) + 1
        elif known is None and self.calls and not piece.id and not (piece.function and piece.function.name):
            index = max(self.calls)
        call = self.calls.setdefault(index, _CallPieces())
        call.id = piece.id or call.id
        if piece.function is not None:
            call.name = call.name or piece.function.name or ""
            call.arguments += piece.function.arguments or ""

    def reply(self, endpoint: ModelEndpoint, request: ModelRequest) -> ModelReply:
        """Return the whole answer with what it cost."""
        calls = [
            ModelCall(id=call.id or f"call-{index}", name=call.name, arguments=read_arguments(call.arguments))
            for index, call in sorted(self.calls.items())
        ]
        usage = self._usage(endpoint, request)
        streamed = self.ended - self.first if self.first else 0.0
        return ModelReply(
            text=self.text,
            calls=calls,
            usage=usage,
            seconds_to_first_token=round(max(0.0, self.first - self.started), 4) if self.first else 0.0,
            tokens_per_second=round(usage.output_tokens / streamed, 2) if streamed > 0 else 0.0,
            finish=self.finish,
            model=self.model or endpoint.model,
        )

    def _usage(self, endpoint: ModelEndpoint, request: ModelRequest) -> ModelUsage:
        if self.usage is not None:
            asked, answered = self.usage
        else:
            asked = sum(estimate_tokens(message.content) for message in request.messages)
            answered = estimate_tokens(self.text + "".join(call.arguments for call in self.calls.values()))
        cost = (asked * endpoint.input_price + answered * endpoint.output_price) / 1_000_000
        return ModelUsage(input_tokens=asked, output_tokens=answered, cost=cost, estimated=self.usage is None)
