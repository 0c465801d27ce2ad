"""Reads what a request counts by: hosts, addresses, users, or a field, one of them or each; pure."""

from __future__ import annotations

import re

_ENTITIES = (
    ("ip", r"\bips?\b|\bip address(?:es)?\b|\bclients?\b|\bsource address(?:es)?\b|IP|客户端|地址"),
    ("host", r"\bhosts?\b|\bmachines?\b|\b(?:data|worker)?nodes?\b|\bservers?\b|主机|机器|节点|服务器"),
    ("pod", r"\bpods?\b|\bcontainers?\b|\binstances?\b|容器|实例"),
    ("user", r"\buser(?:name)?s?\b|\baccounts?\b|用户名?|账号|账户"),
    ("service", r"\bservices?\b|\bcomponents?\b|\bapps?\b|服务|组件|应用"),
    ("path", r"\bendpoints?\b|\bpaths?\b|\burls?\b|\broutes?\b|\bpages?\b|接口|路径|页面"),
    ("status", r"\bstatus(?: codes?)?\b|状态码"),
)
_HOW_MANY = re.compile(
    r"(?i)\bhow many (?:different |distinct |unique )?(?:"
    + "|".join(pattern for _, pattern in _ENTITIES)
    + r")|多少个?(?:不同的)?(?:IP|客户端|地址|主机|机器|节点|用户|账号)"
)
_NAMED = "|".join(pattern for _, pattern in _ENTITIES)
#: Each of a kind has a number of its own: "errors per host"; what else stands behind `per` is the name of a field.
_EACH = re.compile(
    r"(?i)\b(?:per|(?:on|for|of|in|at|by|has|does|did) (?:each|every)"
    r"|(?:down|grouped|split|errors?|warnings?|lines?|counts?|failures?|events?) by)"
    rf" (?P<of>{_NAMED})"
    r"|\bper (?P<field>[a-z]\w{1,40})\b"
    rf"|(?:每一?[个台位种条]?|各[个台种]?|按)(?P<zh>{_NAMED})"
)
#: Asks who is hit, and for no number.
_HIT = re.compile(
    r"(?i)\bwh(?:ich|at)\b.{0,40}\b(?:affected|impacted|failing|failed|broken|hit|unhealthy)\b|哪.{0,12}(?:受影响|出错|故障|失败)"
)
_ENTITY = tuple((name, re.compile(rf"(?i){pattern}")) for name, pattern in _ENTITIES)


def entity_of(request: str) -> str:
    """Return the kind of entity that a request names first, or nothing."""
    return next((name for name, pattern in _ENTITY if pattern.search(request)), "")


def entity_pattern(entity: str) -> str:
    """Return the expression for the words that name a kind."""
    return dict(_ENTITIES).get(entity, re.escape(entity))


def counts_entities(request: str) -> bool:
    """Tell whether a request asks how many of a kind there are."""
    return bool(_HOW_MANY.search(request))


def each_of(request: str) -> tuple[str, str]:
    """Return by what a request wants a number for each, and the request without that; empty where it does not."""
    each = _EACH.search(request)
    if each is None:
        return "", request
    head, by, _ = each[0].partition(" by ")
    entity = each["field"] or entity_of(each["of"] or each["zh"])
    return entity, request.replace(each[0], f"{head} " if by else " ")


def asks_who_is_hit(request: str) -> bool:
    """Tell whether a request asks which of a kind the trouble is at."""
    return bool(_HIT.search(request))
