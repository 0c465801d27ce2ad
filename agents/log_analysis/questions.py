"""Reads what a request asks besides the cause: how many, who most, since when, what changed; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Question:
    """What is asked. `topic` names the kind of answer, `term` the text that lines must hold, `level` the lowest level.

    `exact` terms were quoted, others are words in any form. `entity` is what is counted by (ip, host, user …) and
    `bucket` the width of a count over time. `why` tells that the cause is asked for too.
    """

    topic: str
    term: str = ""
    level: str = ""
    entity: str = ""
    bucket: str = ""
    why: bool = False
    exact: bool = False


_WHY = re.compile(
    r"(?i)\bwhy\b|\bcaus|\bwrong\b|root ?cause|\bdiagnos|\binvestigat|为什么|原因|怎么回事|根因"
)
_QUOTED = re.compile(r"[\"“”`]([^\"“”`\n]{2,80})[\"“”`]|(?<![\w])'([^'\n]{2,80})'(?![\w])")

_ERRORS = re.compile(
    r"(?i)\berrors?(?: lines?)?\b|\bfailures?\b|\bfailed\b|\bexceptions?\b|错误|报错|异常|失败"
)
_WARNINGS = re.compile(r"(?i)\bwarn(?:ing)?s?\b|警告|告警行")
_FATAL = re.compile(r"(?i)\bfatals?\b|\bcritical\b|致命")

_LEVELS = (("fatal", _FATAL), ("error", _ERRORS), ("warning", _WARNINGS))
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
    r"(?i)\b(?:top|most (?:common|frequent)|main|biggest)\b.{0,20}\b(?:errors?|exceptions?|failures?|problems?)\b"
    r"|最(?:常见|多|主要|频繁)的?.{0,6}(?:错误|报错|异常)|主要错误"
)
_START = re.compile(
    r"(?i)\bwhen\b.{0,60}\b(?:start|began|begin|first|happen|occur|appear|fail|break|broke|happened)"
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
_RECOVERED = re.compile(
    r"(?i)\b(?:did|has|have|is|are|was)\b.{0,40}\b(?:recover\w*|resolved|back (?:up|to normal)|over now"
    r"|still (?:fail|happen|going|there)\w*"
    r"|healthy again|stopped|ended)\b|恢复了?(?:吗|没|么)|还在(?:发生|报错|失败)|好了吗|是否(?:已经)?恢复"
)
_END = (
    r"(?=\s+(?:are|were|is|was|did|do|does|have|has|had|there|in|since|per|from|between|on|at|we|after|before|during)\b"
    r"|[?.,!]|$)"
)
_OF = re.compile(
    r"(?i)\bhow (?:many times|often) (?:did|does|do|was|were|is|has|have)\s+(?:the |a |an )?(.{2,60}?)"
    r"\s+(?:happen|occur|appear|show|come|start|seen|logged)\w*"
    r"|\b(?:how many|number of|count of|count) (?:(?:lines?|events?|entries|messages|times) (?:with|contain(?:ing)?|of"
    r"|that (?:say|contain)|mention(?:ing)?) )?(?:the |all )?(?:the )?(?!times)(\S.{0,60}?)"
    + _END
    + r"|([\w.:/-]{2,60})\s?(?:出现|发生)了?(?:多少|几)次"
    r"|(?:多少|几)(?:个|条|次|行)?([^\s？?。，]{2,30}?)(?:吗|呢|？|\?|。|$)"
)
#: What is no text to look for: all lines.
_ALL = re.compile(
    r"(?i)(?:log )?(?:lines?|events?|messages|entries|requests?|logs?|times)|日志|请求|行|记录|次"
)
_ENTITIES = (
    ("ip", r"\bips?\b|\bip address|\bclients?\b|\bsource address|IP|客户端|地址"),
    ("host", r"\bhosts?\b|\bmachines?\b|\bnodes?\b|\bservers?\b|主机|机器|节点|服务器"),
    ("pod", r"\bpods?\b|\bcontainers?\b|\binstances?\b|容器|实例"),
    ("user", r"\busers?\b|\baccounts?\b|用户|账号|账户"),
    ("service", r"\bservices?\b|\bcomponents?\b|\bapps?\b|服务|组件|应用"),
    ("path", r"\bendpoints?\b|\bpaths?\b|\burls?\b|\broutes?\b|\bpages?\b|接口|路径|页面"),
    ("status", r"\bstatus(?: codes?)?\b|状态码"),
)
_ENTITY = tuple((name, re.compile(rf"(?i){pattern}")) for name, pattern in _ENTITIES)

#: The first that matches is asked.
_TOPICS = (
    ("recovered", _RECOVERED),
    ("top", _TOP_ERRORS),
    ("most", _MOST),
    ("count", _COUNT),
    ("changed", _CHANGED),
    ("at", _AT),
    ("start", _START),
)

#: Words for slow work: such requests are answered by durations even where they raise no alarm by themselves.
_SPEED = re.compile(
    r"(?i)\bslow\w*|\blatenc|\bdelay|\blag\w*\b|\bbacklog|\bhang(?:s|ing)?\b|\bthroughput|\bqueue|\btopic\b|\bconsumer"
    r"|\btakes? (?:so |too )?long|\bperforman|response times?|慢|延迟|卡|积压|耗时|超时"
)


def question_of(request: str) -> Question | None:
    """Return what a request asks that a count or a window answers; None where it asks for something else."""
    why, quoted = bool(_WHY.search(request)), quoted_term(request)
    level, entity = _level(request, quoted), _entity(request)
    if per := _PER.search(request):
        unit = next((g for g in per.groups() if g), "").lower().removeprefix("小")
        return Question("rate", quoted, level, bucket=_UNITS.get(unit, "auto"), why=why, exact=bool(quoted))
    topic = next((name for name, pattern in _TOPICS if pattern.search(request)), "")
    if topic == "most" and not entity:
        topic = "count" if _COUNT.search(request) else ""
    if topic == "most":
        return Question("most", quoted, level, entity, why=why, exact=bool(quoted))
    if topic == "count":
        return _count(request, quoted, entity, why=why)
    if not topic:
        return None
    term = quoted if topic == "start" else ""
    return Question(topic, term, why=why, exact=bool(term))


def quoted_term(request: str) -> str:
    """Return what a request puts in quotation marks, or nothing."""
    found = _QUOTED.search(request)
    return next((g.strip() for g in found.groups() if g), "") if found else ""


def about_speed(request: str) -> bool:
    """Tell whether a request is about slow work, waiting or lag."""
    return bool(_SPEED.search(request))


def _count(request: str, quoted: str, entity: str, *, why: bool) -> Question:
    found = _OF.search(request)
    said = next((g for g in found.groups() if g), "").strip() if found else ""
    if quoted or not said or _ALL.fullmatch(said):
        return Question("count", quoted, why=why, exact=bool(quoted))
    for level, pattern in _LEVELS:
        if pattern.fullmatch(said):
            return Question("count", "", level, why=why)
    if entity and _entity(said) == entity and " " not in said:
        return Question("most", entity=entity, why=why)
    return Question("count", said, why=why)


def _level(request: str, quoted: str) -> str:
    text = request.replace(quoted, " ") if quoted else request
    for level, pattern in _LEVELS:
        if pattern.search(text):
            return level
    return ""


def _entity(request: str) -> str:
    return next((name for name, pattern in _ENTITY if pattern.search(request)), "")
