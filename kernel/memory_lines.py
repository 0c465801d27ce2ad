"""How memories stand in a prompt, pure: one quoted line each, which nothing in its text can leave or imitate."""

from __future__ import annotations

import json
import re
from typing import Any

from kernel.contracts import MemoryHit

# Escape sequences, control characters, zero-width and bidi marks: invisible to a person, not to a model.
_INVISIBLE = re.compile(
    "\x1b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)?)|[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f"
    "\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\U000e0000-\U000e007f]"
)
# The framing tokens of chat templates.
_FRAMING = re.compile(r"<\|([^|<>]{0,40})\|>|\[(/?INST)\]|<(/?(?:start_of_turn|end_of_turn|s))>")
#: What opens a citation, however it is spaced or cased; in a memory's text it would lend it another one's id.
_CITING = re.compile(r"[\[［【]\s*mem\s*[:：]", re.IGNORECASE)
#: What opens and closes our fences.
_FENCE = re.compile(r"<{3,}|>{3,}|`{3,}")
_FENCES = {"<": "‹", ">": "›", "`": "'"}
#: Sources are ids and kinds; anything else in one is not shown.
_NO_NAME = re.compile(r"[^\w:./@-]+")
_NAME_CHARACTERS = 60
#: Longer memories exist (4,000 bytes); a prompt has room for a handful of these.
_TEXT_CHARACTERS = 2000

#: Who the middle tier is owed to: what a person may have said, or what the desk may have learnt.
_SAID, _LEARNT = "(the user may once have said)", "(may have been learnt once)"
_TOLD = ("fact", "preference")
#: Sources of facts that no person stated; an agent's are `run:<run>:<part>`.
_OTHERS = re.compile(r"(?:agent|tool|log|alert)\b|run:[^:]*:")


def tame(value: Any) -> Any:
    """Return the value without characters that nobody sees and without the framing of chat templates."""
    if isinstance(value, str):
        return _FRAMING.sub(lambda m: f"‹{m[1] or m[2] or m[3]}›", _INVISIBLE.sub("", value))
    if isinstance(value, dict):
        return {tame(k): tame(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [tame(v) for v in value]
    return value


def memory_line(memory: MemoryHit) -> str:
    """Return a memory as one line: `[mem:id|kind|age|source]`, how far it is believed, and its text as a JSON string.

    A memory of the middle tier says so before its text. Line breaks, fences and citations in the text are gone.
    """
    where = f"{_name(memory.id)}|{memory.kind}|{memory.age_days:.0f}d|{_name(memory.source) or 'unknown'}"
    doubt = f"{_doubt(memory)} " if memory.tier == "middle" else ""
    return f"[mem:{where}] {doubt}{json.dumps(plain(memory.text), ensure_ascii=False)}"


def plain(text: str) -> str:
    """Return a text on one line without anything that our prompts give a meaning to."""
    flat = " ".join(tame(text).split())
    flat = _FENCE.sub(lambda m: "".join(_FENCES[c] for c in m[0]), _CITING.sub("(mem:", flat))
    return flat if len(flat) <= _TEXT_CHARACTERS else f"{flat[:_TEXT_CHARACTERS]}…"


def _doubt(memory: MemoryHit) -> str:
    return _SAID if memory.kind in _TOLD and not _OTHERS.match(memory.source) else _LEARNT


def _name(text: str) -> str:
    return _NO_NAME.sub("_", tame(text))[:_NAME_CHARACTERS]
