"""The sentences of a request by their shape: what quotes a memory, what states something to be kept, what wishes."""

from __future__ import annotations

import re

from kernel.style import alone

#: A line that quotes a memory by its mark, however it is spaced, cased or dressed: `[mem:7f3a|fact]`, `［ MEM : …］`.
RECALLED = re.compile(r"^.*[\[［【(（]\s*m\s*e\s*m(?:ory|ories)?\s*[:：|].*$", re.MULTILINE | re.IGNORECASE)
#: Where one sentence ends and the next begins.
SENTENCES = re.compile(r"(?<=[.!?。！？；;])\s*(?=\S)|\n+")
REMEMBER = re.compile(
    r"^(?:please |pls |and |also )*(?:remember|keep in mind|note)(?: that|:|,)?\s+(?P<what>(?!that$)\S.+)$"
    r"|^(?:请|並|并)?(?:你)?(?:记住|记得|牢记|记一下)[，,：:]?\s*(?P<zh>\S.+)$"
    r"|^(?:bitte )?(?:merke? dir|denk dran|beachte)(?: bitte)?(?:[,:]? dass|,|:)?\s+(?P<de>\S.+)$"
    r"|^(?P<ja>\S.+?)(?:を|と)?覚えて(?:おいて)?(?:ください)?[。.]?$",
    re.IGNORECASE,
)
PREFERENCE = re.compile(
    r"^(?:please |pls |and |also )*(?:always|never|from now on|in (?:the )?future|by default"
    r"|going forward)\b.{4,}"
    r"|^(?:i|we)(?:'d)? (?:(?:always|usually|really|would|much) )*(?:prefer|rather)\b.{4,}"
    r"|^(?:i|we) (?:really )?(?:like|love|hate|dislike|(?:don'?t|do not) like)"
    r" (?!(?:it|this|that|you|how|what|when|where|why)\b).{4,}"
    r"|^(?:my|our) preference\b.{4,}|^next time\b.{4,}"
    r"|^(?:please )?(?:keep|make) (?:the |your |all |my )?(?:answer|repl(?:y|ies)|response|report|message"
    r"|notification|summar)\w*\b.{4,}"
    # "report in Chinese why checkout is down" is work for today
    r"|^(?:please )?(?:always )?(?:answer|write|reply|respond|report)(?: to me| me)? in [a-z]+\b"
    r"(?!,? (?:why|what|how|when|where|who|which|whether|if|about|on|the|all)\b).*"
    r"|^(?:请)?(?:以后|今后|往后|从现在起|从今以后|默认|每次|始终|总是|一律|不要再|别再).{2,}"
    r"|^(?:我|我们)(?:更|比较|一直|总是)?(?:喜欢|偏好|习惯|希望).{2,}"
    r"|^(?:今後は|これからは|いつも|常に).{2,}"
    r"|^(?:bitte )?(?:immer|nie|niemals|künftig|zukünftig|ab (?:jetzt|sofort)|von nun an|in zukunft"
    r"|standardmäßig)\b.{4,}"
    r"|^(?:bitte )?(?:antworte|schreibe?|berichte)n?(?: sie)?(?: mir)?(?: bitte)? (?:immer "
    r"|künftig )?(?:auf|in|kurz|nur)\b.*"
    r"|^(?:bitte )?(?:antworten|berichte) (?:bitte )?(?:immer )?(?:kurz|knapp|ausführlich|auf)\b.*",
    re.IGNORECASE,
)


def wishes(sentence: str) -> bool:
    """Return whether a sentence says what somebody wants from now on, by its beginning or by being nothing else."""
    return bool(PREFERENCE.match(sentence)) or alone(sentence)


def statements(request: str) -> list[str]:
    """Return what a request states, where it does nothing else: asks nothing, orders nothing, quotes no memory."""
    if RECALLED.search(request):
        return []
    told = [" ".join(part.split()) for part in SENTENCES.split(request)]
    told = [part for part in told if part]
    if any(part.endswith(("?", "？")) or not (REMEMBER.match(part) or wishes(part)) for part in told):
        return []
    return told
