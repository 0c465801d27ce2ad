from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agents.log_analysis.formats.events import Assembler, Event
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser


def events(text: str) -> list[Event]:
    lines = list(enumerate(text.split("\n"), 1))
    return list(Assembler(Parser(datetime(2026, 1, 1, tzinfo=UTC))).events(lines))


JAVA = """2024-01-02 03:04:05,000 ERROR [main] c.e.Pay - payment failed
javax.net.ssl.SSLHandshakeException: PKIX path failed
\tat sun.security.ssl.Alert.create(Alert.java:131)
Caused by: java.security.cert.CertificateExpiredException: NotAfter: Sat
\t... 12 more
2024-01-02 03:04:06,000 INFO [main] next"""
PYTHON = """2024-01-02 03:04:05 ERROR request failed
Traceback (most recent call last):
  File "/app/pool.py", line 42, in acquire
    raise PoolTimeout()
pool.PoolExhausted: 2/2 connections in use

During handling of the above exception, another exception occurred:
2024-01-02 03:04:06 INFO next"""
GO = """2024-01-02T03:04:05Z ERROR handler died
panic: runtime error: invalid memory address

goroutine 1 [running]:
main.main()
\t/app/main.go:10 +0x1d
2024-01-02T03:04:06Z INFO next"""
NODE = """2024-01-02T03:04:05Z ERROR request failed
TypeError: Cannot read properties of undefined
    at Object.get (/app/index.js:10:5)
    at process.run (node:internal:3:1)
2024-01-02T03:04:06Z INFO next"""
DOTNET = """2024-01-02T03:04:05Z ERROR request failed
System.InvalidOperationException: outer
 ---> System.Net.Sockets.SocketException: Connection refused
   at Program.Main() in /app/Program.cs:line 5
   --- End of inner exception stack trace ---
2024-01-02T03:04:06Z INFO next"""


@pytest.mark.parametrize(
    ("text", "root", "line"),
    [
        (JAVA, "java.security.cert.CertificateExpiredException: NotAfter: Sat", 4),
        (PYTHON, "pool.PoolExhausted: 2/2 connections in use", 5),
        (GO, "panic: runtime error: invalid memory address", 2),
        (NODE, "TypeError: Cannot read properties of undefined", 2),
        (DOTNET, "System.Net.Sockets.SocketException: Connection refused", 3),
    ],
)
def test_traces_join_the_line_before_them(text: str, root: str, line: int) -> None:
    found = events(text)
    assert (found[0].root, found[0].root_line, found[0].level) == (root, line, Level.error)
    assert root in found[0].message
    assert found[-1].record.message.endswith("next")
    assert len(found) <= 3


def test_a_line_with_its_own_level_is_its_own_event() -> None:
    assert [e.level for e in events("2024-01-02 03:04:05 INFO a\nERROR b\nplain words")] == [
        Level.info,
        Level.error,
        Level.unknown,
    ]


def test_container_parts_join_by_stream() -> None:
    found = events(
        '2024-01-21T10:10:24.1Z stdout P {"level":"error","msg":"part1-\n'
        "2024-01-21T10:10:24.2Z stderr F java.lang.IllegalStateException: boom\n"
        "2024-01-21T10:10:24.3Z stderr F \tat a.b.C.d(C.java:1)\n"
        '2024-01-21T10:10:24.4Z stdout F part2"}'
    )
    assert [(e.record.message, e.level, e.lines) for e in found] == [
        ("part1-part2", Level.error, 2),
        ("java.lang.IllegalStateException: boom", Level.error, 2),
    ]


def test_blank_lines_make_no_events_and_break_nothing() -> None:
    assert [e.line for e in events("\n\n2024-01-02 03:04:05 INFO a\n\n2024-01-02 03:04:06 INFO b\n")] == [
        3,
        5,
    ]


def test_a_runaway_trace_does_not_grow_for_ever() -> None:
    found = events("2024-01-02 03:04:05 ERROR a\n" + "\tat a.b.C.d(C.java:1)\n" * 5000)
    assert max(e.lines for e in found) <= 2000
