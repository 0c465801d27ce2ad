"""Numbers that a text claims: which of its numbers are counts, shares or durations, and which only name something."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["count", "number", "percent", "duration"]

#: Full-width forms become plain ones, one for one, so that places in the text stay.
_PLAIN = str.maketrans("０１２３４５６７８９．％：", "0123456789.%:")
_WIDE_COMMA = re.compile(r"(?<=[0-9０-９])，(?=[０-９]{3})")

_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.?"
#: A word after which a number names one thing of many and counts nothing.
_LABEL = (
    r"(?:ports?|pid|tid|uid|gid|codes?|status|https?|exit|signal|versions?|ver|release|build|ids?|shard|partition|node"
    r"|pod|worker|thread|replica|broker|steps?|stage|phase|round|case|rule|page|scores?|errno|attempt|offset|issue|pr"
    r"|ticket|week|section|figure|table|confidence|showing|shown|显示|端口|状态码?|错误码|退出码|返回码|版本|得分|评分|置信度|可信度|编号|工单|进程号?)"
)
#: What is no claim, in the order in which it is taken out: code and quotes, links, times, places, labels, lists.
_FENCES = (
    r"```[\s\S]{0,20000}?```",
    r"(?P<tick>`{1,3})[^`\n]{0,4000}(?P=tick)",
    r"\"[^\"\n]{0,4000}\"|“[^”\n]{0,4000}”|「[^」\n]{0,4000}」|『[^』\n]{0,4000}』|‘[^’\n]{0,4000}’",
    r"(?<![A-Za-z0-9])'[^'\n]{1,4000}'(?![A-Za-z0-9])",
    r"\[mem:[^\]\n]{0,400}\]",
)
_DAY = (
    r"\d{2,4} ?年(?:代)?|\d{1,2} ?月(?:份)?(?:\s?\d{1,2} ?[日号])?|\d{1,2} ?[日号](?!志)",
    r"(?<!小)\d{1,2} ?[点时](?!间)(?:\s?\d{1,2} ?分)?(?:\s?\d{1,2} ?秒)?",
    r"\d{4}/\d{1,2}/\d{1,2}|\d{1,2}/\d{1,2}/\d{4}",
    rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?(?:,? \d{{4}})?\b|\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}(?:,? \d{{4}})?",
)
_MOMENT = (
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)?(?:\s?(?:Z|UTC|[+-]\d{2}:?\d{2}))?",
    r"(?<![\d:])\d{1,2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?(?:\s?(?:am|pm|AM|PM|Z|UTC|[+-]\d{2}:?\d{2}))?(?![\d:])",
    r"\bUTC ?[+-] ?\d{1,2}(?::\d{2})?|(?<!\d)[+-]\d{4}\b",
)
_PLACE = (
    r"(?<![A-Za-z0-9_.-])[A-Za-z0-9_-][A-Za-z0-9_.-]{0,200}\.[A-Za-z][A-Za-z0-9]{0,7}:\d+(?:[-–]\d+)?",
    r"(?i)(?<![a-z])(?:lines?|ln)\s?(?:no\.?\s?|number\s|#)?\d[\d,]*(?:\s?(?:[-–—~、&]|to|and|through)\s?\d[\d,]*)*",
    r"(?:第|行号|行：|行 )\s?\d[\d,]*(?:\s?[-–—~到至、和]\s?\d[\d,]*)*",
    r"#\d+",
)
_NAMED = (
    rf"(?i)(?<![a-z]){_LABEL}(?:\s(?:is|was|of|no\.?|number|code))?\s?[=:：#为是]?\s?\d(?:[\d.,]*\d)?",
    r"(?m)^\s{0,8}(?:\d{1,2}[.)、）]|\(\d{1,2}\))\s?(?=\D)",
    r"\b\d+(?:st|nd|rd|th)\b",
    r"(?<![\d.])\d+(?:\.\d+){2,}(?:[/:]\d+)?",
)
_NO_CLAIMS = tuple(map(re.compile, (*_FENCES, *_MOMENT, *_DAY, *_PLACE, *_NAMED)))
#: Words, told apart from prose by what is in them: paths and links have slashes, names and ids letters and digits.
_TOKEN = re.compile(r"[^\s,;()（），；。、]+")
_CHUNK = re.compile(r"[A-Za-z0-9_.-]+")
_HEX = re.compile(r"[0-9a-fA-F]{6,64}")

_NUMBER = re.compile(r"(?<![A-Za-z0-9_.])(\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)")
_SCALE = re.compile(r"\s?(thousand|million|billion|hundred|k|K|M|百万|千万|万|亿|千)(?![A-Za-z0-9])")
_SCALES = {
    "k": 1e3, "K": 1e3, "thousand": 1e3, "hundred": 100, "M": 1e6, "million": 1e6, "billion": 1e9,
    "千": 1e3, "万": 1e4, "百万": 1e6, "千万": 1e7, "亿": 1e8,
}  # fmt: skip
_PERCENT = re.compile(r"\s?(?:%|percent\b|per cent\b)")
_DURATION = re.compile(
    r"[\s-]?(?:(?P<ms>ms|milliseconds?|毫秒)|(?P<s>s|secs?|seconds?|秒钟?)|(?P<m>m|mins?|minutes?|分钟?)"
    r"|(?P<h>h|hrs?|hours?|个?小时|个?钟头)|(?P<d>d|days?|天))(?![A-Za-z])"
)
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}
#: Units after which a number is a size or a rate and counts no events; a letter glued to it makes it a name.
_UNIT = re.compile(
    r"\s?(?:bytes?\b|[kKMGTP]i?B(?:ps|/s)?(?![A-Za-z])|B(?![A-Za-z])|Mbps|Gbps|rps|qps|字节|x\b|×|倍)|\s?/\s?\d"
)
_GLUED = re.compile(r"[A-Za-z_]")

_NOUNS = (
    r"(?:lines?|events?|errors?|warnings?|failures?|exceptions?|times|occurrences?|requests?|hits?|messages?|entries"
    r"|records?|logs|timeouts?|retries|restarts?|crash(?:es)?|alerts?|services?|hosts?|pods|nodes|users?|templates?"
    r"|problems?|traces?|sessions?|calls?|transactions?|queries|rejections?|refusals?|disconnects?|attempts|blocks?"
    r"|files?|sources?|kinds|instances?|cases|logins?|packets?|jobs?|tasks?|orders?|payments?|customers?)"
)
_COUNTED = re.compile(
    rf"(?i)[\s-]+(?:[A-Za-z][\w'-]{{0,30}}[ -]){{0,3}}?{_NOUNS}(?![A-Za-z])|\s(?:in all|in total)\b"
)
_COUNTED_ZH = re.compile(r"\s?(?:多|余)?(?:次|条|行|起|例|项|台|遍|处|笔|封|个(?!月|小时|半|百分))")
_COUNT_BEFORE = re.compile(
    r"(?i)(?:errors?|events?|warnings?|lines|failures?|counts?|totals?|occurrences|times|requests|fatal|info|debug"
    r"|总数|次数|条数|行数|数量|总共|共计|共|合计|累计|错误|警告)\s?(?:[:：=]|is|was|are|were|of|about|为|是|有|约)?\s?$"
)
#: `raise the limit to 50`: what is advised is no claim about the log.
_ADVISED = re.compile(r"(?i)(?:\bto|\bup to|\bat least|\bby|\bevery|到|至|为)\s?$")
_ADVICE = re.compile(
    r"(?i)\b(?:increase|raise|set|reduce|lower|limit|recommend|should|consider|try|add|wait|scale|retry|configure|keep)\b"
    r"|建议|调大|调高|增加|提高|降低|设置|改为|应当?|扩容"
)

_WORDS = {
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
    "eleven": 11, "twelve": 12, "thirteen": 13, "fourteen": 14, "fifteen": 15, "twenty": 20,
}  # fmt: skip
_WORD = re.compile(rf"(?i)\b({'|'.join(_WORDS)})(?=[\s-]+(?:[A-Za-z][\w'-]{{0,30}}[ -]){{0,2}}?{_NOUNS}\b)")
_CJK = re.compile(
    r"(?<![第0-9一二三四五六七八九十百千万亿])[二两三四五六七八九十百千万亿零〇一]{1,12}(?=(?:次|条|行|起|例|遍|处|笔|个(?!月|小时|半)))"
)
_DIGITS = {c: n for n, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}


@dataclass(frozen=True)
class Claim:
    """One number that a text claims. `phrase` is the number with the word behind it, as a source may say it."""

    text: str
    value: float
    kind: Kind
    start: int
    decimals: int = 0
    unit: float = 0.0
    phrase: str = ""


def claims(text: str) -> list[Claim]:
    """Return the numbers that a text claims, in order; quotes, times, names, versions and citations are none."""
    bare = plain(text)
    for pattern in _NO_CLAIMS:
        bare = pattern.sub(_blank, bare)
    bare = _CHUNK.sub(_unless_number, _TOKEN.sub(_unless_path, bare))
    found = [claim for match in _NUMBER.finditer(bare) if (claim := _claim(bare, match)) is not None]
    found += [Claim(m[0], float(_WORDS[m[0].lower()]), "count", m.start()) for m in _WORD.finditer(bare)]
    found += [
        Claim(m[0], value, "count", m.start())
        for m in _CJK.finditer(bare)
        if (value := _cjk(m[0])) > 2  # noqa: PLR2004 - 一个 and 两个 are articles as often as numbers
    ]
    return sorted(found, key=lambda claim: claim.start)


def plain(text: str) -> str:
    """Return the text with full-width digits as plain ones; places stay as they were."""
    return _WIDE_COMMA.sub(",", text).translate(_PLAIN)


def numbers(text: str) -> set[float]:
    """Return all numbers of a text, whatever they mean."""
    return {float(found[0].replace(",", "")) for found in _ANY.finditer(plain(text))}


_ANY = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d{1,12})?|\d{1,15}(?:\.\d{1,12})?")


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _unless_path(found: re.Match[str]) -> str:
    token = found[0]
    path = ("/" in token or "\\" in token) and any(c.isascii() and c.isalpha() for c in token)
    return _blank(found) if path else token


def _unless_number(found: re.Match[str]) -> str:
    """Take out what is a name: letters first and a digit in it, or hexadecimal with a letter."""
    chunk = found[0]
    if chunk.isdigit() or not any(c.isdigit() for c in chunk):
        return chunk
    if not chunk[0].isdigit() and any(c.isalpha() or c == "_" for c in chunk):
        return _blank(found)
    named = _HEX.fullmatch(chunk) is not None or chunk.count("-") > 1
    return _blank(found) if named else chunk


def _claim(text: str, match: re.Match[str]) -> Claim | None:
    written, end = match[1], match.end()
    value = float(written.replace(",", ""))
    decimals = len(written.partition(".")[2])
    if _PERCENT.match(text, end):
        return Claim(written, value, "percent", match.start(), decimals)
    if scale := _SCALE.match(text, end):
        scaled = round(value * _SCALES[scale[1]], 6)
        return Claim(f"{written}{scale[0]}", scaled, "count", match.start())
    if unit := _DURATION.match(text, end):
        seconds = _SECONDS[str(unit.lastgroup)]
        return Claim(written, value, "duration", match.start(), decimals, seconds)
    if _UNIT.match(text, end):
        return Claim(written, value, "number", match.start(), decimals)
    if _GLUED.match(text, end):
        return None
    before = text[max(0, match.start() - 24) : match.start()]
    if _ADVISED.search(before) and _ADVICE.search(text[max(0, match.start() - 120) : match.start()]):
        return None
    noun = _COUNTED.match(text, end) or _COUNTED_ZH.match(text, end)
    if noun or _COUNT_BEFORE.search(before):
        phrase = f"{written}{noun[0] if noun else ''}"
        return Claim(written, value, "count", match.start(), decimals, phrase=" ".join(phrase.split()))
    return Claim(written, value, "number", match.start(), decimals)


def _cjk(text: str) -> float:
    """Return the value of a Chinese numeral such as 一千二百三十四 or 三十万."""
    total, section, digit = 0, 0, 0
    for character in text:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character in _TENS:
            section += (digit or 1) * _TENS[character]
            digit = 0
        else:
            total = (total + section + digit or 1) * (10_000 if character == "万" else 100_000_000)
            section = digit = 0
    return float(total + section + digit)
