"""Reads what a request asks besides the cause: how many, who most, since when, what changed; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from agents.log_analysis.groups import counts_entities, each_of, entity_of, entity_pattern
from agents.log_analysis.terms import is_status, terms_of


@dataclass(frozen=True)
class Question:
    """What is asked. `topic` names the kind of answer, `term` the words that lines must hold, `level` the lowest level.

    `exact` terms were quoted, others are words in any form. `entity` is what is counted by (ip, host, user …) and
    `bucket` the width of a count over time. `why` tells that the cause is asked for too, `also` which leads are,
    `then` is a second question in the same request, `of` (`host=web-1`) is whose lines are meant, and `wide` takes
    what is worse than a level of warning with it.
    """

    topic: str
    term: str = ""
    level: str = ""
    entity: str = ""
    bucket: str = ""
    why: bool = False
    exact: bool = False
    also: tuple[str, ...] = ()
    then: Question | None = None
    of: str = ""
    wide: bool = False


#: Topics that are told before the cause, and not instead of it, in the order in which they are told.
LEADS = ("start", "recovered")
#: Topics that are counted by who.
BY = ("most", "each")
_SENTENCES = re.compile(r"(?<=[?？])")
_FROM = re.compile(r"(?i)\bfrom when\b|\bhow long\b|从|持续")
#: What a request calls trouble as such: no text to look for.
_TROUBLE = re.compile(
    r"(?i)outages?|problems?|issues?|incidents?|troubles?|faults?|anything|wrong|unusual|attacks?|问题|故障|毛病|事故|情况|异常情况"
)

_WHY = re.compile(
    r"(?i)\bwhy\b|\bcaus|\bwrong\b|root ?cause|\bdiagnos|\binvestigat|为什么|原因|怎么回事|根因"
)
_QUOTED = re.compile(r"[\"“”`]([^\"“”`\n]{2,80})[\"“”`]|(?<![\w])'([^'\n]{2,80})'(?![\w])")

_LEVELS = (
    ("fatal", re.compile(r"(?i)\bfatals?\b|\bcriticals?\b|致命")),
    ("error", re.compile(r"(?i)\berrors?\b|\bfailures?\b|\bfailed\b|\bexceptions?\b|错误|报错|异常|失败")),
    ("warning", re.compile(r"(?i)\bwarn(?:ing)?s?\b|警告|告警行?")),
)
#: In the plural they mean a level; in the singular only where nothing else is asked for.
_PLURAL = r"errors|warnings|warns|fatals|criticals|错误|报错|警告|告警行?|致命"
#: What somebody did, and no level: "which IP failed most often?".
_VERB = re.compile(r"(?i)failed|失败")
#: What a status is called besides its number.
_OF_STATUS = re.compile(
    r"(?i)https?|status(?:es)?|codes?|errors?|respon\w+|answers?|requests?|状态码?|错误|响应|请求"
)
#: What is no text to look for where it stands alone: all lines.
_ALL = re.compile(r"(?i)requests?|请求")
_UNITS = {
    "second": "1s",
    "minute": "1m",
    "hour": "1h",
    "day": "1d",
    "秒": "1s",
    "分": "1m",
    "时": "1h",
    "天": "1d",
}
_PER = re.compile(
    r"(?i)\b(?:per|an?|each|every|by)[ -](second|minute|hour|day)\b|每(?:一)?(?:个)?(秒|分|小?时|天)"
    r"|\b(?:over|by) time\b|\brate of\b|\bhistogram\b|\btimeline\b|\btrend\b|趋势|时间分布"
)
_COUNT = re.compile(
    r"(?i)\bhow (?:many|often)\b|\bnumber of\b|\bcount (?:of|the|how|all)?\b|多少|几次|次数|几条|总数"
)
_MOST = re.compile(
    r"(?i)\b(?:which|what|who)\b.{0,80}\b(?:most|top|busiest|highest|worst)\b|\bmost (?:frequent|active|often|common)\b"
    r"|\b(?:top|busiest)\b.{0,30}\b(?:ips?|hosts?|users?|pods?|nodes?|clients?|services?|endpoints?|paths?|urls?)\b"
    r"|哪(?:个|些|台|位|一).{0,20}(?:最多|最频繁|最高|最常)|最多的.{0,12}(?:IP|ip|主机|用户|节点|服务|接口)"
)
_TOP_ERRORS = re.compile(
    r"(?i)\b(?:top|most (?:common|frequent)|main|biggest)\b.{0,20}"
    r"\b(?:errors?|exceptions?|failures?|problems?|warnings?)\b"
    r"|最(?:常见|多|主要|频繁)的?.{0,6}(?:错误|报错|异常|警告)|主要错误"
)
_START = re.compile(
    r"(?i)\bwhen (?:did|do|does|was|were|is|has|have)\b"
    r"|\bwhen\b.{0,60}\b(?:start|began|begin|first|happen|occur|fail|broke)"
    r"|\bsince when\b|\bfirst (?:time|occurrence|seen)\b|什么时候|何时|几点(?:开始|出现)|从哪.{0,4}开始"
)
_CHANGED = re.compile(
    r"(?i)\bwhat(?:'s| is| has| was)?\b.{0,20}\b(?:chang|new\b|differ)|\bdifferen(?:t|ce)\b|\bcompare\b"
    r"|变化|有什么不同|有何不同|对比"
)
_AT = re.compile(
    r"(?i)\bwhat\b.{0,30}\b(?:happen\w*|went on|was going on|occurred)\b.{0,20}\b(?:at|around|about|between|on)\b"
    r"|\d(?:点|时|分)?(?:左右|时)?.{0,6}(?:发生了什么|出了什么)|发生了什么"
)
_LAST_SEEN = re.compile(
    r"(?i)\bwhen\b.{0,30}\b(?:last|latest|most recent)\b|\bwhen (?:did|do|does)\b.{0,40}\b(?:stop|end|cease)\b"
    r"|最[后近]一次.{0,16}(?:什么时候|何时|几点)"
    r"|(?:什么时候|何时|几点).{0,6}最[后近]一次"
)
_EXISTS = re.compile(
    r"(?i)^(?:was|were|is|are) there\b|\b(?:did|has|have) any(?:one|body)\b"
    r"|[.,;!?] ?(?:was|were|is|are) there\b|有没有|是否有|有无"
)
#: What names one thing: an address, an id.
_IDENTITY = re.compile(
    r"(?<![\w.])(?:\d{1,3}(?:\.\d{1,3}){3}|[0-9a-f]{8}-[0-9a-f-]{20,30}|[0-9a-f]{16,64}|(?:req|blk|trace|job|pod)[-_]-?\w{4,60})(?![\w.]\w)"
)
_ABOUT = re.compile(r"(?i)^(?:what|who|which|where|show|list|find|tell|check|look)\b|什么|谁|查|看|找")
_RECOVERED = re.compile(
    r"(?i)\b(?:did|has|have|is|are|was)\b.{0,40}\b(?:recover\w*|resolved|back (?:up|to normal)|over now"
    r"|still (?:fail|happen|going|there)\w*"
    r"|healthy again|stopped|ended)\b|\bfrom when (?:to|until)\b"
    r"|\bhow long (?:did|was|has)\b.{0,40}\b(?:last|out|down)\w*"
    r"|到(?:几点|什么时候|何时)|持续了?多久|恢复了?(?:吗|没|么)|还在(?:发生|报错|失败)|好了吗"
    r"|(?:是否|有没有|有无)(?:已经?|自动|完全|都){0,2}恢复|恢复没有"
)

#: The first that matches is asked.
_TOPICS = (
    ("top", _TOP_ERRORS),
    ("most", _MOST),
    ("last", _LAST_SEEN),
    ("count", _COUNT),
    ("recovered", _RECOVERED),
    ("changed", _CHANGED),
    ("at", _AT),
    ("start", _START),
    ("exists", _EXISTS),
)

#: Words for slow work: such requests are answered by durations even where they raise no alarm by themselves.
_SPEED = re.compile(
    r"(?i)\bslow\w*|\blatenc|\bdelay|\blag\w*\b|\bbacklog|\bhang(?:s|ing)?\b|\bthroughput|\bqueue|\btopic\b|\bconsumer"
    r"|\btakes? (?:so |too )?long|\bperforman|response times?|慢|延迟|卡|积压|耗时|超时"
)


def question_of(request: str) -> Question | None:
    """Return what a request asks that a count or a window answers; None where it asks for something else.

    When it began and whether it is over may be asked in sentences of their own, beside another question.
    """
    parts = [(part, one_question(part)) for part in _SENTENCES.split(request) if part.strip()]
    asked = {one.topic for _, one in parts if is_lead(one) and one is not None}
    rest = "".join(part for part, one in parts if not is_lead(one))
    if not asked or len(parts) == 1:
        return one_question(request)
    leads = tuple(topic for topic in LEADS if topic in asked)
    if (main := one_question(rest)) is not None:
        return replace(main, also=leads)
    return Question(leads[0], why=bool(_WHY.search(request)), also=leads[1:])


def is_lead(question: Question | None) -> bool:
    """Tell whether a question is on when the trouble began or ended, and names nothing else."""
    return question is not None and question.topic in LEADS and not question.term


def one_question(request: str) -> Question | None:
    """Return what a request asks that is taken as one question."""
    why, quoted, entity = bool(_WHY.search(request)), quoted_term(request), entity_of(request)
    per = _PER.search(request)
    topic = "rate" if per else next((name for name, pattern in _TOPICS if pattern.search(request)), "")
    if not per and not why and topic in ("", "count", "most", "top"):
        each, rest = each_of(request)
        topic, entity, request = ("each", each, rest) if each else (topic, entity, request)
    if topic == "most" and not entity:
        topic = "count" if _COUNT.search(request) else ""
    if topic == "count" and entity and counts_entities(request):
        topic = "most"
    term, level = _looked_for(request, quoted, entity if topic == "most" else "")
    if topic in ("exists", "recovered") and not quoted and all(map(_TROUBLE.fullmatch, term.split())):
        term, level = "", ""
    if not topic and not why and _ABOUT.search(request) and (found := _IDENTITY.search(request)):
        return Question("count", found[0], exact=True)
    if not topic or (topic in ("last", "exists") and not (term or (topic == "last" and level))):
        return None
    bucket = _bucket(per) if per else ""
    if topic == "recovered" and _FROM.search(request):
        return Question("start", why=why, also=("recovered",))
    if topic in ("changed", "at", "recovered"):
        return Question(topic, why=why)
    level = "" if topic in ("start", "exists") else level
    exact = bool(quoted and topic != "top")
    return Question(
        topic, "" if topic == "top" else term, level, entity if topic in BY else "", bucket, why, exact
    )


def _bucket(per: re.Match[str]) -> str:
    """Return a bucket's width."""
    unit = next((g for g in per.groups() if g), "").lower().removeprefix("小")
    return _UNITS.get(unit, "auto")


def _looked_for(request: str, quoted: str, entity: str) -> tuple[str, str]:
    """Return what lines are to hold, and the lowest level; a word such as `failed` is a level where it stands alone."""
    if quoted:
        return quoted, _level(request.replace(quoted, " "))
    skip = re.compile(rf"(?i){_PLURAL}" + (f"|{entity_pattern(entity)}" if entity else ""))
    words = terms_of(request, skip)
    if entity and words and all(_ALL.fullmatch(word) or _VERB.fullmatch(word) for word in words):
        return " ".join(word for word in words if _VERB.fullmatch(word)), ""
    if any(map(is_status, words)):  # `500 errors` are lines with that status, whatever they are graded
        return " ".join(word for word in words if not _OF_STATUS.fullmatch(word)), ""
    if all(_ALL.fullmatch(word) or _level(word) for word in words):
        return "", _level(request)
    plural = re.search(rf"(?i)(?<![a-z])(?:{_PLURAL})(?![a-z])", request)
    return " ".join(words), _level(plural[0]) if plural else ""


def quoted_term(request: str) -> str:
    """Return what a request puts in quotation marks, or nothing."""
    found = _QUOTED.search(request)
    return next((g.strip() for g in found.groups() if g), "") if found else ""


def asks_why(request: str) -> bool:
    """Tell whether a request asks for a cause."""
    return bool(_WHY.search(request))


def cause_first(request: str) -> bool:
    """Tell whether a request asks for a cause before it asks whether it is over."""
    why, over = _WHY.search(request), _RECOVERED.search(request)
    return why is not None and over is not None and why.start() < over.end()


def about_speed(request: str) -> bool:
    """Tell whether a request is about slow work, waiting or lag."""
    return bool(_SPEED.search(request))


def _level(text: str) -> str:
    return next((level for level, pattern in _LEVELS if pattern.search(text)), "")
