"""How a message leaves its list in Redis: seen first, then taken in one step with the copy that outlives its worker.

BRPOP alone takes a message away before anybody else knows of it: a worker killed in that moment loses it. So whoever
sends with us pushes a token beside the message, into a list that nobody pops; a worker waits for tokens, looks at the
message where it lies, and takes it by a script. After each message, and each second in which none came, it looks
without being woken: for messages whose token was lost. What a foreign client sends without a priority comes in the
queue's first list, which no message of ours enters, and is popped as it always was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from time import monotonic, time
from typing import Any

import kombu.transport as _kombu
from kombu.transport import redis as _redis
from kombu.utils.json import dumps
from redis.exceptions import ResponseError

from kernel import logs

log = logs.get(__name__)

stock: Any = _redis  # its stubs lack half of what is needed here
#: Transports by name, as this process was served them; a plain client may have been served the stock one first.
transports: dict[str, Any] = vars(_kombu)["_transport_cache"]
#: Queues of Celery's own remote control, whose messages are no tasks.
CONTROL = ".celery.pidbox"
#: More tokens than this are worth nothing: without one a message is found all the same.
_TOKENS = 10_000
_PREFIX = "nightdesk:wake:"
#: The list of each queue that is popped; all others are looked at.
_POPPED_STEP = 0

_PEEK = """
for _, list in ipairs(KEYS) do
  local message = redis.call('LINDEX', list, -1)
  if message then return {list, message} end
end
"""
#: RPOP comes first: a script that has begun to write may go on where Redis is full.
_TAKE = """
local message = redis.call('LINDEX', KEYS[1], -1)
if not message or redis.sha1hex(message) ~= ARGV[1] then return 0 end
redis.call('RPOP', KEYS[1])
if ARGV[5] ~= '' then redis.call('RPOP', KEYS[4]) end
if ARGV[2] ~= '' then
  redis.call('ZADD', KEYS[2], ARGV[3], ARGV[2])
  redis.call('HSET', KEYS[3], ARGV[2], ARGV[4])
end
return 1
"""


class Gone(Exception):
    """Another worker took the message that this one saw."""


class TakingChannel(stock.Channel):  # type: ignore[misc] # see stock
    """A channel that waits for tokens first, and takes what it saw when it is delivered."""

    #: The message that is being delivered, as it came: its queue and its bytes.
    in_hand: Any = None
    #: The list where it still lies.
    seen_in = ""
    #: Whether the question on its way looks at the lists, and whether the next one shall.
    _looks = _look_next = False

    def _put(self, queue: str, message: dict[str, Any], **options: Any) -> None:
        if "_publish_batch" in options or queue in self._expires or queue.endswith(CONTROL):
            super()._put(queue, message, **options)
            return
        # never into the first list: it is popped by whoever waits beside the one that the token wakes
        step = max(self._get_message_priority(message, reverse=False), self.priority_steps[1])
        name = self._q_for_pri(queue, step)
        tokens = f"{_PREFIX}{queue}"
        with self.conn_or_acquire() as client, client.pipeline() as pipe:
            # the token first: a worker that waits for both lists is served by the first that is filled
            pipe.lpush(tokens, "")
            pipe.ltrim(tokens, 0, _TOKENS - 1)
            pipe.lpush(name, dumps(message))
            pipe.execute()

    def _brpop_start(self, timeout: float | None = None) -> None:
        queues = self._queue_cycle.consume(len(self.active_queues))
        if not queues:
            return
        self._in_poll, self._brpop_sent_at = self.client.connection, monotonic()
        self._looks, self._look_next = self._look_next, False
        if self._looks:
            lists = self._lists(queues)
            self._in_poll.send_command("EVAL", _PEEK, len(lists), *lists)
            return
        tokens = [f"{_PREFIX}{queue}" for queue in queues if not queue.endswith(CONTROL)]
        popped = [self._q_for_pri(queue, _POPPED_STEP) for queue in queues]
        self._in_poll.send_command("BRPOP", *tokens, *popped, timeout or self.brpop_timeout or 0)

    def _lists(self, queues: Sequence[str]) -> list[str]:
        return [self._q_for_pri(queue, step) for step in self.priority_steps for queue in queues]

    def find(self, reply: tuple[bytes, bytes] | None) -> tuple[bytes, bytes] | None:
        """Return the message that a reply stands for, with its list; None where there is none for this worker."""
        self._look_next = bool(reply) or not self._looks
        if not reply:
            return None
        found: Any = reply
        woken = reply[0].startswith(_PREFIX.encode())
        if woken:
            # a channel that closes takes nothing any more
            found = None if self._closing else self._run(_PEEK, self._lists(self.active_queues))
        if not found:
            return None
        self.seen_in = found[0].decode() if woken or self._looks else ""
        self.in_hand = found[0].decode(errors="replace").rsplit(self.sep, 1)[0], found[1]
        return found[0], found[1]

    def take(self, message: Any, tag: str) -> None:
        """Take the message in hand from where it lies, its copy left under its tag; raise Gone where it has gone."""
        route = message.delivery_info
        copy = dumps([message._raw, route["exchange"], route["routing_key"]])  # noqa: SLF001 as kombu restores it
        if not self._take(tag, copy):
            raise Gone

    def remove_seen(self) -> None:
        """Remove the message in hand from its list, should it still lie there."""
        if self.seen_in and not self._take():
            self.in_hand = None  # whoever has it sees to it

    def _take(self, tag: str = "", copy: str = "") -> bool:
        seen = hashlib.sha1(self.in_hand[1], usedforsecurity=False).hexdigest()
        tokens = f"{_PREFIX}{self.in_hand[0]}"
        keys = (self.seen_in, self.unacked_index_key, self.unacked_key, tokens)
        # who was not woken by the message's token takes it along, or it would wake somebody for nothing
        taken = self._run(_TAKE, keys, seen, tag, time(), copy, "token" if self._looks else "")
        self.seen_in = ""
        return bool(taken)

    def _run(self, script: str, keys: Sequence[str], *arguments: str | float) -> Any:
        """Run a script; None where Redis refuses it: the message stays, and is popped when its tokens are used up."""
        try:
            with self.conn_or_acquire() as client:
                return client.eval(script, len(keys), *keys, *arguments)
        except ResponseError as error:
            log.warning("message_not_taken", why=str(error))
            return None
