"""Reads a mapping (JSON line, logfmt, CSV row, W3C row) as a record: which field is what; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.log_analysis.formats.field_names import (
    ERRORS,
    HOSTS,
    LEVELS,
    MESSAGES,
    OTHER_TIMES,
    SERVICES,
    STATUS,
    TIME_PARTS,
    TIMES,
    ZONES,
)
from agents.log_analysis.formats.json_lines import maker
from agents.log_analysis.formats.levels import Level, from_status, from_value
from agents.log_analysis.formats.text import clean, decode
from agents.log_analysis.formats.times import Stamps

#: `name-5dc8d4f9fd-46997` and `name-0`: a pod's name without what Kubernetes added.
_POD = re.compile(r"-[0-9a-f]{6,10}-[a-z0-9]{5}$|-\d{1,3}$")
#: A message field that holds an address says nothing without the fields beside it.
_ADDRESSES = {"uri", "url", "path", "cs-uri-stem", "clientrequesturi"}
#: `OK` and `request done` say nothing about a failure; the status does.
_SHORT = 24
#: A zone that stands in a field of its own.
_OFFSET = re.compile(r"[+-]\d{2}:?\d{2}")
#: How deep field names are followed into nested objects.
_DEPTH = 3
#: Of several fields with a time the next is asked where one is empty; OTLP writes 0 for none.
_TIMES = 3
_UNSET = (None, "", "-", 0, "0")


@dataclass(frozen=True)
class Plan:
    """Which fields of one shape of mapping carry what; paths into nested objects."""

    times: tuple[tuple[str, ...], ...]
    clock: tuple[str, ...] | None
    zone: tuple[str, ...] | None
    level: tuple[str, ...] | None
    message: tuple[str, ...] | None
    service: tuple[str, ...] | None
    host: tuple[str, ...] | None
    status: tuple[str, ...] | None
    stream: tuple[str, ...] | None
    errors: tuple[tuple[str, ...], ...]
    numbers: str
    form: str


@dataclass(slots=True)
class Read:
    """What a mapping says."""

    time: float | None
    level: Level
    message: str
    service: str
    host: str
    status: int
    error: str
    composed: bool
    form: str = "json"
    stream: str = ""


class FieldReader:
    """Reads the mappings of one file; a shape is planned once, because logs repeat their shapes."""

    def __init__(self, stamps: Stamps) -> None:
        self._stamps = stamps
        self._plans: dict[tuple[str, ...], Plan] = {}

    def read(self, fields: Mapping[str, Any]) -> Read:
        """Return what the mapping says."""
        shape = tuple(fields)
        plan = self._plans.get(shape)
        if plan is None:
            if len(self._plans) > 2000:  # noqa: PLR2004 - a log with ever new fields must not fill the memory
                self._plans.clear()
            plan = self._plans[shape] = _plan(fields)
        status = _status(_get(fields, plan.status))
        level = from_value(_get(fields, plan.level), numbers=plan.numbers)
        message, composed = _message(fields, plan, status)
        return Read(
            time=self._time(fields, plan),
            level=max(level, from_status(status)) if status else level,
            message=message,
            composed=composed,
            service=_service(_get(fields, plan.service)),
            host=str(_get(fields, plan.host) or "") if plan.host else "",
            status=status,
            error="\n".join(str(e) for p in plan.errors if isinstance(e := _get(fields, p), str) and e),
            form=plan.form,
            stream=str(_get(fields, plan.stream) or "") if plan.stream else "",
        )

    def _time(self, fields: Mapping[str, Any], plan: Plan) -> float | None:
        for path in plan.times:
            value = _get(fields, path)
            if plan.clock and isinstance(value, str):
                value = f"{value} {_get(fields, plan.clock)}"
            if plan.zone and isinstance(value, str) and _OFFSET.fullmatch(str(_get(fields, plan.zone))):
                value = f"{value} {_get(fields, plan.zone)}"
            if value not in _UNSET and (time := self._stamps.value(value)) is not None:
                return time
        return None


def _service(value: Any) -> str:
    text = str(value) if value else ""
    return _POD.sub("", text) if "-" in text else text


def _names(
    fields: Mapping[str, Any], depth: int = _DEPTH, prefix: tuple[str, ...] = ()
) -> dict[str, tuple[str, ...]]:
    """Map lower-case dotted names to paths; nearer fields win over deeper ones of the same last name."""
    names: dict[str, tuple[str, ...]] = {}
    nested: list[dict[str, tuple[str, ...]]] = []
    for key, value in fields.items():
        path = (*prefix, key)
        names.setdefault(".".join(path).lower(), path)
        if isinstance(value, Mapping) and depth > 1:
            nested.append(_names(value, depth - 1, path))
    for deeper in nested:
        for name, path in deeper.items():
            names.setdefault(name, path)
            if path[0] in ("@fields", "fields", "log", "attributes", "attr", "event", "record"):
                names.setdefault(path[-1].lower(), path)
    return names


def _plan(fields: Mapping[str, Any]) -> Plan:
    names = _names(fields)

    def first(wanted: list[str], *, text: bool = False) -> tuple[str, ...] | None:
        for name in wanted:
            path = names.get(name)
            if path and not (text and isinstance(_get(fields, path), Mapping)):
                return path
        return None

    level = first(LEVELS, text=True)
    times, clock = [names[n] for n in TIMES if n in names][:_TIMES], None
    for date, time in (("date", "time"), ("date-local", "time-local")):
        if date in names and time in names:  # W3C and its like: two fields make one moment
            times, clock = [names[date]], names[time]
    if not times:
        times = [path for name, path in names.items() if _may_be_time(name)][:_TIMES]
    form = maker(fields)
    return Plan(
        times=tuple(times),
        clock=clock,
        zone=first(list(ZONES), text=True),
        level=level,
        message=first(MESSAGES, text=True),
        service=first(SERVICES, text=True),
        host=first(HOSTS, text=True),
        status=first(STATUS, text=True),
        errors=tuple(names[n] for n in ERRORS if n in names and names[n] != level),
        stream=("stream",) if form == "docker" else None,
        numbers=_numbers(level[-1].lower() if level else "", form),
        form=form,
    )


def _may_be_time(name: str) -> bool:
    last = name.rpartition(".")[2]
    return any(part in last for part in TIME_PARTS) and not any(part in last for part in OTHER_TIMES)


def _numbers(level: str, form: str) -> str:
    """Return by which scale a numeric level counts."""
    if level == "priority" or form == "gelf":
        return "syslog"
    return "otlp" if level == "severitynumber" else ""


def _get(fields: Mapping[str, Any], path: tuple[str, ...] | None) -> Any:
    if path is None:
        return None
    if len(path) == 1:
        return fields.get(path[0])
    value: Any = fields
    for key in path:
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def _status(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    return int(value) if isinstance(value, str) and len(value) == 3 and value.isdigit() else 0  # noqa: PLR2004 - three digits


def _message(fields: Mapping[str, Any], plan: Plan, status: int) -> tuple[str, bool]:
    """Return the message field, or the short fields side by side where there is none, and which it is."""
    value = _get(fields, plan.message)
    if isinstance(value, list):
        value = _joined(value)
    if isinstance(value, str) and value and plan.message and plan.message[-1].lower() not in _ADDRESSES:
        if status >= 500 and len(value) < _SHORT:  # noqa: PLR2004 - the class of server errors
            return f"{value} (status {status})", False
        return value, False
    skipped = {p[-1] for p in (*plan.times, plan.clock, plan.level, plan.service, plan.host) if p}
    pairs = [f"{k}={v}" for k, v in fields.items() if k not in skipped and isinstance(v, str | int | float)]
    return " ".join(pairs[:12]), True


def _joined(value: list[Any]) -> str:
    """Return a message that came as a list: bytes (journald, where they are not text), or texts."""
    if all(isinstance(v, int) and 0 <= v <= 255 for v in value):  # noqa: PLR2004 - a byte
        return "\n".join(clean(decode(line)) for line in bytes(value).split(b"\n"))
    return "\n".join(v for v in value if isinstance(v, str))
