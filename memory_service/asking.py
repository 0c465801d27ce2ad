"""Questions as they come from the queue: read by their shape, or refused with what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError

from kernel.contracts import Value
from kernel.errors import Correctable
from memory_service.domain import check_name

T = TypeVar("T", bound=Value)

#: What is wrong is told up to this length: a question of thousands of parts may be wrong in each.
_WHY_LENGTH = 500


def read(shape: type[T], question: Mapping[str, Any]) -> T:
    """Return a question with its names checked, or raise Correctable; None counts as not given."""
    try:
        asked = shape.model_validate({name: value for name, value in question.items() if value is not None})
    except ValidationError as error:
        problems = "; ".join(f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        moment = any(e["type"].startswith(("timezone", "datetime")) for e in error.errors())
        form = "Write a moment with its time zone: 2026-11-02T10:00+08:00." if moment else ""
        raise Correctable(
            "the question cannot be read", why=problems[:_WHY_LENGTH], next_step=form
        ) from error
    fields = type(asked).model_fields
    if "namespace" in fields:
        check_name("the namespace", str(getattr(asked, "namespace")))  # noqa: B009 a field that some shapes have
    if "user" in fields:
        check_name("the user", str(getattr(asked, "user") or ""), empty=True)  # noqa: B009 as above
    return asked
