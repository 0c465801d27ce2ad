"""The envelope of a message, pure: what is wrong with it, of all that kombu and Celery rely on without looking."""

from __future__ import annotations

import base64
import json
from datetime import datetime
from typing import Any

#: Longer messages are not even decoded: 64 times the longest of ours, and whoever sends a megabyte of text is told so.
MAX_MESSAGE_BYTES = 4 * 1024 * 1024
#: What Celery counts, compares and prints, partly in threads whose errors nobody would hear.
_TEXTS = ("shadow", "root_id", "parent_id", "group", "lang", "origin", "argsrepr", "kwargsrepr", "shown")
_OPTIONS = ("callbacks", "errbacks", "chain", "chord")
_NEVER = "2000-01-01"
#: A zone's offset leads out of what datetime can hold only in its first and last year.
_YEARS = range(2, 9999)
#: How reading garbage fails.
_UNREADABLE = (ValueError, TypeError, RecursionError)


def fault_of(raw: bytes, *, is_task: bool = True) -> str:
    """Return what is wrong with a message, or "" for one that a worker can take."""
    if len(raw) > MAX_MESSAGE_BYTES:
        return f"it has {len(raw):,} bytes, and a message may have {MAX_MESSAGE_BYTES:,}"
    try:
        envelope = json.loads(raw.decode())
    except _UNREADABLE as error:
        return f"it is not JSON: {error}"
    if not isinstance(envelope, dict):
        return "it is not a JSON object"
    return _fault_of_frame(envelope) or (_fault_of_task(envelope) if is_task else "")


def _fault_of_frame(envelope: dict[str, Any]) -> str:
    properties = envelope.get("properties")
    if not isinstance(properties, dict):
        return "it has no properties"
    if not isinstance(properties.get("delivery_tag"), str) or not properties["delivery_tag"]:
        return "it has no delivery tag"
    route = properties.get("delivery_info")
    if not isinstance(route, dict) or not all(
        isinstance(route.get(key), str) for key in ("exchange", "routing_key")
    ):
        return "it does not say where it was sent"
    if not isinstance(envelope.get("headers"), dict):
        return "it has no headers"
    return "" if isinstance(envelope.get("body"), str) else "it has no body"


def _fault_of_task(envelope: dict[str, Any]) -> str:
    headers = envelope["headers"]
    for name in ("task", "id"):
        if not isinstance(headers.get(name), str) or not headers[name]:
            return f"its headers name no {name}"
        if not headers[name].isprintable():  # NUL, lone surrogates: no store holds them
            return f"its {name} is not printable"
    if envelope.get("content-type") != "application/json" or headers.get("compression"):
        return f"its content is not plain JSON: {envelope.get('content-type')!r}"
    return _fault_of_headers(headers) or _fault_of_body(
        envelope["body"], envelope["properties"].get("body_encoding")
    )


def _fault_of_headers(headers: dict[str, Any]) -> str:
    for name in _TEXTS:
        if not isinstance(headers.get(name), str | None):
            return f"its header {name} is not a text"
    limits = headers.get("timelimit") or (None, None)
    if not isinstance(limits, list | tuple) or len(limits) != len((None, None)):
        return "its time limits are not a pair"
    if type(headers.get("retries") or 0) is not int:
        return "its count of retries is not a number"
    if headers.get("stamped_headers") or headers.get("stamps"):
        return "it is stamped, which no client of ours does"
    for name in ("eta", "expires"):
        try:
            moment = datetime.fromisoformat(headers.get(name) or _NEVER)
        except _UNREADABLE as error:
            return f"its header {name} is not a time: {error}"
        if moment.year not in _YEARS:
            return f"its header {name} is not within what clocks can show"
    return ""


def _fault_of_body(body: str, encoding: object) -> str:
    try:
        args, kwargs, options = json.loads(base64.b64decode(body) if encoding == "base64" else body)
    except _UNREADABLE as error:
        return f"its body cannot be read: {error}"
    if not (isinstance(args, list) and isinstance(kwargs, dict) and isinstance(options, dict | None)):
        return "its body is not [args, kwargs, options]"
    if "self" in kwargs:  # Celery's own first argument: the task would fail before our code could answer
        return "an argument may not be named 'self'"
    asked = [name for name, value in (options or {}).items() if value or name not in _OPTIONS]
    # whoever chains tasks would wait for ever: our tasks leave no results of their own
    return f"it asks for {asked[0]!r}, which is not done here" if asked else ""
