"""Neighbours: what joins the value before it, and which word is a name because of the one before."""

from __future__ import annotations

import pytest

from agents.log_analysis.mining.masking import TOKEN_LIMIT, Masker


@pytest.mark.parametrize(
    ("message", "keys", "shown"),
    [
        ("took 12 ms, sent 3 MB", "took <*>, sent <*>", "took <*> ms, sent <*> MB"),
        ("sent 8451 bytes (8.25 KB) ok", "sent <*> ok", "sent <*> bytes (<*> KB) ok"),
        ("temps 31 32 33 C", "temps <*> C", "temps <*> <*> <*> C"),
        ("from 2026-05-16 05:00:00 on", "from <*> on", "from <*> on"),
        ("at Mon Jun 20 03:40:59 2005", "at <*>", "at <*>"),
        ('"GET /v2/a/b?c=1 HTTP/1.1" 200', '"GET <*>" <*>', '"GET <*>" <*>'),
        ("session opened for user root by (uid=0)", "session opened for user <*> by (uid=<*>)", None),
        ("no more user authentication methods", "no more user authentication methods", None),
        ("Failed password for root from 1.2.3.4", "Failed password for <*> from <*>", None),
        ("waiting for data", "waiting for data", None),
        ("RequestID: abcdef done", "RequestID: <*> done", None),
        ("check pass; user unknown", "check pass; user unknown", None),
        ('lock tag="View Lock" held', 'lock tag="<*>" held', None),
        ("", "", None),
    ],
)
def test_a_message_reads_as(message: str, keys: str, shown: str | None) -> None:
    masked = Masker().masked(message)
    assert " ".join(masked.keys) == keys
    assert " ".join(masked.shown) == (keys if shown is None else shown)
    assert len(masked.keys) == len(masked.shown) == len(masked.starts)


def test_only_the_head_of_a_very_long_message_counts() -> None:
    assert len(Masker().tokens("x " * 5000)) == TOKEN_LIMIT
