"""What the words of a line hint at where it names no level; pure."""

from __future__ import annotations

import re

from agents.log_analysis.formats.levels import Level

#: A line without a level that says this is an error: stems, and what must follow where that is not all.
_STRONG = (
    *((stem, re.compile(stem + r"\b(?! ?(?:code)?[:=] ?0\b)(?=:|\s|$)")) for stem in ("Exception", "Error")),
    *(
        (stem, None)
        for stem in ("segfault", "egmentation fault", "core dumped", "ut of memory", "Killed process")
    ),
    *((stem, None) for stem in ("o space left", "BUG: ", "Oops: ")),
    *((stem, re.compile(stem + r"\b")) for stem in (" fatal", " FATAL")),
)
#: A line without a level that says this, as words of their own, deserves a look.
_SOFT = tuple(
    (stem, re.compile(stem + rest + r"\b"))
    for stem, rest in (
        ("fail", "(?:ed|ures?|s)?"), ("error", "s?"), ("refused", ""), ("denied", ""), ("timed", " ?out"),
        ("time", " ?out"), ("unable", " to"), ("cannot", ""), ("can't", ""), ("could", " ?n[o']t"),
        ("rejected", ""), ("unreachable", ""), ("aborted", ""), ("corrupt", "(?:ed)?"), ("broken", ""),
        ("fatal", ""), ("exception", "s?"),
    )
)  # fmt: skip
_SOFT_CJK = re.compile("失败|错误|超时|拒绝|异常|失敗|錯誤|逾時|異常|无法|エラー|실패|오류")
_HARMLESS = re.compile(
    r"\b(?:no|0|without|zero) (?:\w{1,40} )?(?:errors?|failures?|failed|exceptions?)\b"
    r"|\b(?:errors?|failed|failures?|exceptions?)\"?[=:] ?(?:0|no|none|false|null)\b"
    r"|\berror[_ ](?:rate|count)\b|\(allocation failure\)"
    r"|(?:没有|无|0 ?个)(?:任何)?(?:错误|异常|失败)|(?:错误|异常|失败)(?:数)?[:：=] ?0\b"
)
#: What is harmless has one of these.
_NOTHING = (
    "no ", "0 ", "without ", "zero ", "=0", ": 0", ":0", "= 0", "none", "false", "null", "=no", ": no", "rate",
    "count", "(alloc", "没有", "无", "0个", "：0",
)  # fmt: skip
#: How much of a line is looked at.
_HINTED = 2000


def hint(text: str) -> Level:
    """Return what the words of a line without a level hint at."""
    text = text[:_HINTED]
    small = text.lower()
    level = _hinted(text, small)
    if level and any(map(small.__contains__, _NOTHING)) and _HARMLESS.search(small):
        text = re.sub(_HARMLESS.pattern, " ", text, flags=re.IGNORECASE)
        return _hinted(text, text.lower())
    return level


def _hinted(text: str, small: str) -> Level:
    if text.startswith(("Traceback", "panic:", "fatal")):
        return Level.error
    for stem, strong in _STRONG:
        if stem in text and (strong is None or strong.search(text)):
            return Level.error
    for stem, soft in _SOFT:
        at = small.find(stem)
        while at >= 0:
            if (not at or not (small[at - 1].isalnum() or small[at - 1] == "_")) and soft.match(small, at):
                return Level.warning
            at = small.find(stem, at + 1)
    return Level.warning if not small.isascii() and _SOFT_CJK.search(small) else Level.unknown
