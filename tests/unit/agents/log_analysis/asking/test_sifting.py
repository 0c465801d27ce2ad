"""A search that sifts raw bytes first finds the lines that a search of all texts finds."""

from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.asking.searching import _options, compile_pattern
from agents.log_analysis.asking.sifting import sieve
from agents.log_analysis.sources.bodies import LINE_HEAD, Body

LINES = [
    b"2026-03-01T06:00:00Z ERROR order 12 timed out\r",
    "订单 12 支付失败".encode(),
    "磁盘已满".encode("gbk"),
    b"\x1b[31mERROR\x1b[0m red",
    "zero\u200bwidth".encode(),
    b"hole\0of nul",
    b"caf\xe9 latin",
    b"x" * (LINE_HEAD + 9000) + b" end",
    b"",
    b"last word",
]


@pytest.fixture
def body(tmp_path: Path):
    path = tmp_path / "a.log"
    path.write_bytes(b"\n".join(LINES + [b"plain %d" % n for n in range(200)] + LINES))
    with path.open("rb") as file:
        made = Body(file, path.stat().st_size)
        list(made.index())
        yield made


@pytest.mark.parametrize(
    "pattern",
    ["error", "OUT$", "^order", "失败", "磁盘", r"m?ERROR red", "zerowidth", "holeof", "é", "end$", "^$", r"\Aplain 7", "[^a-z]{9}",
     "plain 19\\d", "last.plain", r"\n", "KEY", r"bytes cut", "(?i)LAST WORD", "word\\s", "12"],
)  # fmt: skip
def test_the_same_lines_are_found(body: Body, pattern: str) -> None:
    compiled = compile_pattern(pattern)
    may_match = sieve(pattern, compiled, _options())
    found = [(number, text) for number, text in body.texts(may_match) if compiled.search(text)]
    assert found == [(number, text) for number, text in body.texts() if compiled.search(text)]


def test_blocks_that_cannot_match_are_left_out(body: Body) -> None:
    may_match = sieve("last word", compile_pattern("last word"), _options())
    assert may_match is not None
    assert not may_match(b"plain 1\nplain 2\n")
    assert may_match(b"plain 1\nLast Word\n")
    assert len(list(body.texts(may_match))) < body.lines
    assert sieve("x*", compile_pattern("x*"), _options()) is None
