"""Orders in texts that may give none, pure: what in a log, an alert or a tool's answer is shaped like one."""

from __future__ import annotations

import re
import unicodedata

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
