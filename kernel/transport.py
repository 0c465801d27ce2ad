"""The Redis transport, mended: outlives a lost connection, a full or emptied Redis and any garbage in a queue.

Written for Celery and kombu 5.7.0, which end the worker on each of these; tests/integration/kernel/test_transport.py
holds the versions and shows that the stock transport still does. kernel.broker puts it in the stock one's place.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from queue import Empty
from typing import Any

import redis
from celery.signals import task_rejected, task_unknown
from kombu.exceptions import KombuError
from kombu.transport import virtual
from redis.exceptions import RedisError, ResponseError

from kernel import logs
from kernel.dead_letters import bury, describe
from kernel.envelope import fault_of
from kernel.redaction import Redactor
from kernel.takeaway import CONTROL, Gone, TakingChannel, stock

log = logs.get(__name__)

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
        """Note a message as delivered; one that was popped and that Redis takes no note of, in memory alone."""
        if self.channel.seen_in:
            self.channel.take(message, delivery_tag)
            virtual.QoS.append(self, message, delivery_tag)
            return
        try:
            super().append(message, delivery_tag)
        except (RedisError, OSError) as error:
            log.warning("message_without_copy", tag=delivery_tag, why=str(error))
            virtual.QoS.append(self, message, delivery_tag)

    def ack(self, delivery_tag: str) -> None:
        """Acknowledge a message, over a second connection if the first breaks; its credit comes back in any case."""
        try:
            super().ack(delivery_tag)
        except (RedisError, OSError):
            virtual.QoS.ack(self, delivery_tag)
            with self.channel.fresh() as client:
                self._remove_from_indices(delivery_tag, client.pipeline()).execute()

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        """Reject a message; its credit comes back also where Redis does not hear of it."""
        try:
            super().reject(delivery_tag, requeue=requeue)
        except (RedisError, OSError):
            virtual.QoS.ack(self, delivery_tag)
            raise

    def restore_unacked(self, client: Any = None) -> None:
        """Put unacknowledged messages back, unless the connection was lost: their tasks go on and ack late."""
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
        return self._channel.sift(reply) if command_name == "BRPOP" else reply


class Channel(TakingChannel):
    """A channel that sets garbage aside, routes by name, and can still speak when its connection is gone."""

    QoS = QoS
    connection: Any
    redactor = Redactor()
    from_transport_options = (*stock.Channel.from_transport_options, "redactor")

    def __init__(self, *args: Any, **options: Any) -> None:
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
        with self.fresh() as found:
            yield found

    @contextmanager
    def fresh(self) -> Iterator[redis.Redis]:
        """Yield a client with a connection of its own."""
        with redis.Redis(connection_pool=redis.ConnectionPool(**self._address)) as client:
            try:
                yield client
            finally:
                client.connection_pool.disconnect()

    def sift(self, reply: tuple[bytes, bytes] | None) -> tuple[bytes, bytes] | None:
        """Return a message that can be believed, or set it aside and return None."""
        found = self.find(reply)
        if found is None:
            return None
        queue, raw = self.in_hand
        fault = fault_of(raw, is_task=not queue.endswith(CONTROL))
        if fault:
            self.remove_seen()
            self.set_aside(fault)
            return None
        return found

    def set_aside(self, reason: str) -> None:
        """Put the message in hand into the dead-letter stream, once."""
        if self.in_hand is None:
            return
        (queue, raw), self.in_hand = self.in_hand, None
        with self.conn_or_acquire() as client:
            bury(client, describe(queue, raw, reason, self.redactor))

    def _brpop_read(self, **options: Any) -> Any:
        self.in_hand, self.seen_in = None, ""
        try:
            found = super()._brpop_read(**options)
            self.remove_seen()  # a consumer that acknowledges nothing has not taken it
            return found
        except Gone:
            raise Empty from None
        except GARBAGE as error:
            if self.in_hand is None:
                raise  # not while a message was delivered
            self._reject_in_hand()
            self.remove_seen()
            self.set_aside(f"{type(error).__name__}: {error}")
            return True
        except (RedisError, OSError):
            self._put_back()
            raise
        finally:
            self.in_hand, self.seen_in = None, ""

    def _tag_in_hand(self) -> str:
        return str(
            json.loads(self.in_hand[1])["properties"]["delivery_tag"]
        )  # it has one, or sift had kept it

    def _put_back(self) -> None:
        """Put the message in hand back if it was taken: the connection broke before its task could begin."""
        if self.in_hand is not None:
            with suppress(RedisError, OSError), self.fresh() as client:
                self.qos.restore_by_tag(self._tag_in_hand(), client)

    def _reject_in_hand(self) -> None:
        """Give back the credit that the message took, or it would be missing for ever."""
        tag = self._tag_in_hand()
        if tag in self.qos._delivered and tag not in self.qos._dirty:  # noqa: SLF001 kombu has no other way to ask
            with suppress(RedisError, OSError):
                self.qos.reject(tag)

    def _deliver_fanout_message(self, message: Any, exchange: str) -> bool:
        try:
            super()._deliver_fanout_message(message, exchange)
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
