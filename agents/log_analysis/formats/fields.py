"""Reads a mapping (JSON line, logfmt, CSV row, W3C row) as a record: which field is what; pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from agents.log_analysis.formats.field_names import ERRORS, HOSTS, LEVELS, MESSAGES, SERVICES, STATUS, TIMES
from agents.log_analysis.formats.levels import Level, from_status, from_value
from agents.log_analysis.formats.times import Stamps

_SYSLOG = {"priority"}

#: `name-5dc8d4f9fd-46997` and `name-0`: a pod's name without what Kubernetes added.
_POD = re.compile(r"-[0-9a-f]{6,10}-[a-z0-9]{5}$|-\d{1,3}$")
#: A message field that holds an address says nothing without the fields beside it.
_ADDRESSES = {"uri", "url", "path", "cs-uri-stem", "clientrequesturi"}
#: `OK` and `request done` say nothing about a failure; the status does.
_SHORT = 24
#: How deep field names are followed into nested objects.
_DEPTH = 3


@dataclass(frozen=True)
class Plan:
    """Which fields of one shape of mapping carry what; paths into nested objects."""

    time: tuple[str, ...] | None
    clock: tuple[str, ...] | None
    level: tuple[str, ...] | None
    message: tuple[str, ...] | None
    service: tuple[str, ...] | None
    host: tuple[str, ...] | None
    status: tuple[str, ...] | None
    errors: tuple[tuple[str, ...], ...]
    numeric_syslog: bool


@dataclass(frozen=True, slots=True)
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


class FieldReader:
    """Reads the mappings of one file; a shape is planned once, because logs repeat their shapes."""

    def __init__(self, stamps: Stamps) -> None:
        self._stamps = stamps
        self._plans: dict[tuple[str, ...], Plan] = {}

    def read(self, fields: Mapping[str, Any]) -> Read:
        """Return what the mapping says."""
        fields = _unwrapped(fields)
        shape = tuple(fields)
        plan = self._plans.get(shape)
        if plan is None:
            if len(self._plans) > 2000:  # noqa: PLR2004 - a log with ever new fields must not fill the memory
                self._plans.clear()
            plan = self._plans[shape] = _plan(fields)
        status = _status(_get(fields, plan.status))
        level = from_value(_get(fields, plan.level), syslog=plan.numeric_syslog)
        message, composed = _message(fields, plan, status)
        return Read(
            time=self._time(fields, plan),
            level=max(level, from_status(status)),
            message=message,
            composed=composed,
            service=_POD.sub("", str(_get(fields, plan.service) or "")),
            host=str(_get(fields, plan.host) or ""),
            status=status,
            error="\n".join(str(e) for p in plan.errors if isinstance(e := _get(fields, p), str) and e),
        )

    def _time(self, fields: Mapping[str, Any], plan: Plan) -> float | None:
        value = _get(fields, plan.time)
        if plan.clock and isinstance(value, str):
            value = f"{value} {_get(fields, plan.clock)}"
        return self._stamps.value(value)


def _unwrapped(fields: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the first record of an OTLP batch with its resource's attributes, other mappings as they are."""
    if "resourceLogs" not in fields:
        return fields
    try:
        batch = fields["resourceLogs"][0]
        record: dict[str, Any] = batch["scopeLogs"][0]["logRecords"][0]
        pairs = batch.get("resource", {}).get("attributes", []) + record.get("attributes", [])
        attributes = {str(p["key"]): next(iter(p["value"].values()), "") for p in pairs}
        return attributes | record
    except (KeyError, IndexError, TypeError, AttributeError):
        return fields


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
    time, clock = first(TIMES), None
    if "date" in names and "time" in names:  # W3C and its like: two fields make one moment
        time, clock = names["date"], names["time"]
    return Plan(
        time=time,
        clock=clock,
        level=level,
        message=first(MESSAGES, text=True),
        service=first(SERVICES, text=True),
        host=first(HOSTS, text=True),
        status=first(STATUS, text=True),
        errors=tuple(names[n] for n in ERRORS if n in names and names[n] != level),
        numeric_syslog=level is not None and (level[-1].lower() in _SYSLOG or "short_message" in names),
    )


def _get(fields: Mapping[str, Any], path: tuple[str, ...] | None) -> Any:
    if path is None:
        return None
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
    if isinstance(value, str) and value and plan.message and plan.message[-1].lower() not in _ADDRESSES:
        if status >= 500 and len(value) < _SHORT:  # noqa: PLR2004 - the class of server errors
            return f"{value} (status {status})", False
        return value, False
    skipped = {p[-1] for p in (plan.time, plan.clock, plan.level, plan.service, plan.host) if p}
    pairs = [f"{k}={v}" for k, v in fields.items() if k not in skipped and isinstance(v, str | int | float)]
    return " ".join(pairs[:12]), True
