"""The sentences of a request: what recalled a memory, what states something, and what was asked."""

from __future__ import annotations

import re

RECALLED = re.compile(r"^.*\[mem:[^\]]*\].*$", re.MULTILINE)
#: Where one sentence ends and the next begins.
SENTENCES = re.compile(r"(?<=[.!?。！？；;])\s*(?=\S)|\n+")
REMEMBER = re.compile(
    r"^(?:please |pls |and |also )*(?:remember|keep in mind|note)(?: that|:|,)?\s+(?P<what>\S.+)$"
    r"|^(?:请|並|并)?(?:你)?(?:记住|记得|牢记|记一下)[，,：:]?\s*(?P<zh>\S.+)$"
    r"|^(?P<ja>\S.+?)(?:を|と)?覚えて(?:おいて)?(?:ください)?[。.]?$",
    re.IGNORECASE,
)
PREFERENCE = re.compile(
    r"^(?:please |pls |and |also )*(?:always|never|from now on|in (?:the )?future|by default|going forward)\b.{4,}"
    r"|^(?:i|we) (?:(?:always|usually|would) )?(?:prefer|rather)\b.{4,}"
    r"|^(?:please )?(?:keep|make) (?:the |your |all |my )?(?:answer|report|message|notification|summar)\w*\b.{4,}"
    r"|^(?:please )?(?:always )?(?:answer|write|reply|report)(?: to me| me)? in [a-z]+\b.*"
    r"|^(?:请)?(?:以后|今后|往后|从现在起|从今以后|默认|每次|始终|总是|一律|不要再|别再).{2,}"
    r"|^(?:我|我们)(?:更|比较|一直|总是)?(?:喜欢|偏好|习惯|希望).{2,}"
    r"|^(?:今後は|これからは|いつも|常に).{2,}",
    re.IGNORECASE,
)


def asked(request: str) -> str:
    """Return what a request asks, without what it states beside."""
    sentences = [s.strip() for s in SENTENCES.split(RECALLED.sub("", request)) if s.strip()]
    rest = [s for s in sentences if not REMEMBER.match(s) and not PREFERENCE.match(s)]
    return " ".join(" ".join(rest or sentences).split())
