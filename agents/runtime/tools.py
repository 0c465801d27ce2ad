"""Tools: typed functions whose signature and docstring are the schema that a model reads."""

from __future__ import annotations

import asyncio
import inspect
import re
import threading
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import ContextVar, copy_context
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, Protocol, TypeVar, get_type_hints

from jsonschema import Draft202012Validator
from pydantic import ConfigDict, Field, ValidationError, create_model

from kernel.artifacts import ArtifactStore
from kernel.contracts import Effect, Value, Work
from kernel.database import Database
from kernel.errors import Correctable
from kernel.model.port import Model
from kernel.settings import Settings

T = TypeVar("T")
Risk = Literal["read", "low", "high"]
#: Asks the memory service (task, question, seconds to wait); raises Retryable where no answer comes in time.
AskMemory = Callable[[str, dict[str, Any], float], Awaitable[Any]]
#: Tells people what a long call is at, from any thread and as often as it likes: (name, bytes done, of so many).
TellProgress = Callable[[str, int, int], None]
#: Adds to named counts that metrics tell.
Tally = Callable[[str, Mapping[str, int]], Awaitable[None]]

#: Apart from the threads that commit: calls that hang in all of these, past their time, keep nobody from writing.
_THREADS = ThreadPoolExecutor(32, thread_name_prefix="tool")


def _tell_nobody(_name: str, _done: int, _total: int) -> None:
    """Let what is told of progress go."""


_GIVEN_UP: ContextVar[threading.Event | None] = ContextVar("given_up", default=None)


def given_up() -> threading.Event | None:
    """Return what is set once nobody waits any more for the call that this thread works for."""
    return _GIVEN_UP.get()


async def in_thread(function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    """Run what blocks in a thread of the tools; context variables of the caller hold inside.

    A thread cannot be ended: long work looks at `given_up`, which a cancelled or expired call sets.
    """
    event, context = threading.Event(), copy_context()
    context.run(_GIVEN_UP.set, event)
    call = partial(context.run, function, *args, **kwargs)
    try:
        return await asyncio.get_running_loop().run_in_executor(_THREADS, call)
    except asyncio.CancelledError:
        event.set()
        raise


@dataclass(frozen=True, kw_only=True)
class Resources:
    """What one worker process offers to tools."""

    settings: Settings
    database: Database
    artifacts: ArtifactStore
    #: None where no memory service is in reach (tests, a desk without one).
    memory: AskMemory | None = None
    tally: Tally | None = None
    #: For what the settings turn on; a request names the run that pays for it.
    model: Model | None = None


class ChildLog(Protocol):
    """Where the program that a call starts is recorded, before it may do anything."""

    @property
    def mark(self) -> dict[str, str]:
        """Return the variable that the program and all that it starts carry."""

    async def started(self, pid: int) -> None:
        """Commit who the program will be; raise where it must not start."""

    async def ended(self, exit_code: int) -> None:
        """Note how it ended."""


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool knows about its call. `key` names the effect: pass it on as idempotency key."""

    work: Work
    resources: Resources
    call_id: str = ""
    key: str = ""
    attempt: int = 1
    #: For the program whose end is the call's end; not for dry runs, probes and checks, which only read.
    children: ChildLog | None = None
    progress: TellProgress = _tell_nobody


class Prepared(Value):
    """What a call would do, resolved now: shown to the person who approves and bound by digest."""

    argv: list[str] = []
    target: str = ""
    risk: Literal["read", "low", "high"] = "read"
    dry_run: str = ""
    undo: str = ""
    detail: dict[str, Any] = {}


class Reconciled(Value):
    """What a probe of the world found: `happened` is None where it cannot tell."""

    happened: bool | None
    value: Any = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One tool. `prepare` resolves what the call would do; `reconcile` asks whether it happened."""

    name: str
    description: str
    parameters: dict[str, Any]
    effect: Effect
    run: Callable[[ToolContext, dict[str, Any]], Awaitable[Any]]
    risk: Risk = "read"
    timeout: float | None = None
    external: bool = False
    prepare: Callable[[ToolContext, dict[str, Any]], Awaitable[Prepared]] | None = None
    reconcile: Callable[[ToolContext, dict[str, Any]], Awaitable[Reconciled]] | None = None

    def check(self, arguments: dict[str, Any]) -> None:
        """Raise Correctable, naming each argument that breaks the schema."""
        problems = [
            f"{'.'.join(str(p) for p in e.absolute_path) or 'arguments'}: {e.message}"
            for e in Draft202012Validator(self.parameters).iter_errors(arguments)
        ]
        if problems:
            raise Correctable(
                f"bad arguments for {self.name!r}",
                why="; ".join(problems)[:1000],
                next_step="Call it again with arguments that fit its schema.",
            )


def tool(
    *, effect: Effect = Effect.read, timeout: float | None = None, external: bool = False
) -> Callable[[Callable[..., Any]], Tool]:
    """Make a Tool of a function `(ctx, **arguments)`; blocking functions run in a thread."""

    def wrap(function: Callable[..., Any]) -> Tool:
        model, text, schema = _schema(function)

        async def run(ctx: ToolContext, arguments: dict[str, Any]) -> Any:
            try:
                values = dict(model.model_validate(arguments))
            except ValidationError as error:
                problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
                raise Correctable(f"bad arguments for {function.__name__!r}", why=problems) from error
            if inspect.iscoroutinefunction(function):
                return await function(ctx, **values)
            return await in_thread(function, ctx, **values)

        return Tool(
            name=function.__name__,
            description=text,
            parameters=schema,
            effect=effect,
            run=run,
            timeout=timeout,
            external=external,
        )

    return wrap


_ARGUMENT = re.compile(r"^ {4,8}(\w+): (.+)$")


def _schema(function: Callable[..., Any]) -> tuple[Any, str, dict[str, Any]]:
    """Return the argument model, the docstring without its Args block, and the JSON schema."""
    doc = inspect.getdoc(function) or ""
    head, _, rest = doc.partition("\nArgs:\n")
    block, _, example = rest.partition("\n\n")
    notes = {m[1]: m[2] for line in block.splitlines() if (m := _ARGUMENT.match(line))}
    hints = get_type_hints(function)
    fields: dict[str, Any] = {}
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        default = ... if parameter.default is parameter.empty else parameter.default
        fields[name] = (hints[name], Field(default, description=notes.get(name, "")))
    model = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)
    schema = model.model_json_schema()
    schema.pop("title", None)
    for value in schema.get("properties", {}).values():
        value.pop("title", None)
    return model, f"{head.strip()}\n\n{example.strip()}".strip(), schema
