"""Numbers that belong to a person: phones, identity numbers, bank cards, each with what tells it from a counter."""

from __future__ import annotations

import re
from datetime import date

from kernel.redaction_checks import Hidden, text_of


def _stands_alone(data: bytes, start: int, end: int) -> bool:
    """Return whether a number is no part of a version, an address or an id with dashes."""
    before, after = data[max(0, start - 2) : start], data[end : end + 2]
    if before.endswith(b".") and before[:1].isdigit():
        return False
    if before.endswith(b"-") and (before[:1] == b"_" or before[:1].isdigit()):
        return False
    return not (after[:1] in (b".", b"-", b":") and after[1:2].isalnum())


_PHONE_WORD = re.compile(r"(?i)tel|phone|mobile|call|sms|contact|fax|手机|电话|联系|号码|致电|传真|座机")
#: How far before a number the word stands that says what it is.
_CONTEXT_BYTES = 24
_ZONE = re.compile(rb"\+\d{4}[ \]]")


def phone(data: bytes, start: int, end: int) -> Hidden:
    if not _stands_alone(data, start, end) or _ZONE.match(data, start):
        return None
    raw = re.sub(rb"%2[Bb]", b"+", data[start:end]).replace(b"%20", b" ")
    digits = re.sub(rb"\D", b"", raw).decode()
    if not 8 <= len(digits) <= 15:  # noqa: PLR2004 E.164
        return None
    if data[start : start + 1] == b"+" and data[max(0, start - 1) : start].isalnum():
        return None  # 1+23456789 is a sum
    if data[max(0, start - 1) : start] == b"#":
        return None  # the number of a ticket or a process
    # columns of numbers look like the first kind, counters like the second
    spaced = b" " in data[start:end] and raw[:1] not in (b"+", b"(")
    if (
        (spaced or raw[:1] == b"0")
        and not raw.startswith(b"0086")
        and not _said_before(_PHONE_WORD, data, start)
    ):
        return None
    return end, re.sub(r"^(?:00)?86(?=1[3-9]\d{9}$)", "", digits)


def _said_before(word: re.Pattern[str], data: bytes, start: int) -> bool:
    return word.search(text_of(data, max(0, start - _CONTEXT_BYTES), start)) is not None


# Two digits each (GB/T 2260).
_PROVINCES = (
    "11 12 13 14 15 21 22 23 31 32 33 34 35 36 37 41 42 43 44 45 46 50 51 52 53 54 61 62 63 64 65 71 81 82 83"
)
_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643-1999
_ID_LENGTH = 18


def _is_identity(number: str) -> bool:
    if len(number) != _ID_LENGTH or not number[:-1].isdecimal() or number[:2] not in _PROVINCES.split():
        return False
    try:
        born = date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    total = sum(int(d) * w for d, w in zip(number[:17], _ID_WEIGHTS, strict=True))
    return born.year >= 1900 and "10X98765432"[total % 11] == number[-1].upper()  # noqa: PLR2004 nobody is older


_OLD_ID_LENGTH = 15
#: Before 1999 numbers had no check digit: without one of these words 1 of 30 numbers of 15 digits would look like one.
_IDENTITY_WORD = re.compile(r"(?i)身份|证件|id[ _-]?(?:card|no|number)|identity|cert(?:ificate)?[ _-]?no")


def _is_old_identity(number: str) -> bool:
    try:
        date(1900 + int(number[6:8]), int(number[8:10]), int(number[10:12]))
    except ValueError:
        return False
    return number[:2] in _PROVINCES.split()


# Visa, Mastercard, Amex, Discover, JCB, UnionPay: prefix and length, before the check digit is looked at.
_CARD = re.compile(
    r"4\d{12}(?:\d{3})?(?:\d{3})?|(?:5[1-5]|222[1-9]|22[3-9]\d|2[3-6]\d\d|27[01]\d|2720)\d+|3[47]\d{13}|"
    r"6(?:011|5\d\d)\d{12}|35(?:2[89]|[3-8]\d)\d{12}|62\d{14,17}"
)
_MASTERCARD_LENGTH = 16
#: UnionPay's numbers are printed as four groups of four and one of three.
_LONGEST, _TAIL = 19, 4


def _is_card(digits: str) -> bool:
    if not _CARD.fullmatch(digits) or (digits[0] in "25" and len(digits) != _MASTERCARD_LENGTH):
        return False
    doubled = (int(d) * (1 + i % 2) for i, d in enumerate(reversed(digits)))
    return sum(n - 9 if n > 9 else n for n in doubled) % 10 == 0  # noqa: PLR2004 Luhn


def number(data: bytes, start: int, end: int) -> Hidden:
    """Judge a run of digits: identity number or bank card."""
    text = text_of(data, start, end)
    number = re.sub(r"[ -]", "", text)
    if not _stands_alone(data, start, end):
        return None
    if len(number) == _LONGEST and text[-_TAIL] in " -" and not _is_card(number):
        # three more digits behind a card of sixteen are no part of it
        end, number = end - _TAIL, number[: 1 - _TAIL]
    if len(number) == _OLD_ID_LENGTH and not _is_card(number):
        told = _said_before(_IDENTITY_WORD, data, start)
        return (end, number) if told and _is_old_identity(number) else None
    return (end, number) if _is_identity(number) or _is_card(number) else None


def kind_of(number: str) -> str:
    """Return what a number that was found is called in its placeholder."""
    return "card" if _is_card(number) else "identity"
