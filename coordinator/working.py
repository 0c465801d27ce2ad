"""The slots of a request, pure: what is asked, where, when, and which identifiers it names; data, never a rule."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from kernel.contracts import Request

#: A request is a sentence or two; an alert with a log in it is cut rather than read to its end.
_READ_CHARACTERS = 4000
_WHAT_CHARACTERS, _PIECE_CHARACTERS, _PIECES_MOST = 240, 120, 12

#: Labels that say where, in this order (Prometheus, Kubernetes, and what people type).
PLACES = (
    *(
        "service",
        "app",
        "job",
        "component",
        "deployment",
        "statefulset",
        "container",
        "pod",
        "host",
        "hostname",
    ),
    *("node", "instance", "server", "cluster", "region", "zone", "datacenter"),
)
#: Labels that say when, and those that hold an identifier.
_MOMENTS = ("starts_at", "startsat", "ends_at", "endsat", "since", "until", "at", "time")
_NAMES = ("alertname", "fingerprint", "request_id", "trace_id", "incident", "ticket")

_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")
#: "service checkout", "the checkout service", "主机 db-1", "checkout 服务", "checkoutサービス".
_KIND = r"(?:service|server|host|node|pod|container|deployment|cluster|database|queue)"
_KIND_CJK = r"(?:服务器|服务|主机|节点|容器|集群|数据库|サービス|サーバー?|ホスト)"
_NAME = r"(?<![\w.\-])[A-Za-z][\w.\-]{0,60}[A-Za-z0-9]"
_WHERE = re.compile(
    rf"\b{_KIND}\s+[\"'`]?(?P<after>{_NAME})"
    rf"|\bthe\s+(?P<before>{_NAME})\s+{_KIND}\b"
    rf"|{_KIND_CJK}\s*[:：「\"]?\s*(?P<cjk_after>{_NAME})"
    rf"|(?P<cjk_before>{_NAME})\s*(?:的)?{_KIND_CJK}",
    re.ASCII,
)
#: Words that follow "service" and name none.
_NO_NAME = re.compile(
    r"is|are|was|were|has|have|had|and|or|the|an?|in|on|at|of|to|for|from|with|does|did|do|down|up|returns?|fail(?:s|ed)"
    r"|died|restarted|crashed|keeps|says|logs?|since|after|before|when|which|that|this|it|not",
    re.IGNORECASE,
)
_HOST = re.compile(r"(?<![\w./@-])(?:[a-z0-9](?:[a-z0-9\-]*[a-z0-9])?\.)+[a-z]{2,}(?![\w/-])", re.IGNORECASE)
#: Endings of names that are files, not hosts.
_FILES = (".log", ".gz", ".txt", ".json", ".yaml", ".yml", ".conf", ".py", ".csv", ".xml", ".service")

_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d)?(?:[.,]\d+)?"
_ZONE = r"(?:\s?(?:Z|UTC|GMT|[+\-]\d\d:?\d\d))?"
_STAMP = rf"(?:\d{{4}}-\d\d-\d\d(?:[T ]{_CLOCK})?|{_CLOCK}){_ZONE}"
_CJK_HOUR = r"(?:凌晨|早上|上午|中午|下午|晚上|午前|午後)?\s?\d{1,2}(?:点|點|時)(?:半|\d{1,2}分)?"
_UNIT = r"(?:s|sec|seconds?|m|min|minutes?|h|hours?|d|days?|weeks?)"
_WHEN = re.compile(
    rf"(?:(?:between|from)\s+)?{_STAMP}\s*(?:-|–|to|until|till|and|bis|到|至|から)\s*{_STAMP}"
    rf"|{_STAMP}"
    rf"|\b(?:in |over |for )?(?:the )?(?:last|past)\s+(?:\d{{1,6}}\s*)?{_UNIT}\b"
    rf"|\b\d{{1,6}}\s*{_UNIT}\s+ago\b|\bsince\s+(?:yesterday|today|this morning|last night|noon|midnight|\w+day)\b"
    r"|\b(?:yesterday|today|tonight|this morning|last night|last week|this week)\b"
    rf"|(?:昨天|今天|前天|昨晚|今晚|今早|昨日|今日|今朝)?\s?{_CJK_HOUR}(?:\s?(?:到|至|から|-|~|〜)\s?{_CJK_HOUR})?"
    r"|(?:过去|最近|近|過去)\s?\d{1,6}\s?(?:个)?(?:秒|分钟|分間?|小时|時間|天|日間?|周|週間)"
    r"|(?<!\d)\d{1,6}\s?(?:分钟|小时|天|時間|分|日)(?:前|以来)"
    r"|昨天|今天|前天|昨晚|今晚|今早|昨日|今日|今朝",
    re.IGNORECASE,
)

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"
_IDS = (
    re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE | re.ASCII),  # UUIDs
    re.compile(
        rf"(?<![\w.]){_OCTET}(?:\.{_OCTET}){{3}}(?::\d{{1,5}})?(?![\w.]\d)", re.ASCII
    ),  # IPv4, with a port
    re.compile(
        r"(?<![\w:])(?:[0-9a-f]{1,4}:){2,7}:?[0-9a-f]{1,4}(?![\w:])", re.IGNORECASE | re.ASCII
    ),  # IPv6
    re.compile(r"(?<![\w/.:])/(?:[\w.\-@]+/)*[\w.\-@]*\w", re.ASCII),  # paths
    re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b", re.ASCII),  # ERR_123
    re.compile(r"\b[A-Z]{2,10}-\d+\b", re.ASCII),  # OPS-1234
    re.compile(r"(?<![\w-])[a-z][a-z0-9]*(?:-[a-z0-9]+)*-\d+(?![\w-])", re.ASCII),  # node-7, web-eu-3
    re.compile(
        r"\b(?:req|request|trace|span|txn|order|user|session)[_-]?(?:id)?[=:_-]\s?[\w-]{4,}", re.ASCII
    ),
    re.compile(
        r"\b(?=[0-9a-f]{0,64}\d)(?=[0-9a-f]{0,64}[a-f])[0-9a-f]{8,64}\b", re.ASCII
    ),  # hashes, trace ids
)


def slots_of(request: Request) -> dict[str, Any]:
    """Return the slots `what`, `where`, `when` and `ids` of a request; a slot of which nothing is said is left out."""
    text = request.text[:_READ_CHARACTERS]
    labels = {name.casefold(): value for name, value in request.labels.items()}
    found = {
        "what": _what(text),
        "where": _pieces(
            [*_labelled(labels, PLACES), *(source.name for source in request.sources), *_places(text)]
        ),
        "when": _pieces([*_labelled(labels, _MOMENTS), *(match[0] for match in _WHEN.finditer(text))]),
        "ids": _pieces([*_labelled(labels, _NAMES), *_identifiers(text)]),
    }
    return {name: value for name, value in found.items() if value}


def _what(text: str) -> str:
    """Return the first sentence: what people put first is what they want."""
    first = next((part for part in map(str.strip, _SENTENCE.split(text)) if part), "")
    line = " ".join(first.split())
    return line if len(line) <= _WHAT_CHARACTERS else f"{line[:_WHAT_CHARACTERS]}…"


def _labelled(labels: dict[str, str], names: Iterable[str]) -> list[str]:
    return [labels[name] for name in names if labels.get(name)]


def _places(text: str) -> list[str]:
    found = [(match.start(), next(filter(None, match.groups()))) for match in _WHERE.finditer(text)]
    named = [(at, name) for at, name in found if not _NO_NAME.fullmatch(name)]
    hosts = [
        (match.start(), match[0])
        for match in _HOST.finditer(text)
        if not match[0].casefold().endswith(_FILES)
    ]
    return [name for _, name in sorted(named + hosts)]


def _identifiers(text: str) -> list[str]:
    """Return identifiers in the order of the text; of two that overlap the longer one."""
    found = [(match.start(), match.end(), match[0]) for shape in _IDS for match in shape.finditer(text)]
    taken: list[tuple[int, int, str]] = []
    for start, end, name in sorted(found, key=lambda span: (span[0] - span[1], span[0])):
        if all(end <= other[0] or start >= other[1] for other in taken):
            taken.append((start, end, name))
    return [name for _, _, name in sorted(taken)]


def _pieces(found: Iterable[str]) -> list[str]:
    """Return each piece once, in order, as one short line."""
    lines = (" ".join(piece.split())[:_PIECE_CHARACTERS] for piece in found)
    return list(dict.fromkeys(line for line in lines if line))[:_PIECES_MOST]
