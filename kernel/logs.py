"""Logs: structlog and the standard library through one renderer, redacted, with the ids of the work bound."""

from __future__ import annotations

import logging
import sys
from collections.abc import MutableMapping
from typing import Any, TextIO

import structlog

from kernel.redaction import Redactor, make_redactor
from kernel.settings import Settings

Fields = MutableMapping[str, Any]

#: Written by structlog itself: never redacted, so that a time or a level stays what it is.
_OWN = frozenset({"level", "timestamp", "logger", "service", "_record", "_from_structlog"})

#: Chatty below warning: one line per HTTP request or SQL statement says nothing that ours do not say.
_QUIET = ("httpx", "httpx2", "httpcore", "httpcore2", "openai", "sqlalchemy", "asyncio", "urllib3", "mcp")


class _Redact:
    """A structlog step that hides secrets in the event, its fields and the text of exceptions."""

    def __init__(self, redactor: Redactor) -> None:
        self.redactor = redactor

    def __call__(self, logger: Any, method: str, fields: Fields) -> Fields:
        return {
            key: value if key in _OWN else self.redactor.value({key: _plain(value)})[key]
            for key, value in fields.items()
        }


def _plain(value: Any) -> Any:
    """Return what the redactor can walk: an object counts as its text, so no repr slips past it."""
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(v) for v in value]
    return value if value is None or isinstance(value, str | int | float | bool) else str(value)


def configure(settings: Settings, *, service: str, stream: TextIO | None = None) -> None:
    """Route all logging of this process to `stream` (stderr): JSON lines, or coloured text on a terminal."""
    out = stream or sys.stderr
    console = settings.log_format == "console" or (settings.log_format == "auto" and out.isatty())
    redact = _Redact(make_redactor(settings))
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
        structlog.processors.format_exc_info,  # before redaction: a traceback is text like any other
        _service(service),
        redact,
    ]
    renderer: Any = (
        structlog.dev.ConsoleRenderer(colors=out.isatty())
        if console
        else structlog.processors.JSONRenderer(ensure_ascii=False, default=str)
    )
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *shared,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,  # a second configure (tests, a fork) must reach module-level loggers
    )
    _route(out, shared, renderer, settings.log_level.upper())


def _route(out: TextIO, shared: list[Any], renderer: Any, level: str) -> None:
    """Make the root logger's one way out the renderer of ours, for every library that logs."""
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level)
    for name in _QUIET:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    logging.captureWarnings(capture=True)


def _service(service: str) -> Any:
    def add(logger: Any, method: str, fields: Fields) -> Fields:
        fields.setdefault("service", service)
        return fields

    return add


def get(name: str) -> structlog.stdlib.BoundLogger:
    """Return a logger: a constant event name, facts as keywords, ids instead of objects."""
    logger: structlog.stdlib.BoundLogger = structlog.stdlib.get_logger(name)
    return logger


def bind(**ids: str) -> None:
    """Bind ids (run, assignment, call, namespace) to every line of this task or thread."""
    structlog.contextvars.bind_contextvars(**ids)


def clear() -> None:
    """Forget the bound ids; the doorway calls it before and after each task."""
    structlog.contextvars.clear_contextvars()
