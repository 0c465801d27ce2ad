"""Small incidents of kinds whose cause is not the loudest line: what is told first, beside what, and in which words."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

START = datetime(2026, 5, 4, 8, tzinfo=UTC)

Rows = list[str]


def stamp(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def line(second: float, level: str, service: str, message: str, **more: object) -> str:
    return json.dumps({"ts": stamp(second), "level": level, "service": service, "msg": message, **more})


def calm(count: int = 300, service: str = "web") -> Rows:
    return [line(n * 10, "info", service, "page served", ms=n % 9) for n in range(count)]


def put(rows: Rows, more: Rows) -> str:
    return "\n".join(sorted([*rows, *more], key=lambda row: str(json.loads(row)["ts"])))


def warned_before_giving_up() -> str:
    warned = [
        line(2000 + n, "warn", "geo", f"GET /v1/geo?q={n} returned 429 Too Many Requests") for n in range(90)
    ]
    gave_up = [line(2003 + 2 * n, "error", "worker", f"job {n} gave up after 3 attempts") for n in range(40)]
    return put(calm(), [*warned, *gave_up])


def killed_before_refused() -> str:
    killed = [
        line(t, "warn", "kubelet", "Memory cgroup out of memory: Killed process 4121 (ranker)")
        for t in (1000, 2000)
    ]
    refused = [
        line(t + 2 + n, "error", "front", "ranks unavailable: connection refused 10.3.2.9:8080")
        for t in (1000, 2000)
        for n in range(25)
    ]
    return put(calm(), [*killed, *refused])


def unnamed_before_timeouts() -> str:
    first = [line(1800 + 8 * n, "error", "stock", "replica set has no primary") for n in range(12)]
    later = [line(1815 + n, "error", "gateway", "upstream request timeout", status=504) for n in range(300)]
    return put(calm(), [*first, *later])


def clocks_apart() -> str:
    rejected = [
        line(
            1500 + 9 * n,
            "warn",
            "api",
            f"token rejected: not yet valid: nbf {stamp(1750 + 9 * n)} is in the future",
        )
        for n in range(100)
    ]
    return put(calm(), rejected)


def threads_used_up() -> str:
    rows = [f"{stamp(n * 10)} INFO 支付 交易 {n} 完成" for n in range(300)]
    rows += [f"{stamp(2000 + n * 5)} ERROR 支付 任务被拒绝：线程池队列已满，活动线程=200" for n in range(80)]
    return "\n".join(sorted(rows))


@pytest.mark.parametrize(
    ("make", "key", "said"),
    [
        (warned_before_giving_up, "rate_limited", "429 Too Many Requests"),
        (killed_before_refused, "out_of_memory", "Killed process"),
        (unnamed_before_timeouts, "error", "replica set has no primary"),
        (clocks_apart, "clock", "not yet valid"),
        (threads_used_up, "threads_exhausted", "线程池队列已满"),
    ],
    ids=lambda one: getattr(one, "__name__", None),
)
async def test_the_cause_comes_first(desk, logs, make: Callable[[], str], key: str, said: str) -> None:
    analysis = await desk.analyse(logs("a.log", make()))
    top = analysis.outcome.findings[0]
    assert (top.key, said in top.title) == (key, True)
    assert await desk.check_evidence(analysis) >= 1


async def test_a_rare_line_just_before_is_told_in_words_and_cited(desk, logs) -> None:
    flushed = line(1490, "info", "redis", "FLUSHALL executed by admin")
    failed = [
        line(1500 + n, "error", "web", "query failed: remaining connection slots are reserved")
        for n in range(60)
    ]
    analysis = await desk.analyse(logs("a.log", put(calm(), [flushed, *failed])), request="why did it break?")
    assert "the log hardly ever has: `FLUSHALL executed by admin`" in analysis.outcome.answer
    assert "FLUSHALL" in " ".join(e.quote for e in analysis.outcome.findings[0].evidence)
    assert await desk.check_evidence(analysis) >= 2
    told = (
        await desk.analyse(desk.roots[0] / "a.log", request="What changed before the errors?")
    ).outcome.answer
    assert "FLUSHALL executed by admin" in told


async def test_daily_work_that_sounds_like_a_change_is_none(desk, logs) -> None:
    head = 'I0504 {0:%H:%M:%S}.000000 1 reconcile.go:88] "Reconciled" kind="Deployment" name="app-{1}"'
    rows = [head.format(START + timedelta(seconds=n * 10), n % 60) for n in range(400)]
    bad = "E0504 {0:%H:%M:%S}.000000 1 lease.go:330] error retrieving the lock: context deadline exceeded"
    rows += [bad.format(START + timedelta(seconds=2005 + n * 200)) for n in range(8)]
    rows.sort(key=lambda row: row[6:14])
    analysis = await desk.analyse(logs("a.log", "\n".join(rows)), request="why?")
    assert "deadline exceeded" in analysis.outcome.findings[0].title
    assert "change came" not in analysis.outcome.answer
    assert "E0504`" not in analysis.outcome.answer


async def test_one_tenant_of_many_is_named_in_both_languages(desk, logs) -> None:
    names = ["globex", "hooli", "acme-eu", "stark", "wayne"]
    rows = []
    for n in range(600):
        bad = names[n % 5] == "acme-eu" and n > 300
        rows.append(
            line(
                n * 5,
                "error" if bad else "info",
                "bills",
                "no such column" if bad else "query ok",
                tenant=names[n % 5],
            )
        )
    path = logs("a.log", "\n".join(rows))
    english = await desk.analyse(path, request="why does it fail?")
    assert "Only tenant `acme-eu` shows it." in english.outcome.answer.split("\n\n")[0]
    chinese = await desk.analyse(path, request="为什么失败？")
    assert "仅tenant `acme-eu` 出现" in chinese.outcome.answer.split("\n\n")[0]
    assert await desk.check_evidence(chinese) >= 1


async def test_an_id_is_looked_up_and_a_rare_line_stands_out(desk, logs) -> None:
    odd = line(1234, "info", "ship", "parcel moved to the quarantine shelf", order=7734120)
    path = logs("a.log", put(calm(), [odd]))
    told = (await desk.analyse(path, request="Why did order 7734120 not ship?")).outcome
    assert told.answer.startswith("Lines with `7734120` (1 of 1):\n- ")
    assert told.findings == []
    odd_told = (await desk.analyse(path, request="Find anything unusual.")).outcome.answer
    assert odd_told.startswith("No sign of trouble was found. ")
    assert "`parcel moved to the quarantine shelf`" in odd_told


async def test_what_the_log_lacks_is_said_before_the_cause_of_something_else(desk, logs) -> None:
    path = logs("a.log", unnamed_before_timeouts())
    told = (await desk.analyse(path, request="Why did elasticsearch crash?")).outcome.answer
    assert told.startswith("No line holds `elasticsearch`; this is what the log does tell of:\n\n")


async def test_who_fell_silent_is_told_first(desk, logs) -> None:
    jobs = [line(n * 20, "info", "report", "batch built", rows=n) for n in range(60)]
    told = (
        await desk.analyse(logs("a.log", put(calm(), jobs)), request="why are reports missing?")
    ).outcome.answer
    assert told.startswith("`report` fell silent at ")
    assert "No line tells why." in told


async def test_a_status_is_counted_where_it_is_one_and_two_questions_get_two_answers(desk, logs) -> None:
    rows = []
    for n in range(400):
        status, size = (404, 12) if n % 8 == 0 else (200, 404)
        address = "10.0.0.9" if n % 16 == 0 else f"10.0.1.{n % 8}"
        clock = (START + timedelta(seconds=n)).strftime("%d/%b/%Y:%H:%M:%S +0000")
        rows.append(f'{address} - - [{clock}] "GET /p/404 HTTP/1.1" {status} {size}')
    path = logs("access.log", "\n".join(rows))
    told = (
        await desk.analyse(path, request="How many 404s are there, and which IP sent the most?")
    ).outcome.answer
    first, *_, most, _ = told.split("\n\n")
    assert first.startswith("50 lines with `404`, the first at ")
    assert most.startswith("None stands out") or "25" in most


async def test_who_failed_is_told_by_levels_where_no_line_has_the_word(desk, logs) -> None:
    rows = [line(n, "info", "api", "token accepted", user=f"u{n % 40}") for n in range(400)]
    rows += [
        line(200 + n, "warn", "api", "token refused", user="u7" if n % 2 else f"u{n}") for n in range(20)
    ]
    told = (
        await desk.analyse(logs("a.log", "\n".join(rows)), request="Which user failed most?")
    ).outcome.answer
    assert "`u7` has most: 10 of 20 lines of level warning or worse" in told


async def test_slow_work_is_told_from_when_on_and_not_by_a_count_of_all_its_lines(desk, logs) -> None:
    rows = [
        line(n * 5, "info", "shop", "search served", duration_ms=20 if n < 300 else 6000 + n)
        for n in range(600)
    ]
    told = (await desk.analyse(logs("a.log", "\n".join(rows)), request="why is search slow?")).outcome
    assert told.findings[0].key == "slow"
    assert f"Slow from {stamp(1500)} on" in told.findings[0].detail
    assert "lines tell of it" not in told.findings[0].detail


async def test_files_that_nobody_may_write_any_more_are_no_slip_of_one_caller(desk, logs) -> None:
    rows = [line(n * 10, "info", "media", f"stored upload {n}") for n in range(200)]
    rows += [
        line(2000 + n, "error", "media", f"upload {n} failed: Permission denied: '/data/{n}'")
        for n in range(60)
    ]
    told = (await desk.analyse(logs("a.log", "\n".join(rows)), request="why?")).outcome
    assert told.findings[0].score > 0.6
    assert "one caller" not in told.answer


async def test_warnings_of_no_known_kind_are_shown_and_raise_no_alarm(desk, logs) -> None:
    warned = [line(2000 + n * 9, "warn", "stock", "negative stock level for sku", sku=n) for n in range(90)]
    told = (await desk.analyse(logs("a.log", put(calm(), warned)), request="What is wrong?")).outcome
    assert told.findings == []
    assert f"- 90 × `negative stock level for sku`, the first at {stamp(2000)} (" in told.answer


async def test_warnings_that_came_only_before_the_trouble_are_told_with_the_last(desk, logs) -> None:
    warned = [line(1700 + 40 * n, "warn", "gauge", f"tank at {90 + 4 * n} percent") for n in range(3)]
    failed = [line(1800 + 9 * n, "error", "pump", f"no space left on device, batch {n}") for n in range(40)]
    done = (await desk.analyse(logs("a.log", put(calm(), [*warned, *failed])), request="why?")).outcome
    told = next(
        text for text in done.findings[0].reasons if "it was warned 3 times: `tank at 90 percent`" in text
    )
    assert "tank at 98 percent" in told
    assert [proof.line for proof in done.findings[0].evidence if "tank at 98" in proof.quote]
