"""The brain that asks a model: the prompt within its window, its calls and answers read leniently and corrected."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from typing import Any

from agents.runtime.context import Context, cost
from agents.runtime.finish import FINISH, read_finish
from agents.runtime.spec import AgentSpec, CallRequest, Turn, TurnView
from kernel.budgets import Spender
from kernel.contracts import Outcome, Usage
from kernel.errors import Correctable, Exhausted
from kernel.model.actions import read_action
from kernel.model.port import (
    ContextTooLong,
    Message,
    Model,
    ModelCall,
    ModelReply,
    ModelRequest,
    OnText,
    ToolSchema,
    estimate_tokens,
)
from kernel.redaction import Redactor

#: How often a model may mend an unreadable answer within one turn.
_CORRECTIONS = 2
#: Share of the window that the answer may take, and its bounds in tokens.
_OUTPUT_SHARE, _LEAST_OUTPUT, _MOST_OUTPUT = 0.2, 256, 4096
#: Below this a prompt says too little to be worth asking.
_LEAST_CONTEXT = 512
#: An unreadable answer is shown to the model again cut to this many characters.
_SHOWN_CHARACTERS = 2000
#: Where the tools would take more of the window than this, only those are offered that the agent names first.
_TOOLS_SHARE = 0.25


class ModelBrain:
    """Asks a model. `finish` is always offered beside the tools; the model's port hides how calls travel.

    An unreadable answer (arguments that are no JSON, no action, an empty answer) goes back to the model within
    the turn, at most twice, and the turn's note says so. A call of an unknown tool or with wrong arguments is
    journaled as it is: execution refuses it and the model sees why in the next turn.
    """

    def __init__(
        self,
        spec: AgentSpec,
        model: Model,
        *,
        tool_schemas: Sequence[ToolSchema],
        context_tokens: int,
        redactor: Redactor,
        marker: str = "",
    ) -> None:
        self.name = f"model:{model.name}"
        self._model = model
        self._schemas = {schema.name: schema for schema in tool_schemas}
        self._window = context_tokens
        self._first_tools = spec.first_tools
        self._context = Context(spec.prompt, marker=marker or secrets.token_hex(4), hide=redactor.value)

    async def next_turn(self, view: TurnView, on_text: OnText) -> Turn:
        """Return the model's turn; raise Retryable, Exhausted or Fatal where it gives none."""
        tools = self._offered(view)
        corrections: list[Message] = []
        notes: list[str] = []
        usage = Usage()
        while True:
            reply = await self._ask(view, tools, corrections, on_text)
            usage = usage.plus(_usage(reply))
            try:
                turn = self._read(view, tools, reply)
            except Correctable as error:
                if len(notes) < _CORRECTIONS:
                    notes.append(f"asked again: {error}")
                    corrections += _correction(reply, error)
                    await on_text(None)
                    continue
                turn = self._last_resort(reply, error)
            if reply.text and not turn.text and not reply.calls:
                await on_text(None)  # what was streamed was a call in writing
            note = "; ".join([_speed(reply), *notes])
            return turn.model_copy(update={"usage": usage, "brain": self.name, "note": note})

    def _offered(self, view: TurnView) -> list[ToolSchema]:
        """Return the tools to offer: those that an agent names first, where the window has no room for all."""
        tools = [self._schemas[name] for name in view.tools if name in self._schemas]
        if _tokens(tools) > self._window * _TOOLS_SHARE:
            tools = [tool for tool in tools if tool.name in self._first_tools] or tools
        return [*tools, FINISH]

    async def _ask(
        self, view: TurnView, tools: list[ToolSchema], corrections: list[Message], on_text: OnText
    ) -> ModelReply:
        schemas = _tokens(tools)
        while True:
            output = int(min(_MOST_OUTPUT, max(_LEAST_OUTPUT, self._window * _OUTPUT_SHARE)))
            budget = max(_LEAST_CONTEXT, self._window - output - schemas - cost(corrections))
            messages = [*self._context.messages(view, budget=budget), *corrections]
            request = ModelRequest(
                messages=messages, tools=tools, max_output_tokens=output, spender=_spender(view)
            )
            try:
                return await self._model.reply(request, on_text)
            except ContextTooLong:
                # the window is smaller than the settings say: from here on send half as much
                self._window //= 2
                if self._window < _LEAST_CONTEXT:
                    raise

    def _read(self, view: TurnView, tools: list[ToolSchema], reply: ModelReply) -> Turn:
        if reply.problem:
            raise Correctable("the answer is no action", why=reply.problem)
        calls = reply.calls or _written_out(reply.text, {tool.name for tool in tools})
        for call in calls:
            _arguments(call)
        others = [call for call in calls if call.name != FINISH.name]
        text = reply.text if reply.calls or not calls else ""
        if others and not view.tools:  # it was told: the loop ends with what there is
            return Turn(text=text)
        if others:  # a finish beside other calls is early: it comes again when their results are there
            wanted = [CallRequest(tool=call.name, arguments=_arguments(call)) for call in others]
            return Turn(text=text, calls=wanted)
        if calls:
            outcome = read_finish(_arguments(calls[0]), view.work, brain=self.name)
            return Turn(text=text, outcome=outcome)
        return Turn(text=text, outcome=read_finish({"answer": text}, view.work, brain=self.name))

    def _last_resort(self, reply: ModelReply, error: Correctable) -> Turn:
        if not reply.text.strip() or reply.text.lstrip().startswith(("{", "[", "`")):
            raise Exhausted(f"{self._model.name} gives no readable answer", why=str(error)) from error
        return Turn(
            text=reply.text, outcome=Outcome(answer=reply.text.strip(), partial=True, brain=self.name)
        )


def _spender(view: TurnView) -> Spender:
    work = view.work
    return Spender(
        run_id=work.run_id,
        assignment_id=work.assignment_id,
        namespace=work.namespace,
        name=f"{work.assignment_id}.{len(view.turns) + 1}",
    )


def _tokens(tools: Sequence[ToolSchema]) -> int:
    return sum(estimate_tokens(tool.model_dump_json()) for tool in tools)


def _arguments(call: ModelCall) -> dict[str, Any]:
    if isinstance(call.arguments, dict):
        return call.arguments
    raise Correctable(f"the arguments of {call.name!r} are no JSON object", why=call.arguments[:200])


def _written_out(text: str, names: set[str]) -> list[ModelCall]:
    """Return the call that a small model wrote as text instead of making it."""
    if "{" not in text:
        return []
    try:
        _, call = read_action(text)
    except Correctable:
        return []
    return [call] if call.name in names else []


def _correction(reply: ModelReply, error: Correctable) -> list[Message]:
    told = f"{error.what}: {error.why}. {error.next_step or 'Answer again, in the right form.'}"
    if not reply.calls:
        shown = reply.text[:_SHOWN_CHARACTERS] or "(empty)"
        return [Message(role="assistant", content=shown), Message(role="user", content=told)]
    results = [Message(role="tool", call_id=call.id, name=call.name, content=told) for call in reply.calls]
    return [Message(role="assistant", content=reply.text, calls=reply.calls), *results]


def _usage(reply: ModelReply) -> Usage:
    return Usage(
        input_tokens=reply.usage.input_tokens, output_tokens=reply.usage.output_tokens, cost=reply.usage.cost
    )


def _speed(reply: ModelReply) -> str:
    speed = f"first token {reply.seconds_to_first_token:.2f} s, {reply.tokens_per_second:.1f} tokens/s"
    return f"{speed}, usage estimated" if reply.usage.estimated else speed
