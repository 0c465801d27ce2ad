"""Frames and roots of traces in the languages people run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.log_analysis.judging.traces import own_frame, traces
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import summarise

JAVA = """2026-01-01T00:00:00Z ERROR [http-1] checkout - order 1 failed
org.springframework.dao.DataAccessException: failed
\tat org.springframework.jdbc.core.JdbcTemplate.execute(JdbcTemplate.java:643)
\tat com.shop.orders.OrderStore.save(OrderStore.java:88)
Caused by: java.sql.SQLTransientConnectionException: HikariPool-1 - Connection is not available
\tat com.zaxxer.hikari.pool.HikariPool.createTimeoutException(HikariPool.java:696)
\tat com.shop.orders.Database.open(Database.java:31)
\t... 12 more"""
PYTHON = """2026-01-01 00:00:00,000 ERROR checkout: request failed
Traceback (most recent call last):
  File "/app/shop/api.py", line 12, in post
    store.save(order)
  File "/app/shop/store.py", line 42, in save
    pool.get()
  File "/usr/lib/python3.11/site-packages/pool/core.py", line 9, in get
    raise Exhausted()
pool.core.Exhausted: no connection left"""
NODE = """2026-01-01T00:00:00Z ERROR TypeError: Cannot read properties of undefined
    at parse (/srv/node_modules/body-parser/index.js:4:2)
    at handler (/srv/app/routes/cart.js:17:9)
    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)"""
GO = """panic: runtime error: invalid memory address or nil pointer dereference

goroutine 1 [running]:
runtime.gopanic(0x1)
\t/usr/local/go/src/runtime/panic.go:884 +0x212
main.serve(0x2)
\t/app/cmd/serve.go:55 +0x1d"""
DOTNET = """2026-01-01T00:00:00Z [ERR] Unhandled exception. System.InvalidOperationException: Sequence contains no elements
   at System.Linq.Enumerable.First[T](IEnumerable`1 s)
   at Shop.Cart.Total(Int32 id) in /src/Shop/Cart.cs:line 23"""


@pytest.mark.parametrize(
    ("text", "frame"),
    [
        (JAVA, "com.shop.orders.OrderStore.save (OrderStore.java:88)"),
        (PYTHON, "save (store.py:42)"),
        (NODE, "handler (cart.js:17)"),
        (GO, "serve.go:55"),
        (DOTNET, "Shop.Cart.Total(Int32 id) (Cart.cs:23)"),
    ],
)
def test_the_own_frame_nearest_to_the_raise(text: str, frame: str) -> None:
    found = own_frame(text.split("\n"))
    assert found is not None
    assert found[1] == frame


def test_a_trace_of_libraries_alone_gives_its_first_frame() -> None:
    found = own_frame(["\tat java.lang.Thread.run(Thread.java:1)", "\tat java.lang.Foo.bar(Foo.java:2)"])
    assert found == (0, "java.lang.Thread.run (Thread.java:1)")
    assert own_frame(["no frame here"]) is None


@pytest.mark.parametrize(
    ("text", "exception", "frame", "line"),
    [
        (
            JAVA,
            "java.sql.SQLTransientConnectionException",
            "com.shop.orders.Database.open (Database.java:31)",
            7,
        ),
        (PYTHON, "pool.core.Exhausted", "save (store.py:42)", 5),
        (NODE, "TypeError", "handler (cart.js:17)", 3),
        (DOTNET, "System.InvalidOperationException", "Shop.Cart.Total(Int32 id) (Cart.cs:23)", 3),
    ],
)
def test_traces_are_grouped(
    scan_of: Callable, tmp_path: Path, text: str, exception: str, frame: str, line: int
) -> None:
    scan = scan_of("\n".join([text] * 3 + ["2026-01-01T00:00:01Z INFO done"]))
    (trace,) = traces(scan, summarise(scan), None)
    assert (trace.exception, trace.frame, trace.frame_line, trace.count) == (exception, frame, line, 3)


def test_a_log_without_traces_has_none(scan_of: Callable) -> None:
    scan = scan_of("2026-01-01T00:00:01Z ERROR failed\n2026-01-01T00:00:02Z INFO done")
    assert traces(scan, summarise(scan), None) == []


@pytest.mark.parametrize(("lines", "count", "partial"), [(60, 60, False), (120, 100, True)])
def test_of_very_many_traces_the_first_are_read_and_it_is_said(
    scan_of: Callable[..., Scan], lines: int, count: int, partial: bool
) -> None:
    scan = scan_of("\n".join([JAVA] * lines))
    (trace,) = traces(scan, summarise(scan), None)
    assert (trace.count, trace.partial) == (count, partial)


def test_traces_in_a_field_or_in_the_lines_of_a_container_are_grouped_too(scan_of: Callable) -> None:
    head, *trace = JAVA.split("\n")
    stack = {"ts": "2026-01-01T00:00:00Z", "level": "error", "msg": "order failed", "stack": "\n".join(trace)}
    node = {**stack, "stack": "Error: no route\n    at pay (/srv/app/pay.js:12:3)"}
    wrapped = [
        json.dumps({"log": f"{x}\n", "stream": "stderr", "time": "2026-01-01T00:00:00Z"})
        for x in (head, *trace)
    ]
    for lines, frame, line in (
        ([json.dumps(stack)], "com.shop.orders.Database.open (Database.java:31)", 1),
        ([json.dumps(node)], "pay (pay.js:12)", 1),
        (wrapped, "com.shop.orders.Database.open (Database.java:31)", 7),
    ):
        scan = scan_of("\n".join(lines * 3))
        (found,) = traces(scan, summarise(scan), None)
        assert (found.frame, found.frame_line, found.count) == (frame, line, 3)
