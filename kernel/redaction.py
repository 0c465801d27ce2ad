"""Redaction: replaces secrets and personal values by stable placeholders, in one linear-time pass."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import quote

import re2

from kernel.redaction_checks import PLACEHOLDER, accept_keyed
from kernel.redaction_rules import FINDER, RULES

#: Hex digits of a placeholder: 24 bits keep a run's values apart and give away nothing useful of them.
_DIGEST_LENGTH = 6
#: A secret shorter than this would mask parts of ordinary words.
_MIN_SECRET = 4
#: JSON inside JSON inside JSON …: deeper than this is handled as plain text.
_MAX_DEPTH = 12
#: Past this length a JSON text is not parsed: the pass over plain text still finds what is in it.
_MAX_JSON = 1_000_000

#: One of these took part in a match; last in the pattern are the numbers, by far the most frequent in logs.
_GROUPS = [(name, FINDER.groupindex[name]) for name in reversed(RULES)]
_KEY_GROUP = FINDER.groupindex["key"]

#: Rules whose refused value is prose, in which another candidate may begin.
_IN_PROSE = ("told", "said", "bare")

#: A phone number sent as a JSON number has eleven digits.
_LEAST_PERSONAL = 10**10

_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
#: A key whose value is hidden whatever it is; `tokens`, `token_count` and `max_tokens` are counts.
_KEY = re.compile(
    r"(?:^|[_\-. ])(?:pass(?:word|wd|phrase|code)s?|pwd|secrets?|token|api_?-?keys?|access_?-?keys?(?:_?id)?|"
    r"secret_?-?keys?|private_?-?keys?|signing_?-?key|authorization|credentials?|(?:set-)?cookies?|"
    r"密码|口令|令牌|密钥)$"
)
#: What makes it worth parsing a JSON text: a key as above (the value may be a number or a list) or an escape.
_JSON_TRIGGER = re2.compile(
    r"(?i)(?:pass(?:word|wd|phrase|code)|pwd|secret|token|key|authorization|credential|cookie|密码|口令|令牌|密钥)"
    r's?(?:_?id)?\\*"|\\u00'
)


def is_secret_key(key: str) -> bool:
    """Return whether a mapping's key says that its value is a secret."""
    return _KEY.search(_CAMEL.sub("_", key).lower()) is not None


class Redactor:
    """Hides `secrets` by value, and everything that looks like a secret or like personal data.

    The same value gets the same placeholder within one `salt`, so that joins over redacted lines still
    work; another salt gives another placeholder. Redacting twice changes nothing.
    """

    def __init__(self, secrets: Sequence[str] = (), salt: bytes = b"") -> None:
        self._salt = salt or b"nightdesk"  # HMAC takes no empty key
        forms: set[str] = set()
        for secret in secrets:
            if len(secret) >= _MIN_SECRET:
                forms |= {secret, quote(secret, safe=""), json.dumps(secret)[1:-1]}
                forms.add(json.dumps(secret, ensure_ascii=False)[1:-1])
        self._secrets = sorted(forms, key=len, reverse=True)

    def text(self, text: str) -> str:
        """Return `text` with what must not be seen replaced; with nothing to hide it comes back as it is."""
        return self._text(text, 0)

    def value(self, value: Any) -> Any:
        """Return a copy of a JSON-like value, redacted in every string and under every secret key."""
        return self._value(value, 0)

    def placeholder(self, kind: str, value: str) -> str:
        """Return the stable stand-in of a value."""
        mark = hmac.new(self._salt, f"{kind}\0{value}".encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"<{kind.upper()}:{mark.hexdigest()[:_DIGEST_LENGTH]}>"

    def _text(self, text: str, depth: int) -> str:
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, self.placeholder("secret", secret))
        if depth < _MAX_DEPTH and text[:200].lstrip()[:1] in ("{", "["):
            text = self._json(text, depth)
        return _replace(text, self.placeholder)

    def _json(self, text: str, depth: int) -> str:
        if len(text) > _MAX_JSON or not _JSON_TRIGGER.search(text.encode("utf-8", "surrogatepass")):
            return text
        try:
            parsed = json.loads(text)
        except (ValueError, RecursionError):
            return text
        hidden = self._value(parsed, depth + 1)
        return text if hidden == parsed else json.dumps(hidden, ensure_ascii=False)

    def _value(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self._text(value, depth)
        if depth > _MAX_DEPTH and isinstance(value, dict | list | tuple):
            return self._text(repr(value), depth)
        if isinstance(value, dict):
            return {self._name(k): self._entry(k, v, depth + 1) for k, v in value.items()}
        if isinstance(value, list | tuple):
            return [self._value(v, depth + 1) for v in value]
        if isinstance(value, int) and value >= _LEAST_PERSONAL:
            text = self._text(str(value), depth)
            return value if text == str(value) else text
        return value

    def _name(self, key: Any) -> Any:
        return _replace(key, self.placeholder) if isinstance(key, str) else key

    def _entry(self, key: Any, value: Any, depth: int) -> Any:
        if not isinstance(key, str) or value is None or isinstance(value, bool) or not is_secret_key(key):
            return self._value(value, depth)
        if isinstance(value, dict):
            return self._value(value, depth)
        if isinstance(value, list | tuple):
            return [self._entry(key, item, depth) for item in value]
        text = str(value)
        counts = "token" in key.lower() and not isinstance(value, str)
        if counts or not text or PLACEHOLDER.fullmatch(text):
            return value
        return self.placeholder("secret", text)


def _replace(text: str, placeholder: Callable[[str, str], str]) -> str:
    """Run the one pass: candidates from a linear-time automaton, then a validator for each."""
    data = text.encode("utf-8", "surrogatepass")
    found = FINDER.search(data)
    if found is None:
        return text
    pieces: list[bytes] = []
    done = 0
    while found is not None:
        name, start, end = next((n, *found.span(i)) for n, i in _GROUPS if found.start(i) >= 0)
        kind = RULES[name].kind
        if name.startswith("keyed"):
            hidden = accept_keyed(data, found.group(_KEY_GROUP), start, end)
        else:
            hidden = RULES[name].accept(data, start, end)
        if hidden is not None:
            end, normal = hidden
            pieces += [data[done:start], placeholder(kind, normal).encode()]
            done = end
        elif name.startswith("keyed") or name in _IN_PROSE:
            end = max(start, found.start() + 1)  # the value itself may hold another candidate
        found = FINDER.search(data, max(end, found.start() + 1))
    pieces.append(data[done:])
    return b"".join(pieces).decode("utf-8", "surrogatepass")
