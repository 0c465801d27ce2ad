"""One worker process: its asyncio loop, the doorway that every task goes through, start and drain."""

from __future__ import annotations

import asyncio
import os
import socket
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine
from concurrent.futures import Future, ThreadPoolExecutor, thread
from typing import Any, TypeVar

from celery import Celery
from celery.exceptions import Reject
from celery.signals import setup_logging, worker_init, worker_ready, worker_shutdown, worker_shutting_down

from kernel import logs
from kernel.broker import queue
from kernel.errors import Cancelled, Fatal, NightdeskError, Retryable
from kernel.redaction import Redactor, make_redactor
from kernel.settings import Settings

T = TypeVar("T")
log = logs.get(__name__)

#: Well under half the visibility time-out, above which Redis would hand the message out twice.
_RETRY_SECONDS = 2
#: For SQL above all; blocking tools have threads of their own, since a call that hangs keeps its thread.
_THREADS = 32
#: What Flower shows in its list without cutting it.
_LINE_CHARACTERS = 120


class Process:
    """The one event loop of a worker process, in a thread of its own; clients made on it live with it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.worker = f"{name}@{socket.gethostname()}:{os.getpid()}"
        self.draining = threading.Event()
        self.redactor = Redactor()  # `install` makes it know the settings' secrets
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """Return the loop, started on first use."""
        with self._lock:
            if self._loop is None:
                self._loop = asyncio.new_event_loop()
                self._loop.set_default_executor(ThreadPoolExecutor(_THREADS, thread_name_prefix="blocking"))
                self._thread = threading.Thread(target=self._loop.run_forever, name="loop", daemon=True)
                self._thread.start()
            return self._loop

    def close(self) -> None:
        """Stop the loop and its threads; a worker never does, it ends with them."""
        loop = self.loop
        asyncio.run_coroutine_threadsafe(loop.shutdown_default_executor(), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        self._thread.join()
        loop.close()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine on the loop and wait for it; context variables of the caller hold inside."""
        return asyncio.run_coroutine_threadsafe(work, self.loop).result()

    def line(self, text: str) -> str:
        """Return what Flower may show of how a task went: one short line, redacted."""
        line = " ".join(self.redactor.text(text).split())
        return line if len(line) <= _LINE_CHARACTERS else f"{line[: _LINE_CHARACTERS - 1]}…"

    def spawn(self, work: Coroutine[Any, Any, Any]) -> Future[Any]:
        """Start a coroutine on the loop that nobody waits for; its failure is logged."""
        spawned = asyncio.run_coroutine_threadsafe(work, self.loop)
        spawned.add_done_callback(_log_failure)
        return spawned


def _log_failure(spawned: Future[Any]) -> None:
    if not spawned.cancelled() and (error := spawned.exception()) is not None:
        log.error("background_work_failed", exc_info=error)


class Announcer:
    """Shows one short line per turn on the task in Flower while it runs."""

    def __init__(self, app: Celery, task_id: str, hostname: str | None) -> None:
        self._app, self.task_id, self._hostname = app, task_id, hostname
        self._lost: Any = (OSError, *app.connection_for_write().connection_errors)

    def say(self, line: str) -> None:
        """Publish the line; a broker in trouble must not stop the work."""
        try:
            with self._app.events.default_dispatcher(hostname=self._hostname) as dispatcher:
                dispatcher.send("task-turn", uuid=self.task_id, result=line, retry=False)
        except self._lost as error:
            log.warning("announcement_lost", reason=str(error))


#: Told the task's id (or the row's, see doorway) and the reason.
OnRefused = Callable[[str, str], Coroutine[Any, Any, None]]


def doorway(
    app: Celery,
    process: Process,
    name: str,
    *,
    on_refused: OnRefused | None = None,
    on_bug: OnRefused | None = None,
    quiet: bool = False,
) -> Callable[[Callable[..., Awaitable[T]]], Callable[..., Awaitable[T]]]:
    """Register `async def work(announcer, *args, **kwargs)` as a task: bind ids, run on the loop, sort errors.

    The line that it returns says how it went; Flower shows it as the task's result. Retryable and our other
    errors are logged and end the task: rows say what is due, and the reconciler rings again. Anything else is
    a bug: logged whole and raised, so that Flower shows it red. A message that carries a request itself
    (`on_refused`) is acked late, sent again on trouble, and answered on failure. `on_bug` is told which row a
    bug left behind. A `quiet` task, rung by the clock, does not crowd Flower.
    """

    def wrap(work: Callable[..., Awaitable[T]]) -> Callable[..., Awaitable[T]]:
        body = _body(app, process, name, work, on_refused=on_refused, on_bug=on_bug)
        register: Any = app.task  # the stubs have no overload for a body that takes anything
        register(
            body, name=name, bind=True, acks_late=on_refused is not None, typing=False, send_events=not quiet
        )
        return work

    return wrap


def _body(
    app: Celery,
    process: Process,
    name: str,
    work: Callable[..., Awaitable[Any]],
    *,
    on_refused: OnRefused | None,
    on_bug: OnRefused | None,
) -> Callable[..., str | None]:
    def body(self: Any, *args: Any, **kwargs: Any) -> str | None:
        announcer = Announcer(app, self.request.id, self.request.hostname)
        logs.bind(task=name, task_id=self.request.id)
        try:
            said = process.run(_as_coroutine(work(announcer, *args, **kwargs)))
            return process.line(said) if isinstance(said, str) else None
        except Cancelled as stop:
            log.info("stopped", reason=str(stop))
            return process.line(f"stopped: {stop}")
        except Retryable as error:
            log.warning("not_now", reason=str(error))
            if on_refused is not None:
                raise _again(self, error) from error
            return process.line(f"not now: {error}")
        except NightdeskError as error:
            log.error("failed", code=error.code, reason=str(error))  # noqa: TRY400 the reason is the message
            _tell(process, on_refused, self.request.id, str(error))
            return process.line(f"failed: {error}")
        except Exception as bug:
            log.exception("bug")
            reason = f"a bug of Nightdesk: {type(bug).__name__}; see the worker's log"
            _tell(process, on_refused, self.request.id, reason)
            _tell(process, on_bug, str(args[0]) if args else "", reason)
            raise
        finally:
            logs.clear()

    return body


def _again(task: Any, error: Retryable) -> Exception:
    """Return what makes celery send the message again; its arguments stay unseen this time too."""
    shown = {"argsrepr": f"<{task.request.id[:13]}>", "kwargsrepr": "{}"}
    try:
        retried: Exception = task.retry(
            countdown=_RETRY_SECONDS, max_retries=None, exc=error, throw=False, **shown
        )
    except Reject:
        # the broker did not take it: back into the queue it came from, or celery would drop it
        return Reject(error, requeue=True)
    return retried


def _tell(process: Process, whom: OnRefused | None, subject: str, reason: str) -> None:
    if whom is not None:
        process.run(whom(subject, reason))


async def _as_coroutine(work: Awaitable[T]) -> T:
    return await work


def _choosing(app: Celery, beside: Callable[[Collection[str]], list[str]]) -> Callable[..., None]:
    def choose(**_: Any) -> None:
        try:
            for name in beside([*app.amqp.queues.consume_from]):
                app.amqp.queues.select_add(queue(name))
        except Fatal as error:
            # celery logs what a hook raises, and goes on without what was asked for
            raise SystemExit(str(error)) from error

    return choose


def install(
    app: Celery,
    settings: Settings,
    process: Process,
    *,
    on_ready: Callable[[list[str]], Coroutine[Any, Any, None]] | None = None,
    on_drain: Callable[[], Coroutine[Any, Any, None]] | None = None,
    beside: Callable[[Collection[str]], list[str]] | None = None,
) -> None:
    """Hook logging, readiness (with the queues consumed) and drain into the worker of `app`.

    `beside` returns further queues to consume for those that were chosen.
    """
    process.redactor = make_redactor(settings)
    if beside is not None:
        worker_init.connect(_choosing(app, beside), weak=False)

    def set_up_logging(**_: Any) -> None:
        logs.configure(settings, service=process.name)

    def ready(sender: Any = None, **_: Any) -> None:
        names = [consumed.name for consumed in sender.task_consumer.queues] if sender else []
        log.info("worker_ready", queues=names, worker=process.worker)
        if on_ready is not None:
            process.spawn(on_ready(names))

    def shutting_down(**_: Any) -> None:
        process.draining.set()
        if on_drain is not None:
            process.spawn(on_drain())

    def shut_down(**_: Any) -> None:
        # what blocks a thread now hears no cancel: a daemon, yet the interpreter waits for it: an executor made it
        thread._threads_queues.clear()  # type: ignore[attr-defined]  # noqa: SLF001 there is no other way to say so

    # weak=False: these closures have no other owner
    setup_logging.connect(set_up_logging, weak=False)
    worker_ready.connect(ready, weak=False)
    worker_shutting_down.connect(shutting_down, weak=False)
    worker_shutdown.connect(shut_down, weak=False)
