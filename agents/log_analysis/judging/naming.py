"""What a line names: addresses, users, nodes, pods, or the value of a field, by shapes that logs share; pure."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence

#: Returns the entities of one line.
Namer = Callable[[str], Sequence[str]]

#: Entities of one line that are looked at, and characters of a line and of a value.
_PER_LINE, _TEXT, _VALUE = 8, 8_000, 120

_IP = re.compile(
    r"(?<![\w.:])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.]*\d)|(?<![\w:.])((?=[\d:]{0,38}[a-f])(?:[0-9a-f]{1,4}:){3,7}[0-9a-f]{1,4}"
    r"|(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}"
    r"|(?=[a-f:]{0,10}\d)(?:[0-9a-f]{1,4}:){0,7}:(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4})(?![\w:.])"
)
_USER = re.compile(
    r"(?i)(?<![A-Za-z])(?:user(?:[_. -]?(?:name|id))?|login|account|logname)"
    r"[\"'\\]{0,3}(?:=|\s?:\s?)[\"'\\]{0,3}([\w.@$+-]{1,64})"
    r"|\b(?:invalid user|for user|user) ([\w.@$+-]{1,64})|\bfor ([\w.@$+-]{1,64}) from\b"
)
_NODE = re.compile(
    r"(?i)(?<![\w-])((?:[a-z]{1,12}-){0,3}(?:node|host|worker|server|rack|instance|broker|vm|blade)[-_]?\d[\w-]{0,30})"
)
_POD = re.compile(
    r"(?i)\bpod(?:[_. -]?name)?[\"'\\]{0,3}\s?[=:/]\s?[\"'\\]{0,3}(?:[a-z0-9-]{1,60}/)?([a-z0-9][a-z0-9.-]{1,80})"
    r"|(?<![\w-])([a-z0-9][a-z0-9-]{1,60}-[0-9a-f]{6,10}-[a-z0-9]{5})(?![\w-])"
)
#: The status of an HTTP answer: by its name, after the protocol, or behind the quoted request of an access log.
_STATUS = re.compile(
    r"(?i)(?<![\w.-])(?:http[_. -]?|response[_. -]?)?status(?:[_. -]?code)?"
    r"[\"'\\]{0,3}\s?[=:]\s?[\"'\\]{0,3}([1-5]\d\d)(?!\w)"
    r"|\bHTTP(?:/\d(?:\.\d)?)?\"? ([1-5]\d\d)(?!\w)|\" ([1-5]\d\d) (?:\d{1,12}|-)(?!\S)"
)
_NO_NAMES = frozenset(
    [
        *("unknown", "from", "by", "is", "was", "has", "with", "not", "null", "none", "nil", "true", "false"),
        *("request", "requests", "agent", "id", "name", "input", "data", "session", "logged", "and", "or"),
        *("in", "on", "the", "a", "uid", "euid", "tty", "ruser", "rhost"),
    ]
)
#: What stands behind `user` as a noun of its own, and is no one's name there; `user=login` may be one.
_OF_USERS = frozenset(
    [
        *(
            "authentication",
            "authorization",
            "authorisation",
            "account",
            "accounts",
            "login",
            "logins",
            "logout",
        ),
        *(
            "sessions",
            "interface",
            "space",
            "mode",
            "defined",
            "profile",
            "profiles",
            "service",
            "error",
            "errors",
        ),
        *(
            "count",
            "password",
            "passwords",
            "credentials",
            "registration",
            "permission",
            "permissions",
            "role",
        ),
        *("roles", "group", "groups", "table", "database", "cache", "limit", "created", "deleted", "updated"),
        *(
            "names",
            "process",
            "space",
            "code",
            "query",
            "queries",
            "does",
            "did",
            "cannot",
            "could",
            "failed",
        ),
    ]
)
#: A field with its value; and fields that say what happened, when, how bad, in what code, and not to whom.
_GIVEN = re.compile(r"[\"']?\b([A-Za-z]\w{1,30})[\"']?\s?[=:]\s?[\"']?([\w.@/-]{1,60})")
_NOT_WHOM = re.compile(
    r"(?i)level|lvl|sever\w*|sev|prio\w*|time\w*|ts|date|msg|message|event|err\w*|exception|reason|cause|status|code|state"
    r"|result|outcome|thread|logger|caller|file|line|pid|method|version|host|service|svc|node|pod|user|ip|https?"
)
#: Such a field stands in so many of the lines, with so many values, nearly all of them more than once.
_GIVEN_BY, _VALUES, _AGAIN = 0.5, 3, 0.9
#: A field's name as a caller may write it.
FIELD = re.compile(r"[A-Za-z_@][\w.@-]{0,60}")
#: A column of names: words with a letter first and a digit in them, nearly everywhere at one place.
#: What opens a line of klog (severity, month, day) is no name.
_NAME_WORD = re.compile(r"(?![DIWEF]\d{4}$)[A-Za-z][\w.:-]{0,60}\d[\w.:-]{0,20}")
_COLUMNS, _IN_COLUMN, _REPEATED, _FEWEST = 10, 0.95, 0.93, 40


def namer(by: str) -> Namer:
    """Return how lines name what is asked: ip, user, node, pod, status, or the value of a field of that name."""
    pattern = {"ip": _IP, "user": _USER, "node": _NODE, "pod": _POD, "status": _STATUS}.get(by)
    if pattern is None:
        return field_namer(by)
    otherwise = field_namer(by) if by == "status" else None

    def names(text: str) -> Sequence[str]:
        found: dict[str, None] = {}
        for match in pattern.finditer(text[:_TEXT]):
            value = match[match.lastindex or 1].rstrip(".-")
            noun = match[0][:5].lower() == "user " and value.lower() in _OF_USERS
            if not noun and value.lower() not in _NO_NAMES and (by != "ip" or ":" in value or _is_ip(value)):
                found[value] = None
                if len(found) >= _PER_LINE:
                    break
        return list(found) or (otherwise(text) if otherwise else [])

    return names


def field_namer(field: str) -> Namer:
    """Return how lines give a field: `"field": "x"`, `field=x`, `field: x`, case ignored."""
    pattern = re.compile(
        rf"(?i)(?<![\w.-]){re.escape(field)}[\"'\\]{{0,3}}\s?[=:]\s?(?:\\?[\"']([^\"'\\]{{0,{_VALUE}}})|([^\s,;&\]\)\}}\"']{{1,{_VALUE}}}))"
    )

    def names(text: str) -> list[str]:
        match = pattern.search(text[:_TEXT])
        value = (match[1] or match[2] or "") if match else ""
        return [value] if value else []

    return names


def shared_fields(texts: Sequence[str]) -> list[str]:
    """Return the fields that most lines give and a few values share: a tenant, a region, a shard."""
    values: dict[str, Counter[str]] = {}
    for text in texts:
        for key, value in dict(_GIVEN.findall(text[:_TEXT])).items():
            values.setdefault(key, Counter())[value] += 1
    found = []
    for key, counts in values.items():
        again = sum(count for count in counts.values() if count > 1)
        often = counts.total() >= _GIVEN_BY * len(texts) and again >= _AGAIN * counts.total()
        if often and len(counts) >= _VALUES and not _NOT_WHOM.fullmatch(key):
            found.append(key)
    return found


def column_namer(texts: Sequence[str]) -> tuple[Namer, int] | None:
    """Return how lines name their origin in a column of its own, and which (from 1), or None.

    Such a column holds a word with a digit in nearly every line; several words occur, and most of them often.
    """
    rows = [text.split(None, _COLUMNS)[:_COLUMNS] for text in texts]
    if len(rows) < _FEWEST:
        return None
    for place in range(_COLUMNS):
        words = [row[place] for row in rows if len(row) > place]
        named = Counter(word for word in words if _NAME_WORD.fullmatch(word))
        if named.total() >= _IN_COLUMN * len(rows) and 1 < len(named) <= _REPEATED * len(rows):
            return (lambda text, n=place: _word(text, n)), place + 1
    return None


def _word(text: str, place: int) -> list[str]:
    words = text.split(None, place + 1)
    return [words[place][:_VALUE]] if len(words) > place and _NAME_WORD.fullmatch(words[place]) else []


def _is_ip(value: str) -> bool:
    return all(int(part) <= 255 for part in value.split("."))  # noqa: PLR2004 - one byte
