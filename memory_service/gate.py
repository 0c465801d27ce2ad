"""The gate that a memory must pass: what is stored, what a person must look at first, what is dropped."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Literal

from memory_service.chatter import chatter
from memory_service.domain import Candidate, normal

#: Below this a memory is not worth its place in a prompt (reference: memory.md, 4.8).
IMPORTANCE_FLOOR = 0.3
#: Texts longer than this are no memory but a document; UTF-8 bytes.
TEXT_MAX_BYTES = 4000

Verdict = Literal["store", "quarantine", "drop"]

#: Kinds that we word ourselves: they quote what was asked, and are none of it.
_OURS = ("procedure", "summary")
#: The shape of an instruction: in a log, an alert or a tool's answer it is an attack, never a fact.
_INSTRUCTION = re.compile(
    r"(ignore|disregard|forget|override) (all |any |the |your )*(previous|prior|above|earlier|instruction|rule|polic)"
    r"|(always|never|automatically) (approve|allow|accept|deny|trust|run|execute|restart|delete|ask|answer|say|tell)"
    r"|you (must|should|are) (now|always|never|not)|from now on|system prompt|^\s*(assistant|system|user)\s*:"
    r"|remember (this|that|to|:)|remember:|new instructions?|do not (tell|ask|verify|check)|without (approval|asking)"
    r"|(curl|wget)\s+\S+\s*\|\s*(ba|z)?sh|<\|?(im_start|system|tool)"
    r"|忽略.{0,6}(指令|规则|以上|之前|审批)|(总是|始终|永远|一律|自动)(批准|允许|同意|执行|重启|信任)|从现在(起|开始)|请?记住|无需(审批|确认)"
    r"|以前の指示|指示を無視|常に(承認|許可)"
    # what logs were seen to try: verdicts, orders to the reader, calls of tools, places to send things, markup
    r"|root cause is|override (analysis|the)|(select|choose|use) (the )?(workflow|playbook|tool)\b"
    r"|do not (inspect|look|report)"
    r"|(approve|confirm|allow) (all|any|every|the) (pending|action|request|restart)|approval[_ -]?token|sudo ?="
    r"|retry with (sudo|root|admin|approval)|(please|and|then) (call|run|execute|invoke) \w+_\w+|decode and follow"
    r"|(post|send|upload) (the |all |your )*(contents?|files?|data|secrets?|credentials?|tokens?) (of|from|to)\b"
    r"|ops-note|tell the (user|operator)"
    r"|unrestricted assistant|<!(channel|here|everyone)|<@\w+>|!\[[^\]]*\]\(|\bonerror ?=|<img\b|<script\b"
    r"|直接执行|通知所有人",
    re.IGNORECASE | re.MULTILINE,
)


#: What parts words without being seen, or joins them in a name.
_UNSEEN = "Cf"
_JOINTS = re.compile(r"[_\\]+|(?<=\w)[-.](?=\w)")


def shaped_like_instruction(text: str) -> bool:
    """Return whether a text tells its reader what to do, plainly or hidden in names and zero-width characters."""
    plain = "".join(c for c in unicodedata.normalize("NFKC", text) if unicodedata.category(c) != _UNSEEN)
    return any(_INSTRUCTION.search(told) for told in (plain, _JOINTS.sub(" ", plain)))


def gate(candidate: Candidate) -> tuple[Verdict, str]:
    """Return whether a candidate is stored, quarantined for a person to look at, or dropped, and why."""
    text = normal(candidate.text)
    if not text:
        return "drop", "empty"
    if len(candidate.text.encode("utf-8", "replace")) > TEXT_MAX_BYTES:
        return "drop", f"too long: a memory has at most {TEXT_MAX_BYTES} bytes"
    if candidate.importance < IMPORTANCE_FLOOR:
        return "drop", f"not important enough: nothing below {IMPORTANCE_FLOOR} is kept"
    if candidate.kind not in _OURS and (said := chatter(candidate.text)):
        return "drop", said
    untrusted = candidate.source_kind != "user" or candidate.quotes_untrusted
    told = [candidate.text, candidate.key, *_strings(candidate.slots)]
    if untrusted and shaped_like_instruction("\n".join(told)):
        return "quarantine", "shaped like an instruction, from a source that may not give any"
    return "store", ""


def _strings(slots: Any) -> list[str]:
    """Return the texts in slots, names too: they are served beside the text, so they pass the same gate."""
    if isinstance(slots, dict):
        return [text for pair in slots.items() for part in pair for text in _strings(part)]
    if isinstance(slots, list):
        return [text for part in slots for text in _strings(part)]
    return [slots] if isinstance(slots, str) else []
