"""Which service a question names, and which identifiers are all it says: what is like a name is not what it names."""

from __future__ import annotations

import re
import unicodedata
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


#: A word as it stands: marks at its ends are not its own.
_WORD = re.compile(r"[^\s,;!?()\[\]{}\"'`，。？！；：、（）「」]+")
_DATE = re.compile(r"\d{4}-[01]\d(?:-[0-3]\d)?(?:t[\d:.]*z?)?", re.IGNORECASE)


def identifiers(question: str) -> frozenset[str]:
    """Return the identifiers (ERR_999, 10.0.12.8, node-7) of a question that says nothing else, else none.

    By likeness ERR_123 is next to ERR_999, and 10.0.12.7 to 10.0.12.8; nobody who asks for one means the other.
    """
    words = [_folded(word).strip(".:-") for word in _WORD.findall(question)]
    telling = [word for word in words if lexical.tokens(word, query=True)]
    return frozenset(telling) if all(map(_identifies, telling)) else frozenset()


def holds(text: str, names: Iterable[str]) -> bool:
    """Return whether a text holds one of the identifiers whole: 10.0.12.8 is not in 10.0.12.80."""
    folded = _folded(text)
    return any(re.search(_whole(name), folded) for name in names)


def _identifies(word: str) -> bool:
    odd = any(c.isdigit() for c in word) or any(c in "_/@" for c in word)
    return odd and word.isascii() and not _DATE.fullmatch(word)


def _whole(name: str) -> str:
    return rf"(?<![a-z0-9_])(?<![a-z0-9_][.-]){re.escape(name)}(?![a-z0-9_]|[.-][a-z0-9_])"


def _folded(text: str) -> str:
    return unicodedata.normalize("NFKC", text).casefold()


def _says(question: str, service: str) -> bool:
    """Return whether a question says a name whole, or all parts of it that name something, each as a word."""
    whole, *parts = lexical.tokens(service, query=False) or [""]
    if whole in lexical.tokens(question, query=False):
        return True
    # `web-frontend` says no part of `web-server`
    words = {told[0] for word in question.split() if (told := lexical.tokens(word, query=False))}
    telling = [part for part in parts if part not in _KINDS]
    return bool(telling) and all(part in words for part in telling)
