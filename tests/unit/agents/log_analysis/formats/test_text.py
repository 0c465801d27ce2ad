from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.log_analysis.formats.text import clean, cut, cut_words, decode, hide_key_line
from agents.runtime.evidence import quote_stands


def test_gbk_and_utf8_lines_decode_to_the_same_text() -> None:
    line = "ERROR [订单服务] 支付回调失败 order=1000"
    assert decode(line.encode("gbk")) == decode(line.encode("utf-8")) == line


def test_utf8_with_a_broken_byte_stays_utf8() -> None:
    raw = "磁盘已满 磁盘已满".encode()[:-1]
    assert decode(raw).startswith("磁盘已满 磁盘已")
    assert "\ufffd" in decode(raw)


def test_latin1_is_not_taken_for_gbk() -> None:
    assert decode("févr. déjà vu".encode("latin-1")) == "févr. déjà vu"


def test_clean_strips_colours_and_links_and_shows_other_controls() -> None:
    text = (
        "\x1b[31mERR\x1b[0mOR \x1b]8;;http://evil.example/\x1b\\click\x1b]8;;\x1b\\ a\u202eb\u200bc\u2028d\re"
    )
    assert clean(text) == "ERROR click a\\u202ebc\\u2028d\\re"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\rb", "a\\rb"),
        ("a\x00b", "a\\x00b"),
        ("a\x85b", "a\\x85b"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b[2K\x1b[1Gprogress", "progress"),
        ("\x1b]8;;http://x ERROR not closed", "\\x1b]8;;http://x ERROR not closed"),
        ("\x1bHello", "\\x1bHello"),
        ("\x1b", "\\x1b"),
        ("tag\U000e0041", "tag\\U000e0041"),
        ("pass\u200bword", "password"),
        ("\ufeffINFO a", "INFO a"),
    ],
)
def test_controls_are_shown(text: str, shown: str) -> None:
    assert clean(text) == shown
    assert clean(shown) == shown


@pytest.mark.parametrize("encoding", ["utf-8", "gbk", "gb18030"])
def test_lines_of_one_file_may_differ_in_encoding(encoding: str) -> None:
    assert (
        decode("2026-11-29 ERROR 支付失败：余额不足".encode(encoding))
        == "2026-11-29 ERROR 支付失败：余额不足"
    )


def test_clean_keeps_cjk_and_tabs() -> None:
    assert clean("\t磁盘　已满") == "\t磁盘　已满"


@given(st.text())
def test_clean_leaves_no_control_character(text: str) -> None:
    assert not any((c < " " and c != "\t") or c in "\x1b\x7f\u202e\u200b\u2028" for c in clean(text))


@given(st.binary())
def test_decode_never_fails(raw: bytes) -> None:
    assert isinstance(decode(raw), str)


@given(
    st.text(alphabet="abc xyz", min_size=0, max_size=600),
    st.integers(20, 300),
    st.text(alphabet="abc xyz", max_size=9),
)
def test_a_cut_quote_still_stands_in_its_line(text: str, limit: int, around: str) -> None:
    quote = cut(text, limit, around)
    assert len(quote) <= limit + 2
    assert not text.strip() or not quote.strip(" …") or quote_stands(quote, text)


def test_cut_keeps_what_matters() -> None:
    text = "head " + "x" * 500 + " the needle " + "y" * 500
    assert "the needle" in cut(text, 120, "the needle")
    assert cut(text, 120, "the needle").startswith("head ")


def test_what_begins_late_is_told_to_its_end() -> None:
    text = "h" * 80 + " the needle is of no use, and here is why: it is blunt"
    assert cut(text, 120, "the needle").endswith("it is blunt")
    early = "the needle " + "x" * 200
    assert cut(early, 120, "the needle") == early[:119] + "…"


def test_key_lines_are_hidden_and_digests_are_not() -> None:
    assert hide_key_line("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj") == "<KEY LINE>"
    digest = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    assert hide_key_line(digest) == digest


def test_words_are_cut_between_words() -> None:
    assert (
        cut_words("restart_service(service=checkout) fixed it", 40)
        == "restart_service(service=checkout) fixed…"
    )
    assert cut_words("short", 5) == "short"
    assert cut_words("数据库连接池耗尽", 5) == "数据库连…"
    assert cut_words("a " + "x" * 50, 20) == "a " + "x" * 17 + "…"
