"""A worker process whose tasks end in every way an error can: `celery -A doorway_worker worker` in this folder."""

from __future__ import annotations

from kernel.broker import make_celery
from kernel.control import connect
from kernel.errors import Cancelled, Fatal, Retryable
from kernel.process import Announcer, Process, doorway
from kernel.settings import settings

app = make_celery(settings(), "test")
process = Process("test")
redis = connect(settings().redis_url)


async def add(line: str) -> None:
    await redis.rpush("seen", line)


async def refused(task_id: str, reason: str) -> None:
    await add(f"refused {task_id}: {reason}")


async def work(announcer: Announcer, what: str) -> None:
    await add(f"{what} began")
    if what == "busy" and (await redis.lrange("seen", 0, -1)).count("busy began") < 3:
        raise Retryable("no database")
    if what == "stopped":
        raise Cancelled("stop")
    if what == "fatal":
        raise Fatal("cannot write")
    if what == "bug":
        raise ZeroDivisionError
    announcer.say(f"turn of {what}")
    await add(f"{what} done")


doorway(app, process, "test.request", on_refused=refused)(work)
doorway(app, process, "test.bell")(work)
