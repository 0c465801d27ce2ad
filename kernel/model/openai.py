"""OpenAI-compatible chat completions, streamed: the only module that knows the `openai` package."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from kernel.clock import monotonic
from kernel.errors import Correctable, NightdeskError, Retryable
from kernel.model.actions import as_actions, read_action
from kernel.model.outcomes import classified
from kernel.model.port import Adjusted, Message, ModelReply, ModelRequest, OnText
from kernel.model.stream import Answer
from kernel.settings import ModelEndpoint

if TYPE_CHECKING:
    from openai import AsyncOpenAI

#: A machine that does not accept a connection in this time is down; the read time-out is the endpoint's.
_CONNECT_SECONDS = 10.0
#: Optional parts of a request, in the words by which servers refuse them; what is refused once is left out.
_OPTIONAL = ("stream_options", "response_format", "temperature", "max_tokens")
#: Of the HTTP client beneath: there was no connection, so nothing was sent. By name: the client is openai's affair.
_NOT_CONNECTED = frozenset({"ConnectError", "ConnectTimeout"})


class OpenAIModel:
    """One endpoint. With `tool_calls = "json"` tools travel as the JSON action protocol."""

    def __init__(self, endpoint: ModelEndpoint) -> None:
        # llama.cpp and vLLM name a model by its file: the folder tells nothing and is nobody's business
        self.name = endpoint.model.rsplit("/", 1)[-1] if endpoint.model.startswith("/") else endpoint.model
        self._endpoint = endpoint
        self._client: AsyncOpenAI | None = None
        self._refused: set[str] = set()

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """Return the answer; cancelling closes the HTTP stream."""
        by_json = bool(request.tools) and self._endpoint.tool_calls == "json"
        sent = as_actions(request) if self._endpoint.tool_calls == "json" else request
        answer = await self._answer(sent, None if by_json else on_text)
        reply = answer.reply(self._endpoint, sent)
        return await _acted(reply, on_text) if by_json else reply

    async def close(self) -> None:
        """Close the connections."""
        if self._client is not None:
            await self._client.close()
            self._client = None

    async def _answer(self, request: ModelRequest, on_text: OnText | None) -> Answer:
        import openai

        answer = Answer(started=monotonic())
        try:
            async with aclosing(self._chunks(request)) as chunks:
                async for chunk in chunks:
                    text = answer.add(chunk, monotonic())
                    if text and on_text is not None:
                        await on_text(text)
        except openai.APIError as error:
            raise self._adjusted(error) or self._classified(error) from error
        except ValueError as error:  # a half-written SSE event is no JSON
            raise Retryable(f"{self.name} sent a broken stream", why=str(error)[:200]) from error
        answer.ended = monotonic()
        if not answer.finish:
            raise Retryable(
                f"the answer of {self.name} was cut", why="the stream ended without a finish reason"
            )
        return answer

    async def _chunks(self, request: ModelRequest) -> AsyncGenerator[Any, None]:
        stream = await self._connected().chat.completions.create(**self._body(request))
        try:
            async for chunk in stream:
                yield chunk
        finally:
            await stream.close()

    def _connected(self) -> AsyncOpenAI:
        if self._client is None:
            import openai  # 0.45 s and 15 MB: only a process that asks a model pays for it

            self._client = openai.AsyncOpenAI(
                base_url=self._endpoint.base_url,
                api_key=self._endpoint.api_key.get_secret_value(),
                timeout=openai.Timeout(
                    self._endpoint.timeout, connect=min(_CONNECT_SECONDS, self._endpoint.timeout)
                ),
                max_retries=0,  # ours are in kernel.model.fallback: bounded, jittered, cancellable
            )
        return self._client

    def _body(self, request: ModelRequest) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._endpoint.model,
            "messages": [_message(message) for message in request.messages],
            "stream": True,
            "stream_options": {"include_usage": True},
            "temperature": request.temperature,
            "max_tokens": request.max_output_tokens,
        }
        if request.tools:
            body["tools"] = [{"type": "function", "function": tool.model_dump()} for tool in request.tools]
        if request.json_schema is not None:
            shape = {"name": "answer", "schema": request.json_schema, "strict": False}
            body["response_format"] = {"type": "json_schema", "json_schema": shape}
        if "max_tokens" in self._refused:
            body["max_completion_tokens"] = body["max_tokens"]
        return {key: value for key, value in body.items() if key not in self._refused}

    def _adjusted(self, error: Any) -> Adjusted | None:
        """Note an optional part that this server does not know, and say that the rest is worth another request."""
        if getattr(error, "status_code", None) not in (400, 422):
            return None
        told = f"{error.message} {getattr(error, 'param', '')}"
        for part in _OPTIONAL:
            if part in told and part not in self._refused:
                self._refused.add(part)
                adjusted = Adjusted(f"{self.name} does not know {part}", why=error.message[:300])
                adjusted.billing = "refused"
                return adjusted
        return None

    def _classified(self, error: Any) -> NightdeskError:
        import openai

        response = getattr(error, "response", None)
        found = classified(
            name=self.name,
            base_url=self._endpoint.base_url,
            status=getattr(error, "status_code", None),
            code=f"{error.code or ''} {error.type or ''}",
            message=error.message,
            retry_after=response.headers.get("retry-after") if response is not None else None,
            transport=isinstance(error, openai.APIConnectionError),
        )
        if response is not None:
            found.billing = "refused"
        elif type(error.__cause__).__name__ in _NOT_CONNECTED:
            found.billing = "unsent"
        return found


async def _acted(reply: ModelReply, on_text: OnText) -> ModelReply:
    """Return the reply with its text read as one action."""
    try:
        thought, call = read_action(reply.text)
    except Correctable as error:
        return reply.model_copy(update={"problem": error.why})
    if thought:
        await on_text(thought)
    return reply.model_copy(update={"text": thought, "calls": [call], "finish": "tool_calls"})


def _message(message: Message) -> dict[str, Any]:
    if message.role == "tool":
        return {"role": "tool", "tool_call_id": message.call_id, "content": message.content}
    if not message.calls:
        return {"role": message.role, "content": message.content}
    calls = [
        {
            "id": call.id,
            "type": "function",
            "function": {
                "name": call.name,
                # servers parse this: what the model botched goes back as an object, never as it was
                "arguments": json.dumps(
                    call.arguments if isinstance(call.arguments, dict) else {"unreadable": call.arguments},
                    ensure_ascii=False,
                ),
            },
        }
        for call in message.calls
    ]
    return {"role": "assistant", "content": message.content or None, "tool_calls": calls}
