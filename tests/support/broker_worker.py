"""A worker process that writes what its tasks do to a file, whatever happens to Redis: `celery -A broker_worker worker`."""

from __future__ import annotations

import asyncio

from kernel.broker import make_celery
from kernel.process import Announcer, Process, doorway
from kernel.settings import settings

app = make_celery(settings(), "test")
process = Process("test")


def note(line: str) -> None:
    with (settings().data / "seen.txt").open("a", encoding="utf-8") as seen:
        seen.write(f"{line}\n")


async def refused(task_id: str, reason: str) -> None:
    note(f"refused {task_id}: {reason}")


async def work(announcer: Announcer, what: str, held: bool = False) -> None:
    note(f"{what} began")
    go_on = settings().data / "go-on"
    while held and not go_on.exists():  # the test says when
        await asyncio.sleep(0.02)
    note(f"{what} done")


doorway(app, process, "test.late", on_refused=refused)(work)
doorway(app, process, "test.early")(work)
