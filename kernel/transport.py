"""The Redis transport, mended: outlives a lost connection, a full or emptied Redis and any garbage in a queue.

Written for Celery and kombu 5.7.0, which end the worker on each of these; tests/integration/kernel/test_transport.py
holds the versions and shows that the stock transport still does. kernel.broker puts it in the stock one's place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import redis
from celery.signals import task_rejected, task_unknown
from kombu.exceptions import KombuError
from kombu.transport import redis as _redis
from kombu.transport import virtual
from redis.exceptions import RedisError, ResponseError

from kernel import logs
from kernel.dead_letters import bury, describe
from kernel.envelope import fault_of
from kernel.redaction import Redactor

log = logs.get(__name__)

stock: Any = _redis  # its stubs lack half of what is needed here
#: Queues of Celery's own remote control, whose messages are no tasks.
_CONTROL = ".celery.pidbox"
#: How code that believes its input fails on garbage. Lost connections (OSError, ConnectionError) are not among it.
GARBAGE = (
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    RecursionError,
    KombuError,
    ResponseError,
)


class QoS(stock.QoS):  # type: ignore[misc] # see stock
    """Acknowledgements that need no living connection: delivery tags are global in Redis."""

    channel: Channel

    def append(self, message: Any, delivery_tag: str) -> None:
        """Note a message as delivered; where Redis takes no note of it, in memory alone.

        It has left its list already: to give up here would lose it, and an acknowledgement asks for no note.
        """
        try:
            super().append(message, delivery_tag)
        except (RedisError, OSError) as error:
            log.warning("message_without_copy", tag=delivery_tag, why=str(error))
            virtual.QoS.append(self, message, delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Reject a message; its credit comes back also where Redis does not hear of it."""
        try:
            super().reject(delivery_tag, requeue=requeue)
        except (RedisError, OSError):
            virtual.QoS.ack(self, delivery_tag)
            raise

    def restore_unacked(self, client: Any = None) -> None:
        """Put unacknowledged messages back, unless the connection was lost: their tasks go on and ack late.

        Should this process die as well, the visibility time-out puts them back.
        """
        if self.channel.lost:
            self._delivered.clear()
            return
        super().restore_unacked(client)

    def restore_visible(self, start: int = 0, num: int = 10, interval: int = 10) -> None:
        """Put back what others left; a Redis that is full refuses the lock for it, and is asked again later."""
        try:
            super().restore_visible(start, num, interval)
        except ResponseError as error:
            log.warning("nothing_restored", why=str(error))


class Client(redis.Redis):
    """A client that shows each message to its channel before anybody believes it."""

    def __init__(self, *, channel: Channel, **options: Any) -> None:
        super().__init__(**options)
        self._channel = channel

    def parse_response(self, connection: Any, command_name: Any, **options: Any) -> Any:
        """Return a reply; None, as for an empty queue, for a message that went to the dead letters."""
        reply = super().parse_response(connection, command_name, **options)  # type: ignore[no-untyped-call] # theirs
        return self._channel.sift(reply) if command_name == "BRPOP" and reply else reply


class Channel(stock.Channel):  # type: ignore[misc] # see stock
    """A channel that sets garbage aside, routes by name, and can still speak when its connection is gone."""

    QoS = QoS
    connection: Any
    redactor = Redactor()
    from_transport_options = (*stock.Channel.from_transport_options, "redactor")

    def __init__(self, *args: Any, **options: Any) -> None:
        #: The message in hand as it came: its queue and its bytes.
        self._in_hand: Any = None
        super().__init__(*args, **options)
        self._address = self._connparams()

    @property
    def lost(self) -> bool:
        """Return whether the connection is gone: dropped after an error, or closed."""
        return self.connection is None or self.connection.client is None or self.connection.dropped

    @contextmanager
    def conn_or_acquire(self, client: Any = None) -> Iterator[Any]:
        """Yield a client; a fresh one where the connection is gone."""
        if client or not self.lost:
            with super().conn_or_acquire(client) as found:
                yield found
            return
        with redis.Redis(connection_pool=redis.ConnectionPool(**self._address)) as fresh:
            try:
                yield fresh
            finally:
                fresh.connection_pool.disconnect()

    def sift(self, reply: tuple[bytes, bytes]) -> tuple[bytes, bytes] | None:
        """Return a message that can be believed, or set it aside and return None."""
        queue = reply[0].decode(errors="replace").rsplit(self.sep, 1)[0]
        self._in_hand = queue, reply[1]
        fault = fault_of(reply[1], is_task=not queue.endswith(_CONTROL))
        if fault:
            self.set_aside(fault)
            return None
        return reply

    def set_aside(self, reason: str) -> None:
        """Put the message in hand into the dead-letter stream, once."""
        if self._in_hand is None:
            return
        (queue, raw), self._in_hand = self._in_hand, None
        with self.conn_or_acquire() as client:
            bury(client, describe(queue, raw, reason, self.redactor))

    def _brpop_read(self, **options: Any) -> Any:
        self._in_hand = None
        try:
            return super()._brpop_read(**options)
        except GARBAGE as error:
            if self._in_hand is None:
                raise  # not while a message was delivered
            self._reject_in_hand()
            self.set_aside(f"{type(error).__name__}: {error}")
            return True
        finally:
            self._in_hand = None

    def _reject_in_hand(self) -> None:
        """Give back the credit that the message took, or it would be missing for ever."""
        assert self._in_hand is not None
        tag = json.loads(self._in_hand[1])["properties"]["delivery_tag"]  # it has one, or sift had kept it
        if tag in self.qos._delivered and tag not in self.qos._dirty:  # noqa: SLF001 kombu has no other way to ask
            with suppress(RedisError, OSError):
                self.qos.reject(tag)

    def _deliver_fanout_message(self, message: Any, exchange: str) -> bool:
        try:
            return bool(super()._deliver_fanout_message(message, exchange))
        except GARBAGE as error:
            log.warning("broadcast_dropped", exchange=exchange, why=f"{type(error).__name__}: {error}")
            return True

    def _lookup(self, exchange: str, routing_key: str, default: str | None = None) -> Any:
        # exchange, queue and routing key of ours have one name: no need for a table that FLUSHALL takes away
        if exchange and exchange == routing_key:
            return [routing_key]
        return super()._lookup(exchange, routing_key, default)

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        try:
            super()._queue_bind(exchange, routing_key, pattern, queue)
        except ResponseError as error:  # full; nothing of ours is routed by it
            log.warning("binding_not_stored", queue=queue, why=str(error))

    def _get_client(self) -> Any:
        def client(**options: Any) -> Client:
            return Client(channel=self, **options)

        return client


class Transport(stock.Transport):  # type: ignore[misc] # see stock
    """Registered in the stock transport's place by kernel.broker."""

    Channel = Channel
    dropped = False

    def _collect(self, connection: Any) -> None:
        """Close the channels of a connection that was lost; kombu calls this where a transport has it."""
        self.dropped = True
        for channel in dict.fromkeys([*self._avail_channels, *self.channels]):
            channel.auto_delete_queues.clear()  # to delete them takes a connection
            for _ in range(2):  # the first try may end with the read of a reply that never came
                with suppress(*self.connection_errors, *self.channel_errors):
                    channel.close()
                    break
        self._avail_channels.clear()
        self.cycle.close()


@task_rejected.connect
@task_unknown.connect
def _celery_refused(message: Any = None, exc: object = None, name: str = "", **_: Any) -> None:
    """Set aside what Celery only logs: tasks that nobody registered, and what it finds invalid."""
    if isinstance(message.channel, Channel):
        message.channel.set_aside(f"no worker here knows the task {name!r}" if name else f"Celery: {exc}")
