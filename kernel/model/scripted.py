"""The scripted model: replies from a list or a YAML file, for tests and dry runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import Field, TypeAdapter, ValidationError

from kernel.contracts import Value
from kernel.errors import Exhausted, Fatal, NightdeskError, Retryable
from kernel.model.port import ModelCall, ModelReply, ModelRequest, ModelUsage, OnText


class ScriptedError(Value):
    """An error a step raises instead of an answer."""

    kind: Literal["retryable", "exhausted", "fatal"]
    what: str = "scripted error"
    retry_after: float | None = None

    def made(self) -> NightdeskError:
        """Return the error itself."""
        if self.kind == "retryable":
            return Retryable(self.what, retry_after=self.retry_after)
        return Exhausted(self.what) if self.kind == "exhausted" else Fatal(self.what)


class ScriptedCall(Value):
    """A tool call; arguments as text stand for what a model botched."""

    tool: str
    arguments: dict[str, Any] | str = {}


class ScriptedStep(Value):
    """One reply. `when` and `system` are searched in the last and the first message; `times` 0: for ever."""

    when: str | None = None
    system: str | None = None
    text: str = ""
    calls: list[ScriptedCall] = []
    error: ScriptedError | None = None
    problem: str = ""
    times: int = Field(default=1, ge=0)
    input_tokens: int = 100
    output_tokens: int = 20

    def fits(self, request: ModelRequest) -> bool:
        """Tell whether this step may answer the request."""
        first, last = request.messages[0].content, request.messages[-1].content
        return bool(
            (self.when is None or re.search(self.when, last))
            and (self.system is None or re.search(self.system, first))
        )


_STEPS: TypeAdapter[list[ScriptedStep]] = TypeAdapter(list[ScriptedStep])


class ScriptedModel:
    """Answers each request with the first unused step that fits it; keeps the requests it got."""

    name = "scripted"

    def __init__(self, steps: Sequence[ScriptedStep | dict[str, Any]]) -> None:
        self._steps = _STEPS.validate_python(list(steps))
        self._used = [0] * len(self._steps)
        self.requests: list[ModelRequest] = []

    @classmethod
    def load(cls, path: Path) -> ScriptedModel:
        """Return the model of a YAML file: a list of steps."""
        try:
            return cls(yaml.safe_load(path.read_text("utf-8")) or [])
        except (OSError, yaml.YAMLError, ValidationError) as error:
            raise Fatal(
                f"the model script {path.name!r} cannot be used",
                why=str(error),
                next_step="Mend the file, or unset NIGHTDESK_MODEL_SCRIPT.",
            ) from error

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """Return the next step's reply; raise Exhausted where no step is left for this request."""
        self.requests.append(request)
        for index, step in enumerate(self._steps):
            if (step.times and self._used[index] >= step.times) or not step.fits(request):
                continue
            self._used[index] += 1
            if step.error is not None:
                raise step.error.made()
            if step.text:
                await on_text(step.text)
            return self._reply(step)
        last = request.messages[-1].content
        raise Exhausted("the model script has no step left", why=f"the last message was {last[:200]!r}")

    def _reply(self, step: ScriptedStep) -> ModelReply:
        number = len(self.requests)
        calls = [
            ModelCall(id=f"scripted-{number}-{i}", name=call.tool, arguments=call.arguments)
            for i, call in enumerate(step.calls)
        ]
        return ModelReply(
            text=step.text,
            calls=calls,
            usage=ModelUsage(input_tokens=step.input_tokens, output_tokens=step.output_tokens),
            finish="tool_calls" if calls else "stop",
            model=self.name,
            problem=step.problem,
        )

    async def close(self) -> None:
        """Do nothing: there is no connection."""

    def check_finished(self) -> None:
        """Raise Fatal naming the steps that were never used."""
        left = [i + 1 for i, step in enumerate(self._steps) if self._used[i] < step.times]
        if left:
            raise Fatal(f"the model script has steps left: {left}", next_step="Shorten it, or ask more.")
