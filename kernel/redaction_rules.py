"""The rules of redaction: one combined pattern finds candidates; the group of a rule is what gets hidden."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import re2

from kernel import redaction_checks as checks
from kernel import redaction_numbers as numbers
from kernel import redaction_prose as prose
from kernel.errors import Fatal
from kernel.redaction_tokens import TOKENS

#: Memory of the automaton's cache; the default (8 MB) is flushed often by a pattern of this size.
_AUTOMATON_BYTES = 64 * 1024 * 1024


class Rule(NamedTuple):
    """One kind of secret: the pattern's group is what gets hidden."""

    pattern: str
    accept: Callable[[bytes, int, int], checks.Hidden] = checks.always
    #: All secrets have one name, so that a value keeps its placeholder wherever it stands.
    kind: str = "secret"


_KEYS = (
    r"pass(?:word|wd|phrase|code)|passwd|pwd|\bpass|secret(?:[ _-]?(?:access[ _-]?)?key)?|api[ _-]?key|"
    r"access[_-]?key(?:[_-]?(?:id|secret))?|(?:account|shared|app|sas)[_-]?key|\b(?:ak|sk|sig)|private[ _-]?key|"
    r"(?:access|refresh|auth|id|session|csrf|security)?[_-]?token|auth[_-]?key|credential|signature|"
    r"密\s?码|口\s?令|令\s?牌|密\s?钥|授权码"
)
#: What a person calls a password in prose; a `token` or a `secret` is spoken of in too many ways.
_SPOKEN = r"pass(?:word|wort|phrase|code)|passwd|密码|口令"
#: The letters of a password in a sentence. No Chinese: where no blanks part words, every 是 would begin a value that
#: goes on to the end of the line.
_SPELT = r"[!#-&(-_a-~\x{c0}-\x{24f}]"
_Q = r"""(?:\\*["']?|%22)"""
_KEYED = (
    rf"(?i:(?P<key>{_KEYS})){_Q}(?:\s(?i:is|was)|为|是)?\s?\s?(?:[:=：＝]|=>|%3[ADad])\s?\s?(?:\x1b\[[0-9;]*m)?(?:%22)?"
    r"""(?:"(?P<keyed1>[^"\\\n]*(?:\\.[^"\\\n]*)*)"|\\+"(?P<keyed2>[^"\n]*?)\\+"|'(?P<keyed3>[^'\n]*)'|\\*["']?(?P<keyed4>[^\s"'&]))"""
)

RULES: dict[str, Rule] = {
    "placeholder": Rule(r"(?P<placeholder><[A-Z_]+:[0-9a-f]{6}>)", checks.never),
    "pem": Rule(
        r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?P<pem>(?s:.*?))"
        r"(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\z)",
    ),
    # the body of a key that is read line by line: 64 characters, 70 of OpenSSH, and the last line with its padding
    "pemline": Rule(
        r"(?m:^|\s)(?P<pemline>[A-Za-z0-9+/]{64}|[A-Za-z0-9+/]{70}|[A-Za-z0-9+/]{76})(?m:$|\s)",
        checks.pem_line,
    ),
    "pemtail": Rule(r"(?m:^)[ \t]*(?P<pemtail>[A-Za-z0-9+/]{7,75}={1,2})[ \t\r]*(?m:$)", checks.pem_line),
    "cookie": Rule(r"""(?i:cookie)["'\\]*\s?:\s?["'\\]*(?P<cookie>[^"'\r\n\\=]*=[^"'\r\n\\]+)"""),
    "auth": Rule(
        rf"(?i:authorization){_Q}\s?[:=]\s?{_Q}(?i:bearer|basic|digest|token|negotiate|[a-z0-9]+-hmac-[a-z0-9]+)(?:\s+|%20)"
        r"""(?P<auth>[^\s"'\\,;]+)""",
    ),
    "lone": Rule(rf"(?i:authorization){_Q}\s?[:=]\s?{_Q}" r"""(?P<lone>[^\s"'\\,;]+)""", checks.auth),
    "bearer": Rule(r"\b(?i:bearer)\s(?P<bearer>[A-Za-z0-9._~+/=-]+)", checks.bearer),
    "basic": Rule(r"\b(?i:basic)\s(?P<basic>[A-Za-z0-9+/]+={0,2})", checks.basic),
    "hook": Rule(
        r"(?:open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/(?:v2/)?hook/|"
        r"qyapi\.weixin\.qq\.com/cgi-bin/webhook/\w+\?(?:[\w=&-]{0,200}&)?key=|"
        r"hooks\.slack\.com/(?:services|workflows|triggers)/|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/|"
        r"webhook\.office\.com/|outlook\.office(?:365)?\.com/webhook/|api\.telegram\.org/bot|"
        r"hooks\.zapier\.com/hooks/catch/|events\.pagerduty\.com/integration/|"
        r"oapi\.dingtalk\.com/robot/send\?(?:[\w=&-]{0,200}&)?access_token=)"
        r"""(?P<hook>[^\s"'<>\\&]+)""",
    ),
    # of a server of one's own (Mattermost, Rocket.Chat, GitLab): what follows is all that a caller must know
    "hooked": Rule(
        r"[A-Za-z0-9]/(?i:(?:web-?)?hooks)/(?P<hooked>[A-Za-z0-9]{17,64}(?:/[A-Za-z0-9]{17,64})?)",
        checks.bearer,
    ),
    "query": Rule(r"""[?&;](?i:key|auth|sign|ticket|sid)=(?P<query>[^\s"'<>\\&;]+)""", checks.bearer),
    "url": Rule(r"""://[^\s/:@"'<>]*:(?P<url>[^\s/"'<>]+)@"""),
    # a driver's source without a scheme, of Go's mostly: "root:hunter2@tcp(db:3306)/shop", "app:hunter2@db:5432/shop"
    "dsn": Rule(r"""[\w.%-]:(?P<dsn>[^\s:"'<>]{1,64})@(?:tcp|udp|unix)[46]?\("""),
    "login": Rule(
        r"""[\w.%-]:(?P<login>[^\s:/"'<>(),;@\[\]{}]{1,64})@[A-Za-z0-9][A-Za-z0-9.-]{0,80}:[0-9]{3,5}\b""",
        checks.login,
    ),
    "user": Rule(r"(?:\s-u|--user)\s[^\s:]+:(?P<user>[^\s\"']+)", checks.user),
    "flag": Rule(r"--(?i:password|passwd|token|secret|api-key)\s+(?P<flag>[^\s\"'-][^\s\"']*)"),
    "given": Rule(
        r"\b(?:sshpass\s+-p\s?|mysql(?:dump|admin)?(?:\s[^|;\n]{0,200}?)?\s-p)(?P<given>[^\s\"'-][^\s\"']*)"
    ),
    "otp": Rule(r"(?i:验证码|\botp|verification code)(?:\s?(?:is|为|是))?\s?[:：=]\s?(?P<otp>[0-9]{4,8})\b"),
    "told": Rule(  # "the password (of the vault) is swordfish"
        rf"(?i:{_SPOKEN})(?:[ \t]+(?i:of|for|to|on)(?:[ \t]+[^\s:=]+){{1,6}}?)?"
        r"(?:\s+(?i:(?:(?:is|was|has been) )?(?:re)?(?:set|changed) to|is|was|ist|lautet)\s+|"
        rf"\s?(?:是|为)\s?)[\"'`]?(?P<told>{_SPELT}+)",
        prose.told,
    ),
    "said": Rule(
        rf"(?i:{_KEYS})(?:\s+(?i:is|was|set to|changed to)\s+|\s?(?:是|为)\s?)[\"'`]?(?P<said>{_SPELT}+)",
        prose.said,
    ),
    "keyed1": Rule(_KEYED),
    "keyed2": Rule(""),
    "keyed3": Rule(""),
    "keyed4": Rule(""),
    "bare": Rule(  # "db password hunter2 was rotated"
        rf"(?i:{_SPOKEN})[ \t]+[\"'`]?(?P<bare>[A-Za-z0-9!@#$%^&*_+~?-]*[0-9!@#$%^&*+~][^\s\"'`:=]*)",
        prose.bare,
    ),
    "xml": Rule(rf"<(?i:{_KEYS})>(?P<xml>[^<]+)</"),
    "jwt": Rule(r"\b(?P<jwt>eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+\.?[A-Za-z0-9_-]*)"),
    "cloud": Rule(rf"\b(?P<cloud>{'|'.join(TOKENS)})\b"),
    "mail": Rule(
        r"(?P<mail>[A-Za-z0-9._%+-]+(?:@|%40)(?:[A-Za-z0-9-]+\.)+[A-Za-z]{2,24})\b", checks.mail, "email"
    ),
    "phone": Rule(
        r"(?P<phone>(?:(?:\+86|%2[Bb]86|\b0086|\b86)(?:[ -]|%20)?|\b)1[3-9][0-9]"
        r"(?:[0-9]{8}|(?:-|%20)?[0-9]{4}(?:-|%20)[0-9]{4}| [0-9]{4} [0-9]{4})\b|"
        r"\+[1-9][0-9]{0,2}[ .-]?(?:\([0-9]{1,4}\)[ .-]?)?[0-9]{2,4}(?:[ .-]?[0-9]{2,4}){1,4}\b|"
        r"\([2-9][0-9]{2}\) ?[0-9]{3}-[0-9]{4}\b|\b[2-9][0-9]{2}-[0-9]{3}-[0-9]{4}\b|"
        r"\b0(?:10|2[0-9]|[3-9][0-9]{2})[ -]?[2-9][0-9]{6,7}\b|\b00[1-9][0-9]{8,13}\b)",
        numbers.phone,
        "phone",
    ),
    "number": Rule(
        r"(?P<number>\b[1-9][0-9]{12,18}[Xx]?\b|\b[2-6][0-9]{3}(?:[ -][0-9]{4}){3}(?:[ -][0-9]{3})?\b|"
        r"\b62[0-9]{4}[ -][0-9]{13}\b|"
        r"\b3[47][0-9]{2}[ -][0-9]{6}[ -][0-9]{5}\b)",
        numbers.number,
        "number",
    ),
}


def _compile() -> re2._Regexp:
    options = re2.Options()
    options.max_mem = _AUTOMATON_BYTES
    return re2.compile("|".join(rule.pattern for rule in RULES.values() if rule.pattern), options)


#: All rules in one automaton: the leftmost candidate wins, earlier rules before later ones.
FINDER = _compile()


#: No pattern that means something matches one of these whole: nothing, a short and a long secret, words with gaps.
_ANYTHING = (
    b"",
    b"q7#Zk!2~",
    b"x9Vb7Tl_Lw3Ke5Rn0Qs8Yd2Hj6Mf4Pa1Gc7Uz",
    b"k9#Qz~ !%^ +=/w-7@:; $&",
    "口令 är x1!".encode(),
)


def compiled(setting: str, pattern: str) -> re2._Regexp:
    """Return a pattern of an operator's; raise Fatal with the name of its setting where it is none."""
    options = re2.Options()
    options.log_errors = False  # what is wrong is said once, and by us
    try:
        return re2.compile(pattern.encode(), options)
    except re2.error as error:
        said = error.args[0] if error.args else ""
        raise Fatal(
            f"NIGHTDESK_{setting} holds {pattern!r}, which is no pattern",
            why=f"RE2 says: {said.decode() if isinstance(said, bytes) else said}",
            next_step="Correct it; RE2 has no look-around and no back-references.",
        ) from error


def allowing(pattern: str) -> re2._Regexp:
    """Return a pattern of what is shown; refuse one that shows whatever there is, which would end redaction."""
    made = compiled("REDACT_ALLOW", pattern)
    if any(made.fullmatch(value) for value in _ANYTHING):
        raise Fatal(
            f"NIGHTDESK_REDACT_ALLOW holds {pattern!r}, which shows every secret",
            why="it matches nothing at all, or values that have nothing in common",
            next_step=r"Name what may be shown, such as [\w.]+@example\.com or build-\d+.",
        )
    return made
