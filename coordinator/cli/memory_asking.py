"""How the commands of the memory ask its worker: over the queue, with an answer in time."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

#: A person waits: longer than a run would, short enough to say that nobody answers.
ANSWER_SECONDS = 10.0

Namespace = Annotated[str, typer.Option(help="Whose memories.")]


def ask(
    data_dir: Path | None, task: str, question: dict[str, Any], *, seconds: float = ANSWER_SECONDS
) -> Any:
    """Return what the memory worker answers; raise the error it tells, or Retryable where nobody answers."""
    from coordinator.cli.connection import client, join, require_redis
    from kernel.broker import MEMORY, Doorbell
    from kernel.control import Control, connect
    from kernel.errors import Retryable
    from kernel.redaction import Redactor

    settings = join(data_dir)
    require_redis(settings)

    async def answered() -> Any:
        redis = connect(settings.redis_url)
        try:
            doorbell = Doorbell(client(settings), Redactor(settings.secrets()))
            return await Control(redis).ask(
                doorbell, task, queue_name=MEMORY, question=question, seconds=seconds
            )
        finally:
            await redis.aclose()

    try:
        return asyncio.run(answered())
    except Retryable as error:
        advice = error.next_step or "See with `nightdesk status` whether memory runs."
        raise Retryable(error.what, why=error.why, next_step=advice) from error


def ring(data_dir: Path | None, task: str, *, note: str) -> None:
    """Ring a doorbell of the memory worker."""
    from coordinator.cli.connection import client, join, require_redis
    from kernel.broker import MEMORY, Doorbell
    from kernel.redaction import Redactor

    settings = join(data_dir)
    require_redis(settings)
    bell = Doorbell(client(settings), Redactor(settings.secrets()))
    bell.ring(task, "", queue_name=MEMORY, note=note)
