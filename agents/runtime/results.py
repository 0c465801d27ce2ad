"""Results of calls: redacted, kept within what a prompt can hold, and told in one line."""

from __future__ import annotations

import json
from typing import Any

from agents.runtime.spec import DoneCall
from kernel.artifacts import ArtifactStore
from kernel.errors import Exhausted, Fatal, Unknown
from kernel.redaction import Redactor

#: Larger results become artifacts; the model sees head, tail and the id.
_RESULT_BYTES = 16 * 1024
_EXCERPT_BYTES = 3000
_SUMMARY_CHARACTERS = 160


def bounded(value: Any, redactor: Redactor, artifacts: ArtifactStore) -> Any:
    """Return the redacted value, or head, tail and artifact id where it is too large to show."""
    text = json.dumps(redactor.value(value), ensure_ascii=False, default=str)
    encoded = text.encode(errors="replace")
    if len(encoded) <= _RESULT_BYTES:
        return json.loads(encoded)
    try:
        kept = {"artifact": artifacts.put_bytes(encoded)}
    except (Exhausted, Fatal) as error:
        # what was done must be written down even where its output cannot be
        kept = {"not_kept": str(error)}
    return {
        **kept,
        "bytes": len(encoded),
        "head": encoded[:_EXCERPT_BYTES].decode(errors="ignore"),
        "tail": encoded[-_EXCERPT_BYTES:].decode(errors="ignore"),
        "note": "Too large to show whole: read_artifact pages and searches it.",
    }


def summary(call: DoneCall) -> str:
    """Return one short line on how a call ended."""
    if call.error is not None:
        text = call.error.get("message", "")
    elif isinstance(call.value, dict):
        plain = {k: v for k, v in call.value.items() if isinstance(v, str | int | float | bool)}
        text = ", ".join(f"{k}={v}" for k, v in plain.items())
    else:
        text = str(call.value)
    return text if len(text) <= _SUMMARY_CHARACTERS else f"{text[:_SUMMARY_CHARACTERS]}…"


def not_known(call: DoneCall, *, probe: str = "") -> Unknown:
    """Return what is said of a call that an earlier worker began and nobody saw end, of its program and its probe."""
    why = f"the worker {call.worker!r} died while it was under way"
    seen = "; ".join(filter(None, (why, call.earlier, f"its probe says: {probe}" if probe else "")))
    look = "Look at the target before anybody repeats it."
    return Unknown(
        f"whether {call.tool} happened is not known",
        why=seen,
        next_step=f"Stop its program first. {look}" if call.runs_on else look,
    )
