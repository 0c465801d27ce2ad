"""Where a level or a status is told by its place among other columns: patterns of such lines; pure."""

from __future__ import annotations

import re

#: Letters and words that are the level whatever is said after them, as logcat, MongoDB, WebSphere, the unified log of
#: macOS and `dmesg -x` write. They stand first, or after the time.
COLUMN = re.compile(
    r"\s{1,4}\d{1,7}\s{1,6}\d{1,7}\s([VDIWEF])\s|\s?([VDIWEF])/[^\s(:/]{2,60}\s{0,8}\(\s{0,8}\d{1,7}\):"
    r"|\s\d{1,7}-\d{1,7}/\S{1,80} ([VDIWEF])/|\s([DIWEF])\s{1,2}[A-Z-]{1,10}\s{1,9}\["
    r"|\]?\s[0-9a-f]{8}\s[\w.$-]{1,40}\s{1,12}([AIWEFODC])\s{1,4}\w"
    r"|\s0x[0-9a-f]{1,16}\s{1,12}(Default|Info|Debug|Error|Fault)\s{1,12}0x"
    r"|[a-z]{3,8}\d?\s{0,4}:(emerg|alert|crit|err|warn|notice|info|debug)\s{0,4}:"
)
#: Severities of network devices: `%LINK-3-UPDOWN:`, `%%01IFNET/4/LINK_STATE`.
DEVICE = re.compile(r"%[A-Z]\w{1,30}(?:-[A-Z]\w{0,20})?-([0-7])-\w{2,50}:|%%\d\d[A-Z]\w{1,30}/([0-7])/")
#: The sign by which Redis tells its level, between the time and the message; its process stands before the time.
#: It puts `#` before warnings and before what it only wants to be seen: there the words decide.
REDIS = re.compile(r"(?:\d{1,10}:[A-Z]|\[\d{1,10}\]) $")
REDIS_SIGNS = {" . ": "debug", " - ": "debug", " * ": "info"}
#: Statuses of requests: as servers write them, of caches, after the times of HAProxy, between bars, and of balancers,
#: which name their own before that of the target and the request.
_STATUS = re.compile(r"\" (\d{3}) (?:\d+|-)|\bstatus[:=] ?\"?(\d{3})\b|HTTP/[\d.]{1,3}\"?\)? (\d{3})\b")
_CACHE = re.compile(r"\bTCP_[A-Z_]{1,40}/(\d{3}) ")
_TIMES = re.compile(r"(?<=/)[+-]?\d{1,9} (\d{3}) \+?\d{1,20} ")
_BARS = re.compile(r"\| (\d{3}) \| ")
_BALANCER = re.compile(r" (\d{3}) (?:\d{3}|-|0) \d{1,20} \d{1,20} \"[A-Z]")
_SLASHES, _AT_BARS, _AT_BALANCER = 6, 60, 60


def status_of(text: str) -> int:
    """Return the status of a request that a line tells of, or 0."""
    quote = text.find('"')
    found = None
    if quote >= 0 or "tatus" in text or "HTTP/" in text:
        found = _STATUS.search(text)
        if found is None and quote >= 0:
            found = _BARS.search(text, 0, _AT_BARS) or _BALANCER.search(
                text, max(0, quote - _AT_BALANCER), quote + 2
            )
    elif "TCP_" in text:
        found = _CACHE.search(text)
    if found is None and quote >= 0 and text.count("/") >= _SLASHES:
        found = _TIMES.search(text)
    return int(found[found.lastindex or 1]) if found else 0
