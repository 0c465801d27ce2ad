"""The words of requests in two languages, and the lines they find."""

from __future__ import annotations

import re

import pytest

from agents.log_analysis.terms import pattern_of, terms_of


@pytest.mark.parametrize(
    ("request_text", "words"),
    [
        ("which ip tried most logins", ["ip", "login"]),
        ("how many failed passwords for root", ["failed", "passwords", "root"]),
        ("how many times did mod_jk go into error state", ["mod_jk", "error", "state"]),
        ("how many blocks were deleted since 2026-11-29 10:20?", ["blocks", "deleted"]),
        (
            "how many connections from 10.0.0.5 were refused in the last 10 minutes",
            ["connections", "10.0.0.5", "refused"],
        ),
        ("how many 500 errors", ["500", "errors"]),
        ("who logged in first?", ["login"]),
        ("top 5 entries", []),
        ("root 登录失败了多少次？", ["root", "登录", "失败"]),
        ("最近30分钟支付超时出现了几次", ["支付", "超时"]),
        ("一共有多少条日志", []),
    ],
)
def test_words(request_text: str, words: list[str]) -> None:
    assert terms_of(request_text) == words


@pytest.mark.parametrize(
    ("words", "text", "found"),
    [
        (["failed", "logins"], "login failed for ann", True),
        (["failed", "logins"], "Failed to login", True),
        (["failed", "login"], "Failed password for ann", True),
        (["timeouts"], "request timed out", True),
        (["OutOfMemoryError"], "java.lang.OutOfMemoryError: heap", True),
        (["a.b"], "axb", False),
        (["超时"], "连接超时", True),
        (["连接", "拒绝"], "Connection refused", True),
        (["failed", "logins"], "job failed", False),
    ],
)
def test_patterns(words: list[str], text: str, found: bool) -> None:
    assert bool(re.search(pattern_of(words), text, re.IGNORECASE)) is found


def test_the_pattern_of_many_words_stays_short() -> None:
    assert len(pattern_of([f"word{n}" * 20 for n in range(40)])) < 1000
