"""Which severe lines are alarms: what failed, not what was dumped after it, mended, or asked for wrongly; pure."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.kinds import kind_of
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import PARTS, Group, Summary
from agents.log_analysis.scanning.table import Row

#: From this score on a template's lines are alarms.
ALARM = 0.7

#: What each fact adds. Set by what the facts mean; the sum of one severe word and nothing against it is an alarm.
_LEVELS = {Level.fatal: 1.0, Level.error: 0.8, Level.warning: 0.2}
_ALONE = 0.8
_UNLEVELLED = 0.45
_SAYS_FAILURE = 0.3
_DUMP = -0.9
_MENDED = -0.9
_ASKED_WRONGLY = -0.75
_NAMED = 0.1
_LESSER = -0.45
_TRICKLE = -0.45
_TRICKLE_FATAL = -0.2

#: So many templates shaped like a dump make a dump: one `label: 0x10` alone may be the message.
_DUMP_LINES = 3
#: A log in which fatal lines outnumber errors so many times calls failures fatal, and means less by error.
_FATAL_SHARE = 2.0
#: Where most lines name no level, one of these that says it failed may be as bad as any.
_UNNAMED = (Level.unknown, Level.warning)
#: A trickle is told from so many lines on.
_TRICKLE_LINES = 8

_FAILURE = re.compile(
    r"(?i)\b(?:fail\w*|error\w*|panic\w*|exception\w*|terminat\w*|refus\w*|reset by|sever(?:ed|ing)|los[te]\w*"
    r"|timed? ?out|timeout\w*|corrupt\w*|abort\w*|crash\w*|unreachable|unavailable|cannot|can ?not|could ?n[o']t|unable"
    r"|died|dead|killed|broken|exhaust\w*|invalid|uncorrectable|fault\w*|assert\w*|violat\w*|denied|overflow\w*|stopp(?:ed|ing)"
    r"|full|offline|parity|rejecting|evict(?:ed|ing)|critical|degraded|stuck|hung)\b"
    r"|\bnot (?:running|responding)\b|\bno (?:response|answer)\b|失败|错误|异常|超时|拒绝|崩溃|中断"
)
#: `enable......0`, and `name: 0x10`, and `r1=0x10 r2=0x20`: values of a state, written down after something failed.
_LEADER = re.compile(r"[\w)] ?\.{2,} ?(?:\S{1,24}|\S{1,12} \([^)]{1,12}\))$")
_LABELLED = re.compile(r"^[A-Za-z][\w /().-]{1,48}[:=] ?(?:0x[0-9a-fA-F]+|[0-9a-fA-F]{4,16}|\d+)?$")
_PAIR = re.compile(r"^[\w.]{1,12}[:=](?:0x)?[0-9a-fA-F]{1,16}[,;]?$|^(?:0x)?[0-9a-fA-F]{4,16}[,;]?$")
#: Told as it was before, or as it should be again.
_WELL = re.compile(
    r"(?i)\b(?:corrected|recovered|restored|resolved|reconnected|healed|cleared|succeeded|successful(?:ly)?)\b"
    r"|\b(?:no|0|zero|without) (?:[\w/-]+ ){0,2}(?:alerts?|errors?|failures?|faults?|problems?|warnings?)\b"
    r"|\bis (?:now )?(?:ok|up|healthy|normal)\b|已恢复|恢复正常"
)
_NOT_WELL = re.compile(
    r"(?i)\b(?:not|never|un|could ?n[o']t|cannot|unable|fail\w*)\b.{0,24}(?:correct|recover|restor|resolv|succe)"
    r"|uncorrect"
)
#: What was asked for does not exist, may not be used, or is not of the right sort: the one who asked is at fault.
_CALLERS = re.compile(
    r"(?i)no such (?:file|directory|key|object|user|page)"
    r"|(?:file|page|object|resource|directory) (?:does not exist|not found)"
    r"|authentication fail|failed password|invalid user|permission denied"
    r"|(?:access|directory index) (?:is )?(?:forbidden|denied)|forbidden by rule|exec format error"
    r"|\btoo (?:big|large|long)\b|\bis a directory|not a directory|file exists|name too long"
    r"|bad (?:request|file descriptor)"
    r"|block device required"
    r"|\b(?:invalid|illegal|malformed|unsupported) (?:argument|request|uri|url|method|option|query|user)"
    r"|\bE(?:NOENT|ACCES|PERM|NOEXEC|ISDIR|NOTDIR|EXIST|INVAL)\b"
)
#: Files that belong to a service and not to a job or a user of it.
_OWN_FILES = re.compile(
    r"(?:^|[\s\"'=:(])/(?:etc|usr|var|run|lib|boot|sys|proc|dev|opt)/|\.(?:conf|cfg|ya?ml|ini|toml|properties|pem|crt|key|sock|so)\b"
)
_TO_LEVEL = re.compile(
    r"^.{0,120}?\b(?:FATAL|ERROR|CRITICAL|SEVERE|FAILURE|ALERT|EMERG|WARN(?:ING)?)\b[\s:|\])-]+"
)
ASKED_WRONGLY = "what was asked for was wrong: the fault of one caller, not of the service"
TRICKLES = "it trickles through the whole log, so it is hardly what changed"


@dataclass(frozen=True, kw_only=True)
class Alarm:
    """One severe template with its verdict: `reasons` speak for it, `against` against it."""

    template: int
    count: int
    level: Level
    score: float
    first: Row
    last: Row
    reasons: tuple[str, ...] = ()
    against: tuple[str, ...] = ()

    @property
    def raised(self) -> bool:
        """Tell whether its lines are alarms."""
        return self.score >= ALARM


def alarms(scan: Scan, summary: Summary) -> list[Alarm]:
    """Return a verdict on each severe template, the surest alarms first; `raised` parts alarms from the rest.

    Templates that merely got more or fewer are not judged here (see `changes_of`), nor are silences.
    """
    # a line that names no level is given a warning for its words: those and no level are both unlevelled
    levelled = 2 * summary.levels[Level.unknown] <= summary.events
    severe = [g for g in summary.groups.values() if _severe(scan, g, levelled=levelled)]
    dumped = sum(is_dump(scan.profiles[g.template].message) for g in severe) >= _DUMP_LINES
    lesser = summary.levels[Level.fatal] > _FATAL_SHARE * summary.levels[Level.error]
    found = [
        _judged(scan, summary, group, dumped=dumped, lesser=lesser, levelled=levelled) for group in severe
    ]
    return sorted(found, key=lambda a: (-a.score, a.first.file, a.first.line))


def _severe(scan: Scan, group: Group, *, levelled: bool) -> bool:
    kind = scan.profiles[group.template].kind
    if not levelled and group.level in _UNNAMED and _FAILURE.search(scan.profiles[group.template].message):
        return True
    return group.level >= Level.error or (kind is not None and kind.alone and group.level != Level.debug)


def _judged(
    scan: Scan, summary: Summary, group: Group, *, dumped: bool, lesser: bool, levelled: bool
) -> Alarm:
    message = scan.profiles[group.template].message
    score, reasons, against = severity(message, group.level, dumped=dumped, levelled=levelled)
    if lesser and group.level == Level.error:
        score += _LESSER
        against += ("this log calls its failures fatal, and this line only an error",)
    if is_trickle(group, summary):
        score += _TRICKLE_FATAL if group.level >= Level.fatal else _TRICKLE
        against += (TRICKLES,)
    return Alarm(
        template=group.template,
        count=group.count,
        level=group.level,
        score=round(score, 2),
        first=group.first,
        last=group.last,
        reasons=reasons,
        against=against,
    )


def severity(
    message: str, level: Level, *, dumped: bool, levelled: bool = True
) -> tuple[float, tuple[str, ...], tuple[str, ...]]:
    """Return how much a message sounds like an alarm, and what speaks for and against it."""
    reasons, against = [f"level {level.name}"], []
    kind = kind_of(message)
    score = _LEVELS.get(level, 0.0)
    if kind and level >= Level.error:
        score += _NAMED
    elif kind and kind.alone:
        score = _ALONE
        reasons = [f"it names a cause: {kind.label.lower()}"]
    elif not levelled and level in _UNNAMED:
        score = _UNLEVELLED
    if dumped and is_dump(message):
        return score + _DUMP, tuple(reasons), ("one line of a dump: it shows a state after the failure",)
    if _FAILURE.search(message):
        score += _SAYS_FAILURE
        reasons.append("it says that something failed")
    if well(message):
        score += _MENDED
        against.append("it says that all is well, or well again")
    elif _CALLERS.search(message) and not _OWN_FILES.search(message):
        score += _ASKED_WRONGLY
        against.append(ASKED_WRONGLY)
    return score, tuple(reasons), tuple(against)


def well(message: str) -> bool:
    """Tell whether a message says that all is well, or well again."""
    return bool(_WELL.search(message)) and not _NOT_WELL.search(message)


def is_dump(message: str) -> bool:
    """Tell whether a message is a label with a value, or a row of registers, and no sentence."""
    text = _TO_LEVEL.sub("", message[:200]).strip()
    if _LEADER.search(text) or _LABELLED.match(text):
        return True
    words = text.split()
    pairs = sum(1 for word in words if _PAIR.match(word))
    return pairs > 1 and pairs * 4 >= len(words) * 3


def is_trickle(group: Group, summary: Summary) -> bool:
    """Tell whether a template comes evenly through the whole window, in the numbers chance would spread it."""
    if group.count < _TRICKLE_LINES or summary.start is None or summary.end is None:
        return False
    window = summary.end - summary.start
    if window <= 0 or math.isnan(group.first.time) or math.isnan(group.last.time):
        return False
    early = group.first.time - summary.start <= window / 4
    late = summary.end - group.last.time <= window / 4
    expected = PARTS * (1 - (1 - 1 / PARTS) ** group.count)
    filled = sum(1 for n in group.parts if n)
    usual = max(1.0, group.count / PARTS)
    return early and late and filled >= 0.7 * expected and max(group.parts) <= usual + 4 * math.sqrt(usual)
