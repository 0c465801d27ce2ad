"""Records that loggers write as XML: log4j, java.util.logging, Windows events; pure."""

from __future__ import annotations

import re

_ELEMENT = re.compile(r"\s{0,8}<(?:\w{1,20}:)?(?:[Ee]vent|[Rr]ecord|[Ll]og[Ee]ntry)[\s>]")
_ATTRIBUTE = re.compile(r"\b([A-Za-z]\w{0,40})=(?:\"([^\"]{0,2000})\"|'([^']{0,2000})')")
#: An element without elements inside, or with text that is not markup.
_LEAF = re.compile(
    r"<(?:\w{1,20}:)?(\w{1,40})([^<>]{0,400})>(?:<!\[CDATA\[((?:[^\]]|\](?!\]>)){0,100000})\]\]>|([^<>]{0,20000}))</"
)
_INSTANT = re.compile(r"<Instant epochSecond=\"(\d{1,12})\" nanoOfSecond=\"(\d{1,9})\"")
_PROVIDER = re.compile(r"<Provider Name=[\"']([^\"']{1,200})")
_ENTITIES = {"&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&amp;": "&"}
_ENTITY = re.compile("|".join(_ENTITIES))
#: Levels of Windows events; 0 is told of always.
_WINDOWS = {"0": "info", "1": "critical", "2": "error", "3": "warning", "4": "info", "5": "verbose"}
#: What is looked at of one record.
_LOOKED_AT = 200_000


def fields_of(text: str) -> dict[str, str]:
    """Return attributes and texts of a record by their names, the first of each; nothing where it is none."""
    if _ELEMENT.match(text) is None:
        return {}
    fields: dict[str, str] = {}
    values = []
    for found in _LEAF.finditer(text, 0, _LOOKED_AT):
        value = found[3] if found[3] is not None else _plain(found[4])
        if found[1] == "Data":
            values.append(value)
        elif value.strip():
            fields.setdefault(found[1], value.strip())
    for found in _ATTRIBUTE.finditer(text, 0, _LOOKED_AT):
        fields.setdefault(found[1], _plain(found[2] or found[3] or ""))
    if instant := _INSTANT.search(text):
        fields["timestamp"] = f"{instant[1]}.{instant[2]:0>9}"
    return _of_windows(fields, text, values) if "SystemTime" in fields else _named(fields)


def _of_windows(fields: dict[str, str], text: str, values: list[str]) -> dict[str, str]:
    provider = _PROVIDER.search(text)
    told = " ".join(" ".join(values).split())
    message = fields.get("Message") or f"Event {fields.get('EventID', '')} {told}".strip()
    return {
        "timestamp": fields["SystemTime"],
        "level": _WINDOWS.get(fields.get("Level", ""), ""),
        "service": provider[1] if provider else "",
        "host": fields.get("Computer", ""),
        "message": message,
    }


def _named(fields: dict[str, str]) -> dict[str, str]:
    lower = {name.lower(): value for name, value in fields.items()}
    if "throwable" in lower:
        lower["exception"] = lower.pop("throwable")
    return lower


def _plain(text: str) -> str:
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]], text) if "&" in text else text
