"""What one line of a log says: the record that every reader of lines gives; pure."""

from __future__ import annotations

from dataclasses import dataclass

from agents.log_analysis.formats.levels import Level


@dataclass(slots=True)
class Record:
    """What one line says.

    `named` tells whether it names its level itself; `stream` keeps outputs apart; `part` marks a piece of a longer
    line, and `inner` is the text inside a frame; `more` holds further records of the same line. `logger` is a name
    that may be less than a service: it stands for one where neither the line nor its file names any.
    """

    time: float | None
    level: Level
    message: str
    named: bool = False
    service: str = ""
    host: str = ""
    error: str = ""
    stream: str = ""
    part: bool = False
    framed: bool = False
    structured: bool = False
    inner: str = ""
    more: tuple[Record, ...] = ()
    logger: str = ""


def nested(outer: Record, inner: Record) -> Record:
    """Put into a record what its message field says: the inner names the event, the outer the time."""
    if outer.time is None:
        outer.time = inner.time
    outer.level = max(outer.level, inner.level) if outer.named else inner.level
    outer.named = outer.named or inner.named
    outer.message = inner.message or outer.message
    if inner.structured and inner.service and not outer.service:
        outer.service = inner.service
    outer.logger = outer.logger or inner.logger
    outer.host = outer.host or inner.host
    outer.error = inner.error or outer.error
    return outer
