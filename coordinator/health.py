"""The health of a desk: do Redis and SQL answer now, within a bounded time, also where one of them hangs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from kernel.control import Control
from kernel.database import Database
from kernel.errors import NightdeskError

#: Longer than any healthy answer, and short enough for a prober's own time-out.
HEALTH_SECONDS = 3.0
OK = "ok"


@dataclass
class Health:
    """Asks both; a question that still hangs is not asked a second time, so that probes cannot pile up."""

    control: Control
    database: Database
    seconds: float = HEALTH_SECONDS
    _sql: asyncio.Future[None] | None = field(default=None, init=False)

    async def check(self) -> dict[str, str]:
        """Return what Redis and SQL say: `ok`, or what is wrong."""
        redis, sql = await asyncio.gather(self._asked(self.control.ping()), self._asked(self._touch()))
        return {"redis": redis, "sql": sql}

    async def _asked(self, question: Awaitable[Any]) -> str:
        try:
            async with asyncio.timeout(self.seconds):
                await question
        except NightdeskError as error:
            return str(error)
        except TimeoutError:
            return f"no answer within {self.seconds:g} s"
        return OK

    async def _touch(self) -> None:
        if self._sql is None or self._sql.done():
            self._sql = _in_thread(self.database.probe)
        await asyncio.shield(self._sql)


def is_well(said: dict[str, str]) -> bool:
    """Tell whether everything that was asked is well."""
    return all(answer == OK for answer in said.values())


def _in_thread(work: Callable[[], None]) -> asyncio.Future[None]:
    """Run work in a thread of its own that neither the shared threads nor the end of the process wait for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[None] = loop.create_future()

    def settle(error: NightdeskError | None) -> None:
        if future.done():
            return
        if error is None:
            future.set_result(None)
        else:
            future.set_exception(error)
            future.exception()  # whoever asked may have gone

    def run() -> None:
        problem = None
        try:
            work()
        except NightdeskError as error:
            problem = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(settle, problem)

    threading.Thread(target=run, name="health", daemon=True).start()
    return future
