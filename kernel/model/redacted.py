"""The door in front of every model: whatever is sent has passed the redactor."""

from __future__ import annotations

from kernel.model.port import Message, Model, ModelCall, ModelReply, ModelRequest, OnText
from kernel.redaction import Redactor


class RedactedModel:
    """A model that never sees a secret: messages and earlier calls are redacted before they leave."""

    def __init__(self, model: Model, redactor: Redactor) -> None:
        self.name = model.name
        self.model = model
        self._redactor = redactor

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """Return the answer of the model behind."""
        messages = [self._message(message) for message in request.messages]
        return await self.model.reply(request.model_copy(update={"messages": messages}), on_text)

    async def close(self) -> None:
        """Close the model behind."""
        await self.model.close()

    def _message(self, message: Message) -> Message:
        calls = [self._call(call) for call in message.calls]
        return message.model_copy(update={"content": self._redactor.text(message.content), "calls": calls})

    def _call(self, call: ModelCall) -> ModelCall:
        return call.model_copy(update={"arguments": self._redactor.value(call.arguments)})
