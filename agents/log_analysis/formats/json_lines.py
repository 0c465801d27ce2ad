"""JSON lines: documents of several records, lines that were cut, and whose logger wrote them; pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

_KEY = re.compile(
    r"\"(@?\w[\w.]{0,80})\"\s{0,8}:\s{0,8}(?:\"((?:[^\"\\]|\\.){0,2000})\"|(-?\d{1,20}(?:\.\d{1,20})?))"
)
#: What is looked at of a line that is no JSON.
_LOOKED_AT = 60_000
#: Records that one line may hold; a batch of more is cut, as a hostile one would be endless.
_RECORDS = 10_000

#: Names of the list in a document that holds nothing else but what is said of all of them.
_LISTS = {"Records", "records", "logEvents", "events", "entries"}
_FEW = 8
#: Fields by which a logger is known: all of the first, at least one of the second where there is one.
_MAKERS: tuple[tuple[str, frozenset[str], frozenset[str]], ...] = tuple(
    (name, frozenset(every.split()), frozenset(some.split()))
    for name, every, some in (
        ("journald", "__REALTIME_TIMESTAMP", ""),
        ("journald", "MESSAGE PRIORITY", ""),
        ("docker", "log stream time", ""),
        ("otlp", "", "resourceLogs timeUnixNano observedTimeUnixNano"),
        ("mongodb", "t s msg", "c ctx"),
        ("ecs", "@timestamp", "ecs.version ecs log.level log"),
        ("bunyan", "name hostname pid level msg v", ""),
        ("pino", "level time pid hostname", ""),
        ("serilog", "@t", "@m @mt @l @i @x"),
        ("gelf", "short_message", ""),
        ("zap", "level ts", "msg caller logger"),
        ("zerolog", "level time message", ""),
    )
)  # fmt: skip


def maker(fields: Mapping[str, Any]) -> str:
    """Return whose JSON a mapping is."""
    keys = set(fields)
    if "message" in keys and not isinstance(fields.get("level"), str):
        keys.discard("level")  # zerolog writes words
    for name, every, some in _MAKERS:
        if every <= keys and (not some or some & keys):
            return name
    return "json"


def loads(text: str) -> list[dict[str, Any]]:
    """Return the records of a line, none where it is no JSON."""
    try:
        read = json.loads(text)
    except (ValueError, RecursionError):
        return []
    if isinstance(read, dict):
        if "resourceLogs" in read:
            return list(_batch(read)) or [read]
        return _listed(read)[:_RECORDS] or [read]
    if not isinstance(read, list):
        return []
    rows = [row for row in read if isinstance(row, dict)]
    if len(rows) != len(read):
        return []
    found: list[dict[str, Any]] = []
    for row in rows[:_RECORDS]:
        found += list(_batch(row)) if "resourceLogs" in row else [row]
    return found


def _listed(read: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the records of a document that is a list of them under one name, as exports of clouds are."""
    for name in _LISTS & read.keys() if len(read) <= _FEW else ():
        rows = read[name]
        if isinstance(rows, list) and len(rows) > 0 and all(isinstance(row, dict) for row in rows):
            return list(rows)
    return []


def broken(text: str) -> dict[str, Any]:
    """Return the fields that can be read of a JSON line which was cut, or never was valid."""
    found = _KEY.finditer(text, 0, _LOOKED_AT)
    return {m[1]: _text(m[2]) if m[3] is None else float(m[3]) for m in found}


def _text(raw: str) -> str:
    if "\\" not in raw:
        return raw
    try:
        return str(json.loads(f'"{raw}"'))
    except ValueError:
        return raw


def _batch(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the log records of an OTLP document, each with the attributes of its resource."""
    count = 0
    for resource in _list(document, "resourceLogs"):
        shared = _attributes(resource.get("resource"))
        for scope in _list(resource, "scopeLogs"):
            for record in _list(scope, "logRecords"):
                if count >= _RECORDS:
                    return
                count += 1
                yield shared | _attributes(record) | record


def _list(mapping: Mapping[str, Any], name: str) -> list[dict[str, Any]]:
    value = mapping.get(name)
    return [v for v in value if isinstance(v, dict)] if isinstance(value, list) else []


def _attributes(holder: Any) -> dict[str, Any]:
    """Return the attributes of a resource or a record as a plain mapping."""
    if not isinstance(holder, dict):
        return {}
    pairs = _list(holder, "attributes")
    return {str(p.get("key", "")): _value(p.get("value")) for p in pairs}


def _value(value: Any) -> Any:
    return next(iter(value.values()), "") if isinstance(value, dict) else value
