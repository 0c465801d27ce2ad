from __future__ import annotations

from datetime import UTC, datetime

import pytest

from agents.log_analysis.formats.events import Assembler, Event
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.traces import go_call, inside, of_text, root

TRACES = {
    "java": (
        """2025-11-29 10:20:00 ERROR a
com.acme.OuterException: outer
\tat com.acme.A.b(A.java:1)
\tSuppressed: com.acme.CloseException: late
\t\tat com.acme.C.d(C.java:2)
\tCaused by: com.acme.HiddenException: not the root
\t\t... 2 more
Caused by: java.net.ConnectException: refused
\t... 12 more""",
        "java.net.ConnectException: refused",
        8,
    ),
    "python": (
        """2025-11-29 10:20:00 ERROR a
Traceback (most recent call last):
  File "/a.py", line 1, in f
    g()
    ~~~~^^
redis.Refused: no route

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "/b.py", line 2, in h
shop.CheckoutFailed""",
        "redis.Refused: no route",
        6,
    ),
    "go": (
        """2025-11-29T10:20:00Z ERROR a
panic: runtime error: index out of range [3] with length 2
[signal SIGSEGV: segmentation violation]

goroutine 7 [running]:
main.(*Server).handle(0xc000, {0x1, 0x2})
\t/src/main.go:10 +0x1d
net/http.HandlerFunc.ServeHTTP(...)
\t/go/http.go:20 +0x2
created by main.main in goroutine 1
\t/src/main.go:5
exit status 2""",
        "panic: runtime error: index out of range [3] with length 2",
        2,
    ),
    "node": (
        """2025-11-29T10:20:00Z ERROR a
Error: outer
    at f (/a.js:1:2)
    at async g (/a.js:3:4) {
  [cause]: Error: connect ECONNREFUSED 1.2.3.4:5432
      at h (node:net:1:1)
}""",
        "Error: connect ECONNREFUSED 1.2.3.4:5432",
        5,
    ),
    "dotnet": (
        """2025-11-29T10:20:00Z ERROR a
System.AggregateException: One or more errors occurred.
 ---> (Inner Exception #0) System.TimeoutException: slow
   at A.B() in /a.cs:line 1
   --- End of inner exception stack trace ---
   at A.C()""",
        "System.TimeoutException: slow",
        3,
    ),
    "rust": (
        """2025-11-29T10:20:00Z ERROR a
thread 'main' panicked at src/main.rs:4:5:
called `Result::unwrap()` on an `Err` value: Refused
stack backtrace:
   0: rust_begin_unwind
             at /rustc/1/library/std/src/panicking.rs:1:5
note: run with `RUST_BACKTRACE=full`""",
        "thread 'main' panicked at src/main.rs:4:5: called `Result::unwrap()` on an `Err` value: Refused",
        2,
    ),
    "ruby": (
        """2025-11-29T10:20:00Z ERROR a
/app/a.rb:10:in `pay': card refused (Pay::CardError)
\tfrom /app/b.rb:5:in `run'
\tfrom /app/c.rb:1:in `<main>'""",
        "/app/a.rb:10:in `pay': card refused (Pay::CardError)",
        2,
    ),
    "php": (
        """2025-11-29T10:20:00Z ERROR a
PHP Fatal error:  Uncaught PDOException: refused in /a.php:3
Stack trace:
#0 /a.php(3): PDO->__construct()
#1 {main}
  thrown in /a.php on line 3""",
        "Uncaught PDOException: refused in /a.php:3",
        2,
    ),
}


def events(text: str) -> list[Event]:
    return list(Assembler(Parser(datetime(2026, 1, 1, tzinfo=UTC))).events(enumerate(text.split("\n"), 1)))


@pytest.mark.parametrize("language", TRACES)
def test_a_trace_is_one_event_with_its_root(language: str) -> None:
    text, expected, line = TRACES[language]
    found = events(f"{text}\n2025-11-29T10:20:01Z INFO next")
    assert len(found) == 2
    assert (found[0].root, found[0].root_line, found[0].level.name) == (expected, line, "error")
    assert found[1].record.message == "next"


@pytest.mark.parametrize("language", TRACES)
def test_a_trace_in_one_field_has_the_same_root(language: str) -> None:
    text, expected, _ = TRACES[language]
    if language != "rust":  # its words stand on a line of their own
        assert of_text(text.partition("\n")[2]) == expected


def test_a_trace_with_a_time_on_every_line_is_joined() -> None:
    lines = TRACES["java"][0].split("\n")[1:]
    stamped = "\n".join(f"2025-11-29T10:20:00.123456789Z {line}" for line in ["ERROR a", *lines])
    found = events(stamped)
    assert [(e.root, e.lines) for e in found] == [("java.net.ConnectException: refused", 9)]
    sent = "\n".join(f"Nov 29 10:20:00 n1 pay[7]: {line}" for line in lines)
    assert [e.root for e in events(sent)] == ["java.net.ConnectException: refused"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("just words", False),
        ("at noon we left", False),
        ("\tat a.b.C.d(C.java:1)", True),
        ("#0 [internal function]: x", True),
        ("# a comment", False),
        ("Caused by: x.Y: z", True),
        ("caused by the weather", False),
        ('"}', True),
    ],
)
def test_only_lines_of_traces_are_inside(line: str, expected: bool) -> None:
    assert inside(line) is expected


@pytest.mark.parametrize(
    "line", ["Error budget spent", "No Exception here", "ErrorHandler started", "panic room is open"]
)
def test_prose_is_no_root(line: str) -> None:
    assert root(line) == ""


def test_calls_of_go() -> None:
    assert go_call("main.(*Server).handle(0xc000)")
    assert go_call("net/http.HandlerFunc.ServeHTTP(...)")
    assert not go_call("GET /x (200)")
