"""Intake, pure: what came over the queue becomes a Request, or an error that names each fault."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from kernel.contracts import Request, Source
from kernel.errors import Correctable
from kernel.text import storable

MAX_SOURCES = 200
#: Labels of an alert take a few hundred bytes.
MAX_LABEL_BYTES = 8192
#: A month; a longer one is a slip of the unit, and past the year 9999 no clock can hold it.
MAX_DEADLINE_SECONDS = 30 * 86_400.0
_SHAPE = 'send kwargs={"text": "...", "sources": ["/path/or/name", ...]}'


def parse(kwargs: dict[str, Any], *, max_bytes: int) -> Request:
    """Return the request, or raise Correctable naming every field that is wrong."""
    kwargs = storable(kwargs)
    text = kwargs.get("text")
    if not isinstance(text, str) or not text.strip():
        raise Correctable(
            "the request has no text", why=f"text is {type(text).__name__}", next_step=f"To submit, {_SHAPE}."
        )
    size = len(text.encode())
    if size > max_bytes:
        raise Correctable(
            f"the request text has {size:,} bytes",
            why=f"the limit is {max_bytes:,}",
            next_step="Attach long text as a log (--log FILE) and ask a short question about it.",
        )
    sources = kwargs.get("sources") or []
    if isinstance(sources, str) or not isinstance(sources, list | tuple):
        raise Correctable(
            "sources is not a list", why=f"it is {type(sources).__name__}", next_step=f"To submit, {_SHAPE}."
        )
    if len(sources) > MAX_SOURCES:
        raise Correctable(f"{len(sources)} sources are too many", why=f"the limit is {MAX_SOURCES}")
    fields = {key: value for key, value in kwargs.items() if value is not None and key != "sources"}
    try:
        request = Request(**fields, sources=[_source(item) for item in sources])
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(str(p) for p in e['loc'])}: {e['msg']}" for e in error.errors())
        raise Correctable(
            "the request is not valid", why=faults[:1000], next_step=f"To submit, {_SHAPE}."
        ) from error
    if len(str(request.labels).encode()) > MAX_LABEL_BYTES:
        raise Correctable("the labels are too large", why=f"the limit is {MAX_LABEL_BYTES:,} bytes")
    if request.deadline_seconds is not None and not request.deadline_seconds <= MAX_DEADLINE_SECONDS:
        raise Correctable(
            f"a deadline of {request.deadline_seconds:g} s is too far away",
            why=f"the limit is {MAX_DEADLINE_SECONDS:,.0f} s",
        )
    return request


def _source(item: Any) -> Source:
    if isinstance(item, str):
        return Source(name=item, path=item)
    return Source.model_validate(item)
