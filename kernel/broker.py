"""The broker door: the one Celery configuration, doorbells, queue lengths and stored results."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from celery import Celery
from kombu import Exchange, Queue
from kombu.exceptions import OperationalError
from kombu.transport import TRANSPORT_ALIASES

from kernel.errors import Retryable
from kernel.faults import around
from kernel.redaction import Redactor, make_redactor
from kernel.schedule import schedule
from kernel.settings import Settings
from kernel.takeaway import transports
from kernel.task import QuietTask

if TYPE_CHECKING:  # beat, Flower and the command line import this file, and have no use for SQL
    from kernel.records import AssignmentRow

COORDINATOR = "coordinator"
MEMORY = "memory"
MAINTENANCE = "maintenance"
FIXED_QUEUES = (COORDINATOR, MEMORY, MAINTENANCE)

#: Lists of each queue, one per priority step; 0, served first, is for foreign clients (see kernel.takeaway).
PRIORITY_STEPS = (0, 1, 3, 6)
PRIORITIES = {"high": 1, "normal": 3, "low": 6}
_PRIORITY_SEPARATOR = "\x06\x16"

#: An early-acked message is never redelivered; only `coordinator.submit` is late, and it takes milliseconds.
_VISIBILITY_SECONDS = 60
#: Four loops of the leader, which renews it in each.
_BEAT_LOCK_SECONDS = 4
_NOTE_LENGTH = 60
_MENDED = "kernel.transport:Transport"
_WORDS = re.compile(r"[^\w\s.,:/?!'\-（），。：？！]+")


def queue(name: str) -> Queue:
    """Return the declaration of a queue, the same in every process."""
    return Queue(name, exchange=Exchange(name, type="direct"), routing_key=name)


def make_celery(settings: Settings, service: str) -> Celery:
    """Return the service's Celery app; opens no connection."""
    TRANSPORT_ALIASES.update(redis=_MENDED, rediss=_MENDED)
    transports.clear()
    app = Celery(
        f"nightdesk.{service}", broker=settings.redis_url, backend=settings.redis_url, task_cls=QuietTask
    )
    app.conf.update(_transport(settings), **_work(settings))
    return app  # type: ignore[return-value] # generic in the task class in the stubs only


def _transport(settings: Settings) -> dict[str, Any]:
    """Return how messages travel."""
    return {
        "task_serializer": "json",
        "result_serializer": "json",
        "accept_content": ["json"],
        "broker_connection_retry_on_startup": True,
        "broker_connection_max_retries": None,
        # a Redis that refuses a command (full, read-only) is asked again, and ends no worker
        "broker_channel_error_retry": True,
        "broker_transport_options": {
            "visibility_timeout": _VISIBILITY_SECONDS,
            # what a dead worker left unacknowledged comes back within 65 s; kombu looks every 100 s
            "unacked_restore_interval": 5,
            "unacked_restore_throttle": 1,
            # whoever is killed while it restores leaves this lock behind: for 5 minutes by default
            "unacked_mutex_expire": 10,
            "priority_steps": list(PRIORITY_STEPS),
            "sep": _PRIORITY_SEPARATOR,
            "queue_order_strategy": "priority",
            "socket_timeout": 15,
            "socket_connect_timeout": 5,
            "socket_keepalive": True,
            "health_check_interval": 10,
            "redactor": make_redactor(settings),  # for what the dead letters show
        },
        "redis_socket_timeout": 15,
        "redis_socket_connect_timeout": 5,
    }


def _work(settings: Settings) -> dict[str, Any]:
    """Return how workers, events and beat behave."""
    return {
        "task_acks_late": False,
        "worker_disable_prefetch": True,
        "worker_prefetch_multiplier": 1,
        "task_ignore_result": True,
        "task_queues": [queue(name) for name in FIXED_QUEUES],
        "task_default_queue": COORDINATOR,
        "task_create_missing_queues": False,
        # Flower learns of a task when a worker has it; one event less per message
        "task_send_sent_event": False,
        "worker_send_task_events": True,
        "worker_hijack_root_logger": False,
        "worker_redirect_stdouts": False,
        "result_expires": settings.result_ttl_seconds,
        "result_extended": False,
        "task_repr_maxlevels": 1,
        "enable_utc": True,
        "timezone": "UTC",
        "beat_scheduler": "redbeat.RedBeatScheduler",
        "beat_max_loop_interval": 1,
        # a dead beat's lock: nobody reconciles until it has run out, so it is part of every recovery (the
        # default is 25 minutes of silence); a beat that stalls for longer only makes two for a moment
        "redbeat_lock_timeout": _BEAT_LOCK_SECONDS,
        "redbeat_redis_url": settings.redis_url,
        "redbeat_redis_options": {},
        "redbeat_key_prefix": "nightdesk:beat:",
        "beat_schedule": schedule(settings, maintenance=MAINTENANCE, memory=MEMORY),
    }


@contextmanager
def _broker_errors(app: Celery) -> Iterator[None]:
    backend: Any = app.backend
    try:
        yield
    except (OperationalError, OSError, *backend.connection_errors, *backend.channel_errors) as error:
        raise Retryable("the broker did not take a message", why=str(error)) from error


def _send(app: Celery, task: str, **options: Any) -> None:
    send: Any = app.send_task  # the stubs take a queue's name only; a declaration needs no look-up
    with _broker_errors(app):
        send(task, **options)


class Doorbell:
    """Rings: sends a message that says only "look at row N"."""

    def __init__(self, app: Celery, redactor: Redactor) -> None:
        self._app = app
        self._redactor = redactor

    def ring(
        self, task: str, subject: str, *, queue_name: str, note: str = "", priority: str = "normal"
    ) -> None:
        """Send `task(subject)`; `note` is what Flower shows: a few words, redacted."""
        line = shown(subject, note, self._redactor)
        _send(
            self._app,
            task,
            args=[subject],
            queue=queue(queue_name),
            priority=PRIORITIES[priority],
            ignore_result=True,
            argsrepr=line,
            kwargsrepr="{}",
            headers={"shown": line},
        )

    def ring_run(self, run_id: str, *, note: str = "", priority: str = "normal") -> None:
        """Have a coordinator look at a run."""
        with around("ring.run"):
            self.ring("coordinator.advance", run_id, queue_name=COORDINATOR, note=note, priority=priority)

    def ring_work(self, row: AssignmentRow, *, priority: str = "normal") -> None:
        """Have a worker of its agent look at an assignment."""
        name = f"agents.{row.agent}.work"
        with around("ring.work"):
            self.ring(name, row.id, queue_name=row.queue, note=row.goal, priority=priority)

    def ring_memory(self, run_id: str, *, note: str = "") -> None:
        """Have the memory service learn from an ended run."""
        with around("ring.memory"):
            self.ring("memory.learn", run_id, queue_name=MEMORY, note=note)

    def ask(
        self, task: str, *, queue_name: str, reply_to: str, question: dict[str, Any], expires: float
    ) -> None:
        """Send a question; the answer comes to the Redis list `reply_to` (see kernel.control)."""
        _send(
            self._app,
            task,
            kwargs={"reply_to": reply_to, "question": question},
            queue=queue(queue_name),
            priority=PRIORITIES["high"],
            expires=expires,
            ignore_result=True,
            argsrepr="<question>",
            kwargsrepr="{}",
            headers={"shown": f"<question {reply_to[-8:]}>"},
        )


def shown(subject: str, note: str, redactor: Redactor) -> str:
    """Return the short line that Flower shows for a doorbell."""
    words = _WORDS.sub(" ", redactor.text(note)).split()
    short = " ".join(words)
    short = short if len(short) <= _NOTE_LENGTH else f"{short[:_NOTE_LENGTH]}…"
    return f"<{subject[:13]} {short}>" if short else f"<{subject[:13]}>"


class Results:
    """The result back end, where anyone with only the broker's address finds state and report."""

    def __init__(self, app: Celery) -> None:
        self._app = app

    def store_state(self, run_id: str, state: str) -> None:
        """Show a run's state while it is open."""
        with _broker_errors(self._app), around("results.state"):
            self._app.backend.store_result(run_id, None, state)

    def store_report(self, run_id: str, report: dict[str, Any]) -> None:
        """Store the report under the run's id; ends every `.get()` that waits for it."""
        with _broker_errors(self._app), around("results.report"):
            self._app.backend.store_result(run_id, report, "SUCCESS")


def queue_keys(name: str) -> list[str]:
    """Return the Redis lists of a queue, most urgent first."""
    return [name if step == 0 else f"{name}{_PRIORITY_SEPARATOR}{step}" for step in PRIORITY_STEPS]


def submit(
    app: Celery, redactor: Redactor, run_id: str, request: dict[str, Any], *, priority: str = "normal"
) -> None:
    """Send a request under the id of its run; raise Retryable where the queue cannot be reached."""
    line = shown(run_id, str(request.get("text", "")), redactor)
    try:
        _send(
            app,
            "coordinator.submit",
            kwargs=request,
            queue=queue(COORDINATOR),
            task_id=run_id,
            priority=PRIORITIES[priority],
            ignore_result=True,
            argsrepr=line,
            kwargsrepr="{}",
            headers={"shown": line},
        )
    except Retryable as error:
        raise Retryable(
            "the queue cannot be reached",
            why=error.why,
            next_step="Start the desk with `nightdesk up`, or correct NIGHTDESK_REDIS_URL.",
        ) from error
