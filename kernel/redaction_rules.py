"""The rules of redaction: one combined pattern finds candidates; the group of a rule is what gets hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import re2

from kernel import redaction_checks as checks

#: Memory of the automaton's cache; the default (8 MB) is flushed often by a pattern of this size.
_AUTOMATON_BYTES = 64 * 1024 * 1024


class Rule(NamedTuple):
    """One kind of secret: the pattern's group is what gets hidden."""

    kind: str
    pattern: str
    accept: Callable[[bytes, int, int], checks.Hidden] = checks.always


_KEYS = (
    r"pass(?:word|wd|phrase|code)|passwd|pwd|secret(?:[_-]?(?:access[_-]?)?key)?|api[_-]?key|access[_-]?key(?:[_-]?(?:id|secret))?|"
    r"private[_-]?key|(?:access|refresh|auth|id|session|csrf)?[_-]?token|auth[_-]?key|credential|signature|"
    r"密码|口令|令牌|密钥|授权码"
)
#: What a person calls a password in prose; a `token` or a `secret` is spoken of in too many ways.
_SPOKEN = r"pass(?:word|wort|phrase|code)|passwd|密码|口令"
_Q = r"""\\*["']?"""
_KEYED = (
    rf"(?i:(?P<key>{_KEYS})){_Q}\s?\s?(?:[:=：]|=>|%3[Dd])\s?\s?(?:\x1b\[[0-9;]*m)?"
    r"""(?:"(?P<keyed1>[^"\\\n]*(?:\\.[^"\\\n]*)*)"|\\+"(?P<keyed2>[^"\n]*?)\\+"|'(?P<keyed3>[^'\n]*)'|\\*["']?(?P<keyed4>[^\s"'&]+))"""
)

RULES: dict[str, Rule] = {
    "placeholder": Rule("placeholder", r"(?P<placeholder><[A-Z_]+:[0-9a-f]{6}>)", checks.never),
    "pem": Rule(
        "key",
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----(?P<pem>(?s:.*?))(?:-----END [A-Z0-9 ]*PRIVATE KEY-----|\z)",
    ),
    "pemline": Rule("key", r"(?m:^)(?P<pemline>[A-Za-z0-9+/]{64})(?m:$)", checks.pem_line),
    "cookie": Rule("cookie", r"""(?i:cookie)["'\\]*\s?:\s?["'\\]*(?P<cookie>[^"'\r\n\\=]*=[^"'\r\n\\]+)"""),
    "auth": Rule(
        "auth",
        rf"(?i:authorization){_Q}\s?[:=]\s?{_Q}(?:(?i:bearer|basic|digest|token|negotiate|[a-z0-9]+-hmac-[a-z0-9]+)\s+)?"
        r"""(?P<auth>[^\s"'\\,;]+)""",
    ),
    "bearer": Rule("auth", r"\b(?i:bearer)\s(?P<bearer>[A-Za-z0-9._~+/=-]+)", checks.bearer),
    "basic": Rule("auth", r"\b(?i:basic)\s(?P<basic>[A-Za-z0-9+/]+={0,2})", checks.basic),
    "hook": Rule(
        "webhook",
        r"(?:open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/|qyapi\.weixin\.qq\.com/cgi-bin/webhook/\w+\?key=|"
        r"hooks\.slack\.com/(?:services|workflows)/|discord(?:app)?\.com/api/webhooks/|webhook\.office\.com/|"
        r"oapi\.dingtalk\.com/robot/send\?access_token=)"
        r"""(?P<hook>[^\s"'<>\\&]+)""",
    ),
    "url": Rule("password", r"""://[^\s/:@"'<>]*:(?P<url>[^\s/"'<>]+)@"""),
    "user": Rule("password", r"(?:\s-u|--user)\s[^\s:]+:(?P<user>[^\s\"']+)", checks.user),
    "flag": Rule("password", r"--(?i:password|passwd|token|secret|api-key)\s+(?P<flag>[^\s\"'-][^\s\"']*)"),
    "told": Rule(  # "the password (of the vault) is swordfish"
        "password",
        rf"(?i:{_SPOKEN})(?:[ \t]+(?i:of|for|to|on)(?:[ \t]+[^\s:=]+){{1,6}}?)?"
        r"(?:\s+(?i:(?:(?:is|was|has been) )?(?:re)?(?:set|changed) to|is|was|ist|lautet)\s+|"
        r"\s?(?:是|为)\s?)[\"'`]?(?P<told>[^\s\"'`]+)",
        checks.told,
    ),
    "said": Rule(
        "password",
        rf"(?i:{_KEYS})(?:\s+(?i:is|was|set to|changed to)\s+|\s?(?:是|为)\s?)[\"'`]?(?P<said>[^\s\"'`]+)",
        checks.said,
    ),
    "keyed1": Rule("secret", _KEYED),
    "keyed2": Rule("secret", ""),
    "keyed3": Rule("secret", ""),
    "keyed4": Rule("secret", ""),
    "bare": Rule(  # "db password hunter2 was rotated"
        "password",
        rf"(?i:{_SPOKEN})[ \t]+[\"'`]?(?P<bare>[A-Za-z0-9!@#$%^&*_+~?-]*[0-9!@#$%^&*+~][^\s\"'`:=]*)",
        checks.bare,
    ),
    "xml": Rule("secret", rf"<(?i:{_KEYS})>(?P<xml>[^<]+)</"),
    "ansi": Rule("number", r"\x1b\[[0-9;]*m(?P<ansi>[0-9]{11,19}[Xx]?)\b", checks.number),
    "jwt": Rule("token", r"\b(?P<jwt>eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.?[A-Za-z0-9_-]*)"),
    "cloud": Rule(
        "key",
        r"\b(?P<cloud>(?:AKIA|ASIA|ABIA)[A-Z0-9]{16}|LTAI[A-Za-z0-9]{12,26}|AKID[A-Za-z0-9]{13,40}|gh[pousr]_[A-Za-z0-9]{30,}|"
        r"github_pat_\w{22,}|glpat-[\w-]{20,}|xox[abeprs]-[\w-]{10,}|sk-[A-Za-z0-9_-]{20,}|[sr]k_(?:live|test)_\w{16,}|"
        r"AIza[\w-]{35}|hf_[A-Za-z0-9]{30,}|npm_[A-Za-z0-9]{36})\b",
    ),
    "mail": Rule("email", r"(?P<mail>[A-Za-z0-9._%+-]+@(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})\b", checks.mail),
    "phone": Rule(
        "phone",
        r"(?P<phone>(?:(?:\+86|\b0086|\b86)[ -]?|\b)1[3-9][0-9]"
        r"(?:[0-9]{8}|-[0-9]{4}-[0-9]{4}| [0-9]{4} [0-9]{4})\b|"
        r"\+[1-9][0-9]{0,2}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{2,4}(?:[ .-]?[0-9]{2,4}){1,4}\b|"
        r"\([2-9][0-9]{2}\) ?[0-9]{3}-[0-9]{4}\b|\b[2-9][0-9]{2}-[0-9]{3}-[0-9]{4}\b)",
        checks.phone,
    ),
    "number": Rule(
        "number",
        r"(?P<number>\b[1-9][0-9]{12,18}[Xx]?\b|\b[2-6][0-9]{3}(?:[ -][0-9]{4}){3}\b|"
        r"\b3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}\b|"
        r"[０-９]{11,19}[XxＸｘ]?)",
        checks.number,
    ),
}


def _compile() -> re2._Regexp:
    options = re2.Options()
    options.max_mem = _AUTOMATON_BYTES
    return re2.compile("|".join(rule.pattern for rule in RULES.values() if rule.pattern), options)


#: All rules in one automaton: the leftmost candidate wins, earlier rules before later ones.
FINDER = _compile()
