"""Hostile bytes: nothing crashes, no line is lost, no control is shown, and work grows with the length of a line."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.log_analysis.formats.events import Assembler, Event, begins
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.text import clean, decode
from tests.unit.agents.log_analysis.formats.samples import SAMPLES
from tests.unit.agents.log_analysis.formats.test_traces import TRACES

REFERENCE = datetime(2026, 11, 30, tzinfo=UTC)
LINES = [line for s in SAMPLES for line in s.lines] + [
    line for t, _, _ in TRACES.values() for line in t.split("\n")
]

#: What patterns of the readers are made of; each is repeated to a line of 48 kB.
UNITS = """a A 0 1: 00: 1- - . / \\ " \\" ' [ ] [[ ( ) { } {"a": [{ < = a= a=" k="v\\ | a| # , "" ," : :: a: a. A. a.A Error
xError: at Caused error ERROR fail time no 错误 失败 一 % & $ _ @4 @ 2026- Nov 10:20:00 29/Nov/2026: I1129 <34> é 年 2026年
a[1]: x.rb:1:in ---> #1 level= log: .log: A:: a$ func( a/b.go:1 a.b.c- -- ||| (a( Uncaught""".split()  # noqa: SIM905 - a list of so many is unreadable
SPACED = [
    " ",
    "\t",
    "a ",
    "a=b ",
    'a="b" ',
    "é ",
    "ERROR ",
    "0 errors ",
    "host app: ",
    "2026-11-29 ",
    "\tat a(",
    'File "',
]
SPACED += [
    '"a": "',
    '"a": 1, ',
    '[a b="',
    "I1129 ",
    "stdout F ",
    "Nov 29 ",
    "2026-11-29T10:20:00Z ",
    "goroutine 1 [",
]
SPACED += [
    "[29/Nov/2026:10:20:00 +0000] ",
    "thread 'a' panicked at ",
    "Next A",
    "\x1b[",
    "\x1b]",
    "\x1b",
    "\u202e",
    "\x00",
]
HEADS = ["", "Nov 29 10:20:00 h a: ", '{"msg": "', 'a=b c="', '1.2.3.4 - - [29/Nov/2026:10:20:00 +0000] "']
LENGTH = 48_000
#: A line of that length that takes less CPU time than this is cheap, whatever its kind.
CHEAP_SECONDS = 0.06


def read(raw: bytes, form: str = "", zone: str = "UTC") -> list[Event]:
    texts = [clean(decode(line)) for line in raw.split(b"\n")]
    events = list(Assembler(Parser(REFERENCE, form, zone)).events(enumerate(texts, 1)))
    blank = sum(1 for text in texts if not text or text.isspace())
    assert sum(event.lines for event in events) + blank == len(texts)
    for text in texts:
        assert not any(ord(c) < 32 and c != "\t" for c in text)
        begins(text)
    for event in events:
        assert "\x1b" not in event.message
        assert event.level >= 0
    return events


tokens = st.sampled_from([*UNITS, *SPACED, *LINES, "\n", "\r\n", "\r"]).map(lambda t: t.encode("utf-8"))
hostile = st.lists(tokens | st.binary(max_size=12), max_size=25).map(b"".join)


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return real lines with pieces cut, doubled, swapped or put in."""
    lines = [line.encode() for line in draw(st.lists(st.sampled_from(LINES), min_size=1, max_size=6))]
    for _ in range(draw(st.integers(0, 4))):
        at = draw(st.integers(0, len(lines) - 1))
        line = lines[at]
        start = draw(st.integers(0, len(line)))
        end = draw(st.integers(start, len(line)))
        lines[at] = (
            line[:start]
            + draw(st.sampled_from([b"", line[start:end] * 2]) | st.binary(max_size=8))
            + line[end:]
        )
    return draw(st.sampled_from([b"\n", b"\r\n", b"\n\n"])).join(lines)


@settings(max_examples=100, deadline=None)
@given(hostile)
def test_no_bytes_break_the_reader(raw: bytes) -> None:
    read(raw)


@settings(max_examples=100, deadline=None)
@given(
    mutated(),
    st.sampled_from(["", "", "", *(s.form for s in SAMPLES)]),
    st.sampled_from(["UTC", "Europe/Berlin"]),
)
def test_no_change_to_real_lines_breaks_the_reader(raw: bytes, form: str, zone: str) -> None:
    read(raw, form, zone)


def test_an_endless_line_in_parts_is_ended() -> None:
    part = b"2025-11-29T10:20:00.1Z stdout P " + b"x" * 16_000 + b"\n"
    events = read(part * 200)
    assert len(events) > 1
    assert max(event.size for event in events) < 2 << 20


def cost(line: str) -> float:
    start = time.process_time()
    texts = ["2026-11-29 10:20:00 ERROR x", *[clean(decode(line.encode("utf-8")))] * 2]
    assert len(list(Assembler(Parser(REFERENCE)).events(enumerate(texts, 1)))) >= 1
    return time.process_time() - start


@pytest.mark.parametrize("head", HEADS)
def test_work_grows_with_the_length_of_a_line_and_no_faster(head: str) -> None:
    for unit in [*UNITS, *SPACED]:
        count = LENGTH // len(unit.encode("utf-8"))
        spent = cost(head + unit * count)
        if spent > CHEAP_SECONDS:  # quadratic work would be sixteen times as much for four times the length
            quarter = min(cost(head + unit * (count // 4)) for _ in range(3))
            spent = min([spent, *(cost(head + unit * count) for _ in range(2))])
            assert spent < 9 * quarter or spent < CHEAP_SECONDS, (head, unit, spent, quarter)
