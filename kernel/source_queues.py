"""The queues of named sources: a worker consumes one for each source it reaches, beside its agent's own queue.

One queue per source and not one per worker: its name outlives every worker, so that whoever reaches the source may take
over, and workers that reach the same one share its work.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Between an agent's queue and a source: no other queue's name holds it.
MARK = "@"
#: Part of a queue's name, of a key in Redis and of what people type: letters of any script and digits, and no path.
_NAME = re.compile(r"\w[\w.-]{0,63}")


def is_source_name(text: str) -> bool:
    """Return whether a text can be the name of a source that requests are routed by."""
    return _NAME.fullmatch(text) is not None


def source_queue(agent_queue: str, source: str) -> str:
    """Return the queue of those workers of an agent that reach a source."""
    return f"{agent_queue}{MARK}{source}"


def source_queues(agent_queue: str, sources: Iterable[str]) -> list[str]:
    """Return the queues that a worker consumes for the sources it reaches; names that cannot be routed by have none."""
    return [source_queue(agent_queue, name) for name in sources if is_source_name(name)]


def agent_queue_of(queue: str) -> str:
    """Return the queue of the agent that the queue of a source belongs to."""
    return queue.partition(MARK)[0]


def source_of(queue: str) -> str:
    """Return the source of a queue; empty for the queue of an agent or a service."""
    return queue.partition(MARK)[2]
