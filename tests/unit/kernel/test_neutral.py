"""Neutral text: nothing live survives, and nothing is cut inside a character."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.neutral import cut, neutralise, one_line

DATA = Path(__file__).parents[3] / ".." / "shared" / "data" / "synthetic"

#: What a chat or mail program would turn into something live.
LIVE = [
    re.compile(r"<[^<>]*>"),
    re.compile(r"[@＠]\S"),
    re.compile(r"\][(\[:]"),
    re.compile(r"!\["),
    re.compile(r"(?i)\b[a-z][a-z0-9+.-]*://"),
    re.compile(r"(?i)\bwww\.\w"),
    re.compile(r"(?i)\bmailto:\S"),
    re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"),
]

#: Every live form by itself, in the alphabet that hypothesis draws from below.
FORMS = [
    "<!channel>", "<!here|x>", "<@U012345>", "<at id=all></at>", "@all", "＠all", "@\u200ball", "@所有人",
    "@13800000000", "![x](http://e.example)", "[x](//e.example)", "[x][y]", "[y]: http://e.example",
    "HTTPS://e.example", "http\u200b://e.example", "ftp://e.example", "www.e.example", "mailto:a@e.example",
    "javascript:alert(1)", "<https://e.example|runbook>", "&lt;!channel&gt;", "&#64;all", "\x1b]8;;http://e\x07x",
    "a\r\nb\x85c\u2028d", "d://e.example", "a-scheme-of-more-than-twenty-letters://e.example",
]  # fmt: skip


def _live(text: str) -> list[str]:
    return [pattern.pattern for pattern in LIVE if pattern.search(text)]


@pytest.mark.parametrize("form", FORMS)
def test_each_live_form_is_taken_apart(form: str) -> None:
    assert _live(neutralise(f"前 {form} 后")) == []


@given(
    st.lists(
        st.one_of(
            st.sampled_from([*FORMS, "<", ">", "@", "]", "(", "&", "http", ":", "//", "w"]),
            st.text(max_size=4),
        )
    )
)
def test_no_combination_brings_one_back(parts: list[str]) -> None:
    once = neutralise("".join(parts))
    assert _live(once) == []
    assert neutralise(once) == once


def test_the_injection_payloads_have_nothing_live() -> None:
    path = DATA / "injection.jsonl"
    if not path.exists():
        pytest.skip(f"needs {path}")
    logs = [json.loads(line)["log"] for line in path.read_text(encoding="utf-8").splitlines() if line]
    assert any(_live(log) for log in logs)  # else the check above sees nothing
    assert [log for log in logs if _live(neutralise(log))] == []


@pytest.mark.parametrize(
    "text",
    [
        "支付失败：连接池耗尽（第 12 行）",
        "user at example",
        "x[0] = 1; a & b",
        "100%\n\ttabbed",
        "👩 ok",
        "12:30:01 ERROR",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert neutralise(text) == text


def test_lines_of_any_kind_become_lines() -> None:
    assert neutralise("a\r\nb\rc\x85d\u2028e") == "a\nb\nc\nd\ne"
    assert one_line("a\n b\t c") == "a b c"


@given(st.text(), st.integers(min_value=0, max_value=60))
def test_a_cut_fits_and_is_whole(text: str, limit: int) -> None:
    text = text.encode("utf-8", errors="replace").decode()
    short = cut(text, limit)
    assert len(short.encode()) <= limit
    assert text.startswith(short.removesuffix("…"))
    assert short == text or len(text.encode()) > limit


def test_a_cut_counts_bytes() -> None:
    assert cut("日" * 2048, 2048) == "日" * 681 + "…"
