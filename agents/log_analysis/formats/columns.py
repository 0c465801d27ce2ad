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
#: What a line has that may tell the status of a request.
REQUEST = ('"', "tatus", "HTTP/", "TCP_")
#: Statuses of requests where they stand in lines of proxies and balancers.
STATUS = re.compile(
    r"\" (\d{3}) (?:\d+|-)|\bstatus[:=] ?\"?(\d{3})\b|HTTP/[\d.]{1,3}\"?\)? (\d{3})\b|\bTCP_[A-Z_]{1,40}/(\d{3}) "
    r"|\| (\d{3}) \| |(?:-1|\.\d{3,6}) (\d{3}) (?:\d{3}|-|0) \d{1,20} \d{1,20} \"[A-Z]"  # before the target's
    r"|(?: -?\d{1,9}){0,1}(?:/[+-]?\d{1,9}){4} (\d{3}) \+?\d{1,20} "  # HAProxy: five times, then the status
)
