"""How the commands of the memory ask its worker: over the queue, with an answer in time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from kernel.control import Control
    from kernel.errors import Correctable

#: A person waits: longer than a run would, short enough to say that nobody answers.
ANSWER_SECONDS = 10.0
#: From then on a person at a terminal is told what is waited for.
_PATIENCE_SECONDS = 3.0
#: A shorter beginning of an id is asked for in full: it may name two memories (memory_service.reading).
ID_LEAST = 8
_STALLED = (
    "Look with `nightdesk status`: where memory runs and messages wait, it is busy or hangs; its log is "
    "logs/memory.log in the data folder, and `nightdesk up --detach` after `nightdesk down` starts it anew."
)

#: What a memory may be (memory_service.domain.Kind).
KINDS = ("fact", "preference", "episode", "procedure", "summary")

Memory = Annotated[
    str, typer.Argument(metavar="ID", help=f"The id, or its first {ID_LEAST} characters or more.")
]
Namespace = Annotated[str, typer.Option(help="Whose memories.")]


def ask(
    data_dir: Path | None, task: str, question: dict[str, Any], *, seconds: float = ANSWER_SECONDS
) -> Any:
    """Return what the memory worker answers; raise the error it tells, or Retryable where nobody answers."""
    from coordinator.cli.connection import client, join, require_redis
    from kernel.broker import MEMORY, Doorbell
    from kernel.control import Control, connect
    from kernel.errors import Retryable
    from kernel.redaction import make_redactor

    settings = join(data_dir)
    require_redis(settings)

    async def answered() -> Any:
        redis = connect(settings.redis_url)
        try:
            doorbell = Doorbell(client(settings), make_redactor(settings))
            control = Control(redis)
            asked = control.ask(doorbell, task, queue_name=MEMORY, question=question, seconds=seconds)
            return await _patiently(asked, control, seconds)
        finally:
            await redis.aclose()

    try:
        return asyncio.run(answered())
    except Retryable as error:
        raise Retryable(error.what, why=error.why, next_step=error.next_step or _STALLED) from error


async def _patiently(asked: Coroutine[Any, Any, Any], control: Control, seconds: float) -> Any:
    """Wait for an answer, and tell whoever waits at a terminal what for."""
    from coordinator.cli import screen
    from kernel.broker import MEMORY

    answer = asyncio.ensure_future(asked)
    await asyncio.wait({answer}, timeout=_PATIENCE_SECONDS)
    if not answer.done() and screen.err().is_terminal:
        waiting = (await control.queue_lengths([MEMORY]))[MEMORY]
        why = f"; {waiting} questions wait in its queue" if waiting else "; it is at work"
        screen.remark(f"waiting for the memory worker, for at most {seconds:g} s{why} (Ctrl-C ends the wait)")
    return await answer


def user() -> str:
    """Return the person at the terminal as the audit names people."""
    from coordinator.cli.connection import user_name

    return f"user:{user_name()}"


def whole(memory: str) -> str:
    """Return an id or the beginning of one; raise Correctable where it is too short to name one memory."""
    from kernel.errors import Correctable

    told = memory.strip()
    if not told:
        raise Correctable("no id was given", next_step="Run `nightdesk memory list` to see them.")
    if len(told) < ID_LEAST:
        raise Correctable(
            f"{told!r} is too short for an id",
            why="so few characters may name more than one memory",
            next_step=f"Give its first {ID_LEAST} characters or more, as `nightdesk memory list` shows them.",
        )
    return told


def unknown(memory: str, namespace: str, see: str = "nightdesk memory list") -> Correctable:
    """Return the error of an id that a namespace does not have."""
    from kernel.errors import Correctable

    return Correctable(
        f"there is no memory {memory!r} in {namespace!r}",
        next_step=f"Run `{see}` to see them; --namespace names another.",
    )


def kinds_of(told: list[str]) -> list[str]:
    """Return kinds as they were told; raise Correctable where there is no such kind."""
    from kernel.errors import Correctable

    for kind in told:
        if kind not in KINDS:
            raise Correctable(f"there is no kind {kind!r}", next_step=f"There are: {', '.join(KINDS)}.")
    return told


def ring(data_dir: Path | None, task: str, *, note: str) -> None:
    """Ring a doorbell of the memory worker."""
    from coordinator.cli.connection import client, join, require_redis
    from kernel.broker import MEMORY, Doorbell
    from kernel.redaction import make_redactor

    settings = join(data_dir)
    require_redis(settings)
    bell = Doorbell(client(settings), make_redactor(settings))
    bell.ring(task, "", queue_name=MEMORY, note=note)
