"""Which service a question names: what mended one service is no remedy for another."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum

from memory_service import lexical

#: Parts of names that name nothing by themselves.
_KINDS = frozenset(
    word for kind in ("service", "svc", "server", "app", "api") for word in lexical.tokens(kind, query=False)
)
#: `inventory service`, `why does catalog return 503`, `search is down`: a service, whether a memory knows it or not.
_SAID = re.compile(
    r"\b(?P<called>[\w.]+(?:-[\w.]+)*)[ -](?:service|svc|server)\b"
    r"|\bwhy (?:does|did|is|was) (?:the |our |my )?(?P<asked>[\w.-]+) "
    r"(?:return|fail|answer|respond|reject|crash|time|slow|down|not|so|keep)\b"
    r"|\b(?P<told>[\w.-]+) (?:returns|fails|crashes|rejects|times out|is (?:down|slow|failing))\b",
    re.IGNORECASE,
)
#: `the service`, `why is it slow`, `the request fails`: none of them.
_NO_NAMES = frozenset(
    "the a an this that our my your which what each every any one no all other another same failing failed broken slow "  # noqa: SIM905 as in lexical
    "affected dead down new old restart stop start of and to in for it he she who everything something nothing there "
    "request call query connection disk pool deploy deployment job test build page site index system".split()
)


class Named(StrEnum):
    """Whose name a question says, seen from a memory about one service."""

    own = "own"
    other = "other"
    none = "none"


def named(question: str, service: str, known: Iterable[str]) -> Named:
    """Return whether a question names a service, or another one: one of `known`, or what it calls a service."""
    if _says(question, service):
        return Named.own
    said = {str(match[match.lastgroup or 0]).casefold() for match in _SAID.finditer(question)} - _NO_NAMES
    return Named.other if said or any(_says(question, name) for name in known) else Named.none


def _says(question: str, service: str) -> bool:
    """Return whether a question says a name whole, or all parts of it that name something, each as a word."""
    whole, *parts = lexical.tokens(service, query=False) or [""]
    if whole in lexical.tokens(question, query=False):
        return True
    # `web-frontend` says no part of `web-server`
    words = {told[0] for word in question.split() if (told := lexical.tokens(word, query=False))}
    telling = [part for part in parts if part not in _KINDS]
    return bool(telling) and all(part in words for part in telling)
