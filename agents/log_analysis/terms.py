"""The words of a request that lines must hold, and the expression that finds them in any form and order; pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import permutations

from agents.log_analysis.kinds import KINDS

#: So many words find what is meant; more of them, and a pattern of this length, find nothing.
_WORDS, _PATTERN = 3, 900
_SHORT = 4
#: Numbers of fewer digits count something; longer ones are a status or an id.
_DIGITS = 3
#: A status as people say it: 404, 404s, 5xx; and where such a number is one, in lines that give it.
_STATUS = re.compile(r"(?i)([1-5](?:\d\d|xx)|4xx/5xx)s?")
_GIVEN = (
    r"(?:status|code|return\w*|answer\w*|respon\w*|error|got|with|返回|状态码?)[\w.]*[\"'\\]{{0,3}}\s?[:=]?\s?[\"'(\\]{{0,2}}{0}\b"
    r"|\bHTTP(?:/\d(?:\.\d)?)?\"? {0}\b|\" {0} |(?:->|→|=>)\s?{0}\b|\b(?:GET|POST|PUT|PATCH|DELETE|HEAD) \S+ {0}\b"
    r"|\b{0} (?-i:[A-Z][a-z])"
)
_ENDING = re.compile(r"(?:ures?|ied|ed|ing|ies|y|es|s)$")
_TOKEN = re.compile(r"[A-Za-z0-9_$@/][\w.:/@$-]*|[\u4e00-\u9fff]+")
#: What stands for a time: the window is read elsewhere.
_TIMES = re.compile(
    r"(?i)\d{4}-\d\d-\d\d(?:[T ]\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)?)?"
    r"|\b\d{1,2}:\d\d(?::\d\d)?(?:\.\d+)?Z?"
    r"|\b(?:last|past|previous) (?:\d+ |an? |half an )?(?:second|minute|hour|day)s?\b"
    r"|(?:最近|过去|近)(?:的)?\s?(?:\d+|一|半|两)?\s?个?(?:秒|分钟|小?时|天)"
)
_LOGIN = re.compile(r"(?i)\b(?:log(?:s|ged|ging)?|sign(?:s|ed|ing)?|g[eo]t(?:ting)?)[ -]?in\b|\blog[io]ns?\b")
#: What a word may be called in lines; keys are stems, or whole words in Chinese.
_SAME = {
    "login": r"log[io]n|logged in|passw|authenti",
    "登录": r"登录|log[io]n|logged in|passw|authenti",
    "登陆": r"登[录陆]|log[io]n|passw|authenti",
    "密码": r"密码|passw",
    "success": r"succe|accepted|session opened",
    "成功": r"成功|succe|accepted",
    "timeout": r"time[sd]?[ -]?out|timeout|deadline",
    "超时": r"超时|time[sd]?[ -]?out|deadline",
    "失败": r"失败|fail|denied|refused",
    "异常": r"异常|exception",
    "错误": r"错误|error",
    "拒绝": r"拒绝|refus|denied|reject",
    "连接": r"连接|connect",
    "断开": r"断开|disconn|closed|reset",
    "重启": r"重启|restart|reboot",
    "restart": r"restart|reboot",
    "启动": r"启动|start",
    "停止": r"停止|stop|shutdown",
    "删除": r"删除|delet|remov",
    "部署": r"部署|deploy|roll(?:ed )?out",
    "崩溃": r"崩溃|crash|panic|segfault",
    "内存": r"内存|memory|oom",
    "磁盘": r"磁盘|disk|no space",
    "请求": r"请求|request",
    "用户": r"用户|user",
    "数据库": r"数据库|database|sql",
    "支付": r"支付|pay",
    "订单": r"订单|order",
    "认证": r"认证|authenti",
    "写入": r"写入|writ",
    "读取": r"读取|read",
    "接收": r"接收|recei",
}
#: A failed login is told by several lines: the one that says so itself, others with the words, those of its kind.
_LOGINS, _FAILS = ("login", "登录", "登陆"), re.compile(r"(?i)fail\w*|unsuccessful|失败")
LOGIN_FAILED = (
    r"fail\w* (?:password|publickey|log[io]n|to log ?[io]n|to authenticate)"
    r"|log[io]n (?:attempt )?(?:has |was )?fail|登[录陆]失败"
)
REFUSED = next(kind for kind in KINDS if kind.key == "auth_failure")
_CHINESE = re.compile("|".join(sorted((k for k in _SAME if not k.isascii()), key=len, reverse=True)))
#: Small words, words of asking, and what every log has.
_SMALL = """
a an the this that these those there here it its i we us you me they them my our your someone
somebody anyone anybody is are was were be been being am do does did done doing has have had having
can could would should will may might must how many much number of count often times time what whats
which who whom whose when where most more top first last latest newest oldest recent recently common
frequent frequently active busiest highest worst biggest main single in on at by to from for with
without within into over under between before after since until till during per each every and or
but not no any all some only also just please show tell give list find print display get got getting
go goes going went come came see seen saw say says said happen happens happened happening occur
occurs occurred occurring appear appears appeared start starts started starting begin begins began
beginning try tries tried trying attempted make made makes send sent sending log logs line lines
entry entries event events message messages record records mention mentions mentioning mentioned
contain contains containing contained report reports reported logged file files kind kinds minute
minutes hour hours second seconds day days rate trend timeline histogram again still ever now today
up out there's what's s t about why cause causes caused reason called named type types different total distinct
unique exactly roughly
"""
#: What stands in most lines tells the least of them.
_EVERYWHERE = "user users client clients request requests service services error errors attempts 用户 请求"
_GENERIC = frozenset(_EVERYWHERE.split())
_STOP = frozenset(_SMALL.split())
_FILLER = re.compile(
    r"为什么|原因|一共|总共|总数|多少|几次|几条|几个|次数|什么时候|何时|几点|哪一?[个些台位]|哪里|最多的?|最频繁的?|最高的?|最常见?的?|最[后近]一?次?"
    r"|第一[次条]|尝试|出现|发生|开始|结束|请问|告诉我?|帮我|看一?下|日志|记录|有没有|是否有?|有无|有人|每一?个?|分钟|小时|天|秒"
    r"|行|条|次|个|的|了|过|吗|呢|么|在|被|把|从|到|和|与|及|有|是|中|里|内|为|时候|之间|之前|之后|以来|趋势|我们?|你"
)


def terms_of(request: str, skip: re.Pattern[str] | None = None) -> list[str]:
    """Return the words of a request that say what is looked for, in order, without those that `skip` fits."""
    text = _TIMES.sub(" ", _LOGIN.sub(" login ", request))
    found: list[str] = []
    for token in _TOKEN.findall(text):
        words = [_singular(token.rstrip(".:/-"))] if token.isascii() else _chinese(token)
        found += [w for w in words if _telling(w) and not (skip and skip.fullmatch(w)) and w not in found]
    return found


def telling(words: Sequence[str]) -> list[str]:
    """Return the words that are looked for, in their order: names before what stands in most lines."""
    best = sorted(words, key=lambda w: (w.lower() in _GENERIC, not re.search(r"[\d_.:/]", w), -len(w)))
    return [word for word in words if word in best[:_WORDS]]


def pattern_of(words: Sequence[str]) -> str:
    """Return the expression for lines that hold all telling words, in any form and order."""
    stems = [_stem(word) for word in telling(words)]
    pattern = "|".join(".*".join(order) for order in permutations(stems))
    return pattern if len(pattern) <= _PATTERN else ".*".join(stems)


def ways_of(words: Sequence[str]) -> list[str]:
    """Return expressions for an event that several lines tell of, each once, the surest first; nothing for others."""
    told = telling(words)
    event = [w for w in told if w.lower().removesuffix("s") in _LOGINS or _FAILS.fullmatch(w)]
    if not any(_FAILS.fullmatch(w) for w in event) or all(_FAILS.fullmatch(w) for w in event):
        return []
    others = [_stem(word) for word in told if word not in event]
    first, last = (
        "|".join(".*".join(order) for order in permutations([f"(?:{one})", *others]))
        for one in (LOGIN_FAILED, REFUSED.pattern.pattern.removeprefix("(?i)"))
    )
    return [first, pattern_of(words), last]


def is_status(word: str) -> bool:
    """Tell whether a word is a status: 404, 5xx."""
    return bool(_STATUS.fullmatch(word))


def ending_off(word: str) -> str:
    """Return a word in lower case without its ending."""
    return _ENDING.sub("", word.lower())


def _telling(word: str) -> bool:
    if word.isdigit():
        return len(word) >= _DIGITS
    return len(word) > 1 and word.lower() not in _STOP


def _chinese(text: str) -> list[str]:
    """Return the known words of a Chinese text, and what is left of it without its small words."""
    words: list[str] = []
    place = 0
    for match in [*_CHINESE.finditer(text), None]:
        between = text[place : match.start()] if match else text[place:]
        words += [piece for piece in _FILLER.sub(" ", between).split() if len(piece) > 1]
        if match:
            words.append(match.group())
            place = match.end()
    return words


def _singular(token: str) -> str:
    """Return a status without the ending of its plural, anything else as it is."""
    return token[:-1] if _STATUS.fullmatch(token) and token[-1] in "sS" else token


def _stem(word: str) -> str:
    """Return an expression for a word in its forms: of English words by their stem, of others as they stand."""
    if is_status(word):
        number = r"[45]\d\d" if "/" in word else word.lower().replace("x", r"\d")
        return f"(?:{_GIVEN.format(number)})"
    plain = word.lower()
    for form in (plain, plain.removesuffix("s"), plain.removesuffix("ful"), plain.removesuffix("fully")):
        if form in _SAME:
            return f"(?:{_SAME[form]})"
    if len(word) <= _SHORT or not (word.isalpha() and word.isascii() and word[1:].islower()):
        whole = word[-1].isdigit() and not word.isdigit()  # `web-1` is not `web-12`
        return re.escape(word) + (r"\b" if whole else "")
    return _ENDING.sub("", plain) + r"\w*"
