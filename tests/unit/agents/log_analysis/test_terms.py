"""The words of requests in two languages, and the lines they find."""

from __future__ import annotations

import re

import pytest
import re2

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
        ("how many 404s and 5XXs were there", ["404", "5XX"]),
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


@pytest.mark.parametrize(
    ("word", "line", "found"),
    [
        ("404", '1.2.3.4 - - [x] "GET /a HTTP/1.1" 404 12', True),
        ("404", '1.2.3.4 - - [x] "GET /p/404 HTTP/1.1" 200 404', False),
        ("404", '{"status": 404, "ms": 3}', True),
        ("404", '{"status": 200, "ms": 404}', False),
        ("404", "status=404 path=/x", True),
        ("404", "the server answered 404", True),
        ("404", "push failed: 404 Not Found", True),
        ("404", "GET /ready 404", True),
        ("404", "order 404 shipped in 404 ms", False),
        ("5xx", '1.2.3.4 - - [x] "GET /a HTTP/1.1" 503 12', True),
        ("5xx", '1.2.3.4 - - [x] "GET /a HTTP/1.1" 404 512', False),
        ("4xx/5xx", '1.2.3.4 - - [x] "GET /a HTTP/1.1" 404 512', True),
        ("4xx/5xx", '1.2.3.4 - - [x] "GET /a HTTP/1.1" 200 512', False),
    ],
)
def test_a_status_is_found_where_a_line_gives_it_as_one(word: str, line: str, found: bool) -> None:
    pattern = re2.compile(pattern_of([word]))
    assert bool(pattern.search(line)) is found
