"""Incidents and healthy logs made here: the routine names the planted cause, and raises no alarm without one."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

START = datetime(2026, 11, 28, 8, tzinfo=UTC)


def stamp(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def healthy() -> str:
    chance = random.Random(1)
    rows = []
    for n in range(4000):
        kind = chance.random()
        if kind < 0.97:
            rows.append(
                f"{stamp(n)} INFO [http-{n % 8}] shop - GET /cart/{chance.randint(1, 999)} 200 in {chance.randint(2, 80)} ms"
            )
        elif kind < 0.985:
            rows.append(f"{stamp(n)} DEBUG cache refresh errors=0 failed=0")
        elif kind < 0.995:
            rows.append(f"{stamp(n)} WARN [http-1] shop - slow request took {chance.randint(800, 1200)} ms")
        else:
            rows.append(f"{stamp(n)} INFO job finished, no errors found, 0 failures; error rate 0.0%")
    return "\n".join(rows)


def healthy_json() -> str:
    rows = [
        {"time": stamp(n), "level": "info", "msg": "request", "status": [200, 301, 404][n % 3]}
        for n in range(3000)
    ]
    return "\n".join(map(json.dumps, rows))


def healthy_syslog() -> str:
    return "\n".join(
        f"Nov 28 {8 + n // 600:02}:{n // 10 % 60:02}:{n % 60:02} web1 cron[{n}]: (root) CMD (run-parts /etc/cron.hourly)"
        for n in range(3000)
    )


def healthy_access() -> str:
    return "\n".join(
        f'10.0.0.{n % 200} - - [28/Nov/2026:08:{n // 60 % 60:02}:{n % 60:02} +0000] "GET /p/{n % 97} HTTP/1.1" {(200, 304, 404)[n % 3]} {n}'
        for n in range(3000)
    )


@pytest.mark.parametrize("make", [healthy, healthy_json, healthy_syslog, healthy_access])
async def test_a_healthy_log_gives_no_alarm(desk, logs, make: Callable[[], str]) -> None:
    analysis = await desk.analyse(logs("app.log", make()))
    assert analysis.outcome.findings == []
    assert "Looked at" in analysis.outcome.not_found[0]
    assert analysis.outcome.answer.startswith("No cause was found.")


def noise_and_deploy() -> str:
    rows = []
    for n in range(4000):
        if n % 20 == 0:
            rows.append(
                f"{stamp(n)} ERROR metrics - cannot push to statsd: connection refused 10.0.0.{n % 9}:8125"
            )
        elif n == 2511:
            rows.append(f"{stamp(n)} INFO deploy - deployed checkout version 1.4.2 -> 1.5.0, pool size 2")
        elif n > 2530 and n % 3 == 0:
            rows += [
                f"{stamp(n)} ERROR checkout - request {n} failed",
                "Traceback (most recent call last):",
                '  File "/app/pool.py", line 42, in acquire',
                "    raise PoolExhausted()",
                "checkout.pool.PoolExhausted: connection pool exhausted: 2/2 connections in use after 5.0 s",
            ]
        else:
            rows.append(f"{stamp(n)} INFO checkout - request {n} served 200")
    return "\n".join(rows)


async def test_new_trouble_after_a_deploy_beats_old_noise(desk, logs) -> None:
    analysis = await desk.analyse(logs("checkout.log", noise_and_deploy()))
    top, *others = analysis.outcome.findings
    assert top.key == "pool_exhausted"
    assert "2/2" in top.title
    quotes = [e.quote for e in top.evidence]
    assert any("deployed checkout" in q for q in quotes)
    assert any(q.startswith("checkout.pool.PoolExhausted") for q in quotes)
    assert [f.key for f in others] == ["connection_refused"]
    assert others[0].score < 0.5
    assert await desk.check_evidence(analysis) >= 3


async def test_a_changed_setting_is_cited_with_what_it_broke(desk, logs) -> None:
    rows = []
    for n in range(3000):
        row = {
            "timestamp": stamp(n),
            "level": "INFO",
            "service": "api",
            "message": "Request completed",
            "status": 200,
        }
        if n == 1500:
            row["message"] = "Configuration reloaded: db.timeout_ms changed from 5000 to 50"
        elif n > 1503 and n % 4 == 0:
            row.update(level="ERROR", message="Query timed out after 50ms", status=504)
        rows.append(json.dumps(row))
    top = (await desk.analyse(logs("api.log", "\n".join(rows)))).outcome.findings[0]
    assert top.key == "timeout"
    assert [e.line for e in top.evidence][:2] == [1505, 1501]
    assert "follows a change" in top.detail


async def test_the_killed_process_beats_its_consequences(desk, logs) -> None:
    rows = []
    for n in range(2000):
        clock = (START + timedelta(seconds=n * 3)).strftime("%b %d %H:%M:%S")
        if n == 1500:
            rows += [
                f"{clock} node7 kernel: java invoked oom-killer: gfp_mask=0x100cca, order=0",
                f"{clock} node7 kernel: Out of memory: Killed process 4242 (java) total-vm:8123456kB",
            ]
        elif n > 1500 and n % 5 == 0:
            rows.append(
                f"{clock} node7 nginx[99]: connect() failed (111: Connection refused) while connecting to upstream"
            )
        else:
            rows.append(f"{clock} node7 sshd[{n}]: session opened for user deploy by (uid=0)")
    top = (await desk.analyse(logs("syslog", "\n".join(rows)))).outcome.findings[0]
    assert top.key == "out_of_memory"
    assert {e.line for e in top.evidence} == {1501, 1502}


async def test_one_unknown_error_line_is_found(desk, logs) -> None:
    rows = [f"{stamp(n)} [info] worker {n % 4}: processed batch {n}" for n in range(5000)]
    rows[3100] = f"{stamp(3100)} [error] worker 2: ledger mismatch: expected 120.50 got 120.49"
    top = (await desk.analyse(logs("w.log", "\n".join(rows)))).outcome.findings[0]
    assert "ledger mismatch" in top.title
    assert [e.line for e in top.evidence] == [3101]


async def test_a_chain_over_files_starts_at_its_root(desk, logs) -> None:
    plan = (
        ("gateway", 1215, "upstream orders timed out"),
        ("inventory", 1200, "No space left on device: /var/lib/wal"),
        ("orders", 1210, "inventory returned 503"),
    )
    for service, first, message in plan:
        rows = [
            f"{stamp(n)} ERROR {message}"
            if n >= first and (n - first) % 7 == 0
            else f"{stamp(n)} INFO handled {n}"
            for n in range(2000)
        ]
        logs(f"pods/{service}.log", "\n".join(rows))
    folder = desk.roots[0] / "pods"
    analysis = await desk.analyse(folder)
    top = analysis.outcome.findings[0]
    assert top.key == "disk_full"
    assert top.evidence[0].source == str(folder / "inventory.log")
    assert top.detail.index("inventory (") < top.detail.index("orders (") < top.detail.index("gateway (")
    assert await desk.check_evidence(analysis) >= 3


async def test_a_burst_of_server_errors_in_an_access_log(desk, logs) -> None:
    rows = [
        f'10.0.0.{n % 200} - - [{(START + timedelta(seconds=n)).strftime("%d/%b/%Y:%H:%M:%S +0000")}] "GET /p/{n % 97} HTTP/1.1" '
        f"{502 if 3000 < n < 3300 and n % 2 else 200} 12"
        for n in range(5000)
    ]
    top = (await desk.analyse(logs("access.log", "\n".join(rows)))).outcome.findings[0]
    assert "502" in top.title
    assert top.evidence[0].line == 3002


async def test_a_log_without_times_is_split_by_line(desk, logs) -> None:
    rows = (
        [f"INFO handled request {n}" for n in range(500)]
        + ["ERROR disk full"]
        + [f"INFO retrying {n}" for n in range(100)]
    )
    analysis = await desk.analyse(logs("plain.log", "\n".join(rows)))
    assert analysis.outcome.findings[0].key == "disk_full"
    compare = next(c for c in analysis.calls if c.tool == "compare")
    assert compare.arguments["split_at"] == "line 501"
    assert compare.value["new_total"] >= 1


async def test_compare_shows_what_vanished(desk, logs) -> None:
    rows = [f"{stamp(n)} INFO heartbeat from node {n % 3}" for n in range(0, 1000, 2)]
    rows += [f"{stamp(n)} INFO request {n} served" for n in range(0, 2000, 2)]
    ctx = desk.ctx([logs("a.log", "\n".join(sorted(rows)))])
    answer = await desk.call(ctx, "compare", split_at=stamp(1000))
    assert [row["template"] for row in answer["vanished"]] == ["heartbeat from node <*>"]
    assert answer["vanished"][0]["before"] == 500
    halves = await desk.call(
        ctx, "compare", before=f"{stamp(0)}..{stamp(400)}", after=f"{stamp(400)}..{stamp(800)}"
    )
    assert (
        halves["new_total"] == halves["vanished_total"] == halves["more_total"] == halves["fewer_total"] == 0
    )


async def test_search_pages_filters_and_counts(desk, logs) -> None:
    rows = [f"{stamp(n)} {'ERROR' if n % 10 == 0 else 'INFO'} item {n}" for n in range(1000)]
    ctx = desk.ctx([logs("a.log", "\n".join(rows))])
    first = await desk.call(ctx, "search", level="error", limit=30)
    assert (first["total"], len(first["hits"]), first["cursor"]) == (100, 30, "30")
    second = await desk.call(ctx, "search", level="error", limit=30, cursor=first["cursor"])
    assert second["hits"][0]["line"] == 301
    newest = await desk.call(ctx, "search", pattern="error item", limit=2, newest_first=True)
    assert [h["line"] for h in newest["hits"]] == [991, 981]
    window = await desk.call(ctx, "search", since=stamp(100), until=stamp(109))
    assert window["total"] == 10
    counts = await desk.call(ctx, "histogram", bucket="100s", level="error")
    assert [b["count"] for b in counts["buckets"]] == [10] * 10


async def test_a_hostile_pattern_costs_nothing(desk, logs) -> None:
    ctx = desk.ctx([logs("a.log", "2026-01-01T00:00:00Z ERROR " + "a" * 5000)])
    assert (await desk.call(ctx, "search", pattern="(a+)+$"))["total"] == 1
    assert (await desk.call(ctx, "search", pattern="(a|aa)+b"))["total"] == 0


async def test_a_folder_of_three_hundred_files_is_read_as_far_as_the_limit(desk, logs) -> None:
    for n in range(230):
        logs(f"many/{n:03}-x.log", f"{stamp(n)} ERROR boom number {n}\n")
    answer = await desk.call(desk.ctx([desk.roots[0] / "many"]), "overview")
    assert answer["lines"] == 200
    assert any("200 of 230" in note for note in answer["not_read"])


async def test_the_deploy_just_before_is_cited_not_an_earlier_one_and_the_last_line_too(desk, logs) -> None:
    rows = [f"{stamp(0)} INFO [checkout] deployed version 1.4.2 config pool_size=20"]
    rows += [f"{stamp(n)} INFO [checkout] POST /checkout 200 order={n}" for n in range(1, 300)]
    rows += [f"{stamp(300)} INFO [checkout] deployed version 1.5.0 config pool_size=2"]
    rows += [f"{stamp(n)} ERROR [checkout] pool exhausted: 2/2 connections in use" for n in range(305, 330)]
    analysis = await desk.analyse(logs("checkout.log", "\n".join(rows)))
    top = analysis.outcome.findings[0]
    assert top.key == "pool_exhausted"
    assert [e.line for e in top.evidence] == [302, 301, len(rows)]
    assert await desk.check_evidence(analysis) == 3
