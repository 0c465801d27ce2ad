"""How far a long call is, told to the run's event stream now and then, from whatever thread does the work."""

from __future__ import annotations

import asyncio
from concurrent.futures import Future

from agents.runtime.spec import DoneCall
from kernel.clock import monotonic
from kernel.contracts import Work
from kernel.events import ToolCallProgress
from kernel.streams import EventLog

#: Seconds before the first word and between two, and the share of the time so far that lies between two at least:
#: a reader sees motion, and a call of ten minutes pushes no more than some eighty words into a capped stream.
_PACE, _SHARE = 2.0, 0.05


class CallProgress:
    """Tells of one call; call it from any thread. One word is on its way at most: Redis may hang, the work may not."""

    def __init__(self, events: EventLog, work: Work, call: DoneCall) -> None:
        self._events, self._work, self._call = events, work, call
        self._loop = asyncio.get_running_loop()
        self._began = self._told = monotonic()
        self._sent: Future[str] | None = None
        self._whole = False

    def __call__(self, name: str, done: int, total: int) -> None:
        """Tell what the call is at and how much of it is done, unless that was told just now."""
        moment = monotonic()
        waits = max(_PACE, (moment - self._began) * _SHARE)
        whole = done >= total > 0
        # where there was a word before, that all is done is one too: what follows may take long as well
        due = moment - self._told >= waits or (whole and not self._whole and self._sent is not None)
        if not due or self._loop.is_closed() or (self._sent is not None and not self._sent.done()):
            return
        self._told, self._whole = moment, whole
        event = ToolCallProgress(
            run_id=self._work.run_id,
            assignment_id=self._work.assignment_id,
            agent=self._work.agent,
            call_id=self._call.id,
            tool=self._call.tool,
            what=name,
            done=done,
            total=total,
            seconds=round(moment - self._began, 1),
        )
        self._sent = asyncio.run_coroutine_threadsafe(self._events.say(event), self._loop)
