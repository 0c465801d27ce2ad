"""Redaction: replaces secrets and personal values by stable placeholders, in one linear-time pass."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Iterator, Sequence
from typing import Any
from urllib.parse import quote

import re2

from kernel.redaction_checks import PLACEHOLDER, accept_bare, accept_keyed
from kernel.redaction_disguises import undisguised
from kernel.redaction_numbers import kind_of
from kernel.redaction_rules import FINDER, RULES, allowing, compiled
from kernel.settings import Settings

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

#: Rules whose refused value is prose or an address, in which another candidate may begin.
_IN_PROSE = ("told", "said", "bare", "login")

#: A phone number sent as a JSON number has eleven digits.
_LEAST_PERSONAL = 10**10

_SPLIT = re.compile(f"({PLACEHOLDER.pattern})")
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
    work; another salt gives another placeholder. Redacting twice changes nothing. `deny` are RE2 patterns
    of what is hidden besides; `allow` of values that are shown whatever they look like, where one matches
    the whole value: it shows neither one of `secrets` nor what is denied.
    """

    def __init__(
        self,
        secrets: Sequence[str] = (),
        salt: bytes = b"",
        *,
        allow: Sequence[str] = (),
        deny: Sequence[str] = (),
    ) -> None:
        self._salt = salt or b"nightdesk"  # HMAC takes no empty key
        forms: dict[str, str] = {}
        for secret in secrets:
            if len(secret) >= _MIN_SECRET:
                plain = json.dumps(secret, ensure_ascii=False)[1:-1]
                forms |= dict.fromkeys(
                    (quote(secret, safe=""), json.dumps(secret)[1:-1], plain, secret), secret
                )
        self._secrets = sorted(forms.items(), key=lambda form: -len(form[0]))
        self._allow = [allowing(pattern) for pattern in allow]
        self._deny = [compiled("REDACT_DENY", pattern) for pattern in deny]

    def text(self, text: str) -> str:
        """Return `text` with what must not be seen replaced; with nothing to hide it comes back as it is."""
        return self._text(text, 0)

    def value(self, value: Any) -> Any:
        """Return a copy of a JSON-like value, redacted in every string and under every secret key."""
        return self._value(value, 0)

    def placeholder(self, kind: str, value: str) -> str:
        """Return the stable stand-in of a value."""
        # of the value alone: in whatever place it is found, its digits are the same
        mark = hmac.new(self._salt, value.encode("utf-8", "surrogatepass"), hashlib.sha256)
        return f"<{kind.upper()}:{mark.hexdigest()[:_DIGEST_LENGTH]}>"

    def _text(self, text: str, depth: int) -> str:
        for form, secret in self._secrets:
            if form in text:
                text = text.replace(form, self.placeholder("secret", secret))
        if self._deny:
            text = self._denied(text)
        if depth < _MAX_DEPTH and text[:200].lstrip()[:1] in ("{", "["):
            text = self._json(text, depth)
        return self._plain(text)

    def _denied(self, text: str) -> str:
        """Hide what a pattern of the operator's matches, outside of placeholders."""
        pieces = _SPLIT.split(text)
        for pattern in self._deny:
            pieces[::2] = [self._cut_out(pattern, piece) for piece in pieces[::2]]
            pieces = _SPLIT.split("".join(pieces))
        return "".join(pieces)

    def _cut_out(self, pattern: re2._Regexp, piece: str) -> str:
        data: bytes = pattern.sub(self._hide_match, piece.encode("utf-8", "surrogatepass"))
        return data.decode("utf-8", "surrogatepass")

    def _hide_match(self, match: re2._Match) -> bytes:
        value = match.group().decode("utf-8", "surrogatepass")
        return self.placeholder("denied", value).encode() if value else b""

    def _plain(self, text: str) -> str:
        shown = self._replace(text)
        bare = undisguised(shown)
        if bare == shown:
            return shown
        # what only shows without its disguise is hidden, and the line is left without it
        found = self._replace(bare)
        return shown if found == bare else found

    def _replace(self, text: str) -> str:
        data = text.encode("utf-8", "surrogatepass")
        pieces: list[bytes] = []
        done = 0
        for _, kind, start, end, normal in hits(data):
            if self._allow and self._allowed(data[start:end]):
                continue
            pieces += [data[done:start], self.placeholder(kind, normal).encode()]
            done = end
        if not pieces:
            return text
        pieces.append(data[done:])
        return b"".join(pieces).decode("utf-8", "surrogatepass")

    def _allowed(self, value: bytes) -> bool:
        return any(pattern.fullmatch(value) for pattern in self._allow)

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
        return self._text(key, _MAX_DEPTH) if isinstance(key, str) else key

    def _entry(self, key: Any, value: Any, depth: int) -> Any:
        if not isinstance(key, str) or value is None or isinstance(value, bool) or not is_secret_key(key):
            return self._value(value, depth)
        if isinstance(value, dict):
            return self._value(value, depth)
        if isinstance(value, list | tuple):
            return [self._entry(key, item, depth) for item in value]
        text = str(value)
        counts = "token" in key.lower() and not isinstance(value, str)
        if (
            counts
            or not text
            or PLACEHOLDER.fullmatch(text)
            or self._allowed(text.encode("utf-8", "surrogatepass"))
        ):
            return value
        return self.placeholder("secret", text)


def make_redactor(settings: Settings, salt: bytes = b"") -> Redactor:
    """Return the redactor that the settings ask for; raise Fatal where one of their patterns cannot be used."""
    return Redactor(settings.secrets(), salt, allow=settings.redact_allow, deny=settings.redact_deny)


def hits(data: bytes) -> Iterator[tuple[str, str, int, int, str]]:
    """Yield each hit in UTF-8 text: its rule, its kind, where it begins and ends, and the normal form of its value.

    Candidates come from a linear-time automaton; each rule has a validator.
    """
    found = FINDER.search(data)
    while found is not None:
        name, start, end = next((n, *found.span(i)) for n, i in _GROUPS if found.start(i) >= 0)
        if name == "keyed4":  # of a value without quotes the pattern has the first character alone
            hidden = accept_bare(data, found.group(_KEY_GROUP), start)
        elif name.startswith("keyed"):
            hidden = accept_keyed(data, found.group(_KEY_GROUP), start, end)
        else:
            hidden = RULES[name].accept(data, start, end)
        if hidden is not None:
            end, normal = hidden
            yield name, kind_of(normal) if name == "number" else RULES[name].kind, start, end, normal
        elif name.startswith("keyed") or name in _IN_PROSE:
            end = max(start, found.start() + 1)  # the value itself may hold another candidate
        found = FINDER.search(data, max(end, found.start() + 1))
