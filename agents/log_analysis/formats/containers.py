"""Frames that container runtimes and tools put round a line: CRI, docker compose, kubectl; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_CRI = re.compile(r"^(\S{19,40}) (stdout|stderr) ([FP])(?::\S{0,40})?(?: (.*))?$", re.DOTALL)
_COMPOSE = re.compile(r"^([A-Za-z0-9][\w.-]{0,60}) {0,60}\| ?")
_KUBECTL = re.compile(r"^\[(?:pod/)?([\w.-]{1,253})[/ ]([\w.-]{1,253})\] ")
#: kubectl --timestamps and docker logs -t write nine digits, and nothing else does.
_STAMPED = re.compile(r"^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}(?:Z|[+-]\d\d:\d\d)) ", re.ASCII)
#: A row of a table on a screen also has bars.
_BARS = 2


@dataclass(slots=True)
class Frame:
    """What stood round a line: which kind, the text inside, its time as text, the output it came from."""

    form: str
    inner: str
    time: str = ""
    stream: str = ""
    service: str = ""
    part: bool = False


def frame(text: str) -> Frame | None:
    """Return the frame of a line, or None where it has none."""
    head = text[:64]
    if (" stdout " in head or " stderr " in head) and (found := _CRI.match(text)):
        return Frame("cri", found[4] or "", found[1], found[2], part=found[3] == "P")
    if head[:1] == "[":
        if found := _KUBECTL.match(text):
            if not head.startswith("[pod/") and "/" not in found[0]:
                return None
            rest = text[found.end() :]
            stamped = _STAMPED.match(rest)
            inner = rest[stamped.end() :] if stamped else rest
            return Frame("kubectl", inner, stamped[1] if stamped else "", f"{found[1]}/{found[2]}", found[1])
        return None
    if "|" in head and head.count("|") <= _BARS and (found := _COMPOSE.match(text)):
        rest = text[found.end() :]
        stamped = _STAMPED.match(rest)
        inner = rest[stamped.end() :] if stamped else rest
        return Frame("compose", inner, stamped[1] if stamped else "", found[1], found[1])
    if text[10:11] == "T" and (found := _STAMPED.match(text)):
        return Frame("kubectl", text[found.end() :], found[1])
    return None
