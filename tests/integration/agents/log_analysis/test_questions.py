"""Questions that are no search for a cause, without a model: the answer has the number a tool returned, and its lines."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

START = datetime(2026, 11, 28, 10, tzinfo=UTC)


def stamp(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@pytest.fixture
def log(logs) -> Path:
    """Forty minutes: a pool runs empty from 10:20 to 10:30, then it recovers; one address asks most."""
    rows = []
    for n in range(2400):
        address = "10.0.0.9" if n % 3 == 0 else f"10.0.0.{n % 7}"
        if 1200 <= n < 1800 and n % 5 == 0:
            rows.append(
                f"{stamp(n)} ERROR checkout - pool exhausted: 20/20 connections in use, client={address}"
            )
        elif n == 1190:
            rows.append(f"{stamp(n)} INFO checkout - deployed version 1.5.0")
        elif n == 1801:
            rows.append(f"{stamp(n)} INFO checkout - pool recovered: 3/20 connections in use")
        elif n % 100 == 7:
            rows.append(f"{stamp(n)} WARN checkout - login failed for user ann from {address}")
        else:
            rows.append(f"{stamp(n)} INFO checkout - GET /cart 200 client={address}")
    return logs("checkout.log", "\n".join(rows))


async def answer(desk, log: Path, request: str) -> str:
    analysis = await desk.analyse(log, request=request)
    assert analysis.outcome.not_done == []
    await desk.check_evidence(analysis)
    return analysis.outcome.answer


async def test_how_many_per_minute(desk, log) -> None:
    told = await answer(desk, log, "how many errors per minute?")
    assert told.startswith("120 lines of level error or worse: 3")
    assert "most from 2026-11-28T10:20:00.000Z on: 12 in 60 s" in told
    zh = await answer(desk, log, "每分钟多少错误")
    assert re.search(r"120 行", zh), zh


async def test_which_has_most(desk, log) -> None:
    told = await answer(desk, log, "which IP sent most requests?")
    assert told.startswith("`10.0.0.9` has most: ")
    assert "checkout.log:1)" in told


@pytest.mark.parametrize(
    ("request_text", "count"),
    [
        ("how many errors are there?", 120),
        ("how many errors since 10:25?", 60),
        ("how many errors in the last hour", 120),
        ("how many times did 'pool exhausted' occur between 10:20 and 10:22:00?", 25),
        ("How many failed logins were there?", 24),
        ("how many login failures were there", 24),
        ("how many segfaults are there", 0),
        ("how many lines contain deployed?", 1),
        ("最近15分钟有多少错误", 60),
    ],
)
async def test_counts(desk, log, request_text: str, count: int) -> None:
    told = await answer(desk, log, request_text)
    if count > 1:
        assert told.startswith((f"{count} lines", f"共 {count} 行")), told
    else:
        assert told.startswith("1 line only" if count else "No line holds `segfaults`."), told
    if count:
        assert "checkout.log:" in told


async def test_when_it_started_and_whether_it_recovered(desk, log) -> None:
    told = await answer(desk, log, "when did it start?")
    assert told.startswith("It began at 2026-11-28T10:20:00.000Z; the first line of trouble is ")
    assert "Connection pool exhausted" in told or "pool exhausted" in told
    hourly = await answer(desk, log, "errors per hour since 10:25")
    assert hourly.startswith("60 lines of level error or worse from 2026-11-28T10:25:00.000Z to the end: ")
    recovered = await answer(desk, log, "did it recover?")
    assert recovered.startswith("Yes: a line says so at 2026-11-28T10:30:01.000Z")
    again = await answer(desk, log, "since when do we see 'pool exhausted' and why?")
    assert again.startswith("The first line that says so is of 2026-11-28T10:20:00.000Z")
    assert "Most likely cause" in again


async def test_what_changed_and_what_happened(desk, log) -> None:
    changed = await answer(desk, log, "what changed since 10:20?")
    assert changed.startswith("Since 2026-11-28T10:20:00.000Z: ")
    assert "pool exhausted" in changed
    assert "Changes seen:\n- " in changed
    assert "deployed version 1.5.0" in changed
    happened = await answer(desk, log, "what happened at 10:20?")
    assert happened.startswith("121 lines from 2026-11-28T10:19:00.000Z to 2026-11-28T10:21:00.000Z, ")
    assert "deployed version 1.5.0" in happened or "pool exhausted" in happened


async def test_the_most_frequent_errors(desk, log) -> None:
    told = await answer(desk, log, "top errors")
    assert told.startswith("The most frequent lines of level error or worse:\n1. 120 lines: `pool exhausted")


async def test_a_window_narrows_the_search_for_a_cause(desk, log) -> None:
    told = await answer(desk, log, "requests fail before 10:10, find the cause")
    assert "pool exhausted" not in told.split("\n\n")[0]
    late = await answer(desk, log, "requests fail since 10:25, find the cause")
    assert "pool exhausted" in late.split("\n\n")[0]
    assert "it was there before the window asked about, at 2026-11-28T10:20:00.000Z already" in late


@pytest.mark.parametrize(
    ("window", "cause"), [("between 10:00 and 10:30", "disk full"), ("at 11:05", "certificate has expired")]
)
async def test_the_ranking_of_causes_is_that_of_the_window_asked_about(
    desk, logs, window: str, cause: str
) -> None:
    said = {600: "disk full: no space left on device", 4000: "certificate has expired for peer 10.0.0.8"}
    rows = []
    for n in range(0, 5400, 3):
        text = next((f"ERROR store - {t}" for at, t in said.items() if at <= n < at + 18 and n % 2), "")
        text = text or ("ERROR gate - upstream timed out after 30 s" if n % 90 == 0 and n > 2700 else "")
        rows.append(f"{stamp(n)} {text or f'INFO store - stored order {n}'}")
    log = logs("store.log", "\n".join(rows))
    analysis = await desk.analyse(log, request=f"why did it fail {window}?")
    await desk.check_evidence(analysis)
    first = analysis.outcome.answer.split("\n\n")[0]
    assert cause in first
    assert "events around what was asked about were judged" in first
    others = [text for text in said.values() if cause not in text]
    assert not any(text[:12] in finding.title for text in others for finding in analysis.outcome.findings)
    assert "3 lines tell" in analysis.outcome.findings[0].detail


async def test_a_window_that_is_well_is_told_with_what_is_wrong_elsewhere(desk, log) -> None:
    told = await answer(desk, log, "why did it fail between 10:02 and 10:08?")
    assert told.startswith("No cause was found.")
    assert "Outside of it the log tells of trouble: " in told
    assert "at 2026-11-28T10:20:00.000Z (" in told


@pytest.mark.parametrize(
    ("request_text", "start"),
    [
        ("which IP had most failed logins?", "`10.0.0.9` has most: "),
        ("how many failed logins for user bob?", "Not looked for: `user`. No line holds `bob`."),
        (
            "how many times did the pool recover?",
            "1 line only (lines with `pool` + `recover`), at 2026-11-28T10:30:01",
        ),
        ("when was the last pool exhausted error?", "It came last at 2026-11-28T10:29:55.000Z"),
        ("when did login failures start?", "The first line that says so is of 2026-11-28T10:00:07.000Z"),
        ("was there a deploy?", "1 line only (lines with `deploy`), at 2026-11-28T10:19:50.000Z"),
        ("login failures per hour", "24 lines"),
    ],
)
async def test_what_is_asked_of_certain_lines(desk, log, request_text: str, start: str) -> None:
    assert (await answer(desk, log, request_text)).startswith(start)


async def test_an_alert_is_no_question(desk, log) -> None:
    ctx = desk.ctx([log], "how many errors per minute?", labels={"alertname": "ErrorRate"})
    assert ctx.work.labels
    from agents.log_analysis.routine import routine
    from agents.runtime.spec import TurnView

    turn = routine(TurnView(work=ctx.work, turns=[], tools=list(desk.tools), turns_left=8))
    assert [c.tool for c in turn.calls] == ["overview"]


async def test_a_log_without_times_says_so_and_answers_what_it_can(desk, logs) -> None:
    path = logs("plain.log", "\n".join(["INFO fine"] * 50 + ["ERROR disk full"] * 3))
    assert (await answer(desk, path, "how many errors?")).startswith("3 lines of level error or worse")
    analysis = await desk.analyse(path, request="how many errors per minute?")
    assert "disk full" in analysis.outcome.answer


async def test_what_is_asked_in_chinese_is_answered_in_chinese_and_the_finding_stays_english(
    desk, log
) -> None:
    outcome = (await desk.analyse(log, request="为什么结账失败？")).outcome
    assert outcome.answer.startswith("最可能的原因"), outcome.answer
    assert "lines tell of it" in outcome.findings[0].detail


async def test_the_name_of_a_file_is_no_service_and_files_without_times_tell_no_order(desk, logs) -> None:
    first = logs("kubectl_logs.txt", "INFO:app:serving\nERROR:app:cannot reach queue\n")
    second = logs("kubectl_previous.txt", "INFO:app:serving\nERROR:app:disk is full\n")
    outcome = (await desk.analyse(first, second)).outcome
    assert outcome.findings
    for text in (outcome.answer, *(f"{f.title} {f.detail}" for f in outcome.findings)):
        assert "First error of each service" not in text
        assert "Service: kubectl" not in text
        assert "silent" not in text
    rotated = (await desk.analyse(logs("shop.log", "ERROR disk is full\n"), first)).outcome
    assert "Service: shop." in rotated.findings[0].detail


SSHD = [
    "pam_unix(sshd:auth): authentication failure; logname= uid=0 rhost={ip}",
    "Failed password for root from {ip} port 4{n:04} ssh2",
    "error: Received disconnect from 10.0.0.7: 3: Auth fail",
]


@pytest.mark.parametrize(
    ("request_text", "begins"),
    [
        ("how many failed logins in total?", "60 lines of the kind `Failed password for …`, the first at"),
        ("How many times did a login fail?", "60 lines of the kind `Failed password for …`"),
        ("登录失败多少次？", "共 60 行 `Failed password for …` 类日志"),
        (
            "which IP failed to log in most often?",
            "`10.0.0.1` has most: 45 of 60 lines that say that a login",
        ),
        ("how many failed logins per hour?", "60 lines that say that a login failed: "),
    ],
)
async def test_an_event_that_several_lines_tell_of_counts_once(
    desk, logs, request_text: str, begins: str
) -> None:
    rows = [
        f"Dec 10 07:{n:02}:{second:02} web sshd[{n}]: "
        + told.format(ip="10.0.0.1" if n % 4 else "10.0.0.2", n=n)
        for n in range(60)
        for second, told in enumerate(SSHD)
    ]
    told = await answer(desk, logs("auth.log", "\n".join(rows)), request_text)
    assert told.startswith(begins), told
    assert "120" in told.splitlines()[-1]


async def test_failed_logins_in_other_words_are_found_by_the_kind_of_cause(desk, logs) -> None:
    rows = [
        f"2026-11-28T10:00:{n:02}Z WARN gate - {'invalid credentials of bob' if n % 3 else 'ok'}"
        for n in range(60)
    ]
    told = await answer(desk, logs("gate.log", "\n".join(rows)), "how many failed logins in total?")
    assert told.startswith("40 lines of the kind Authentication or authorisation failed"), told


@pytest.fixture
def fleet(logs) -> Path:
    """Three hosts, the errors at one of them; warnings there, and the name of one begins as another does."""
    rows = [f"{stamp(n)} db-{n % 3 or 12} billing INFO invoice {n} of billing sent" for n in range(90)]
    rows += [f"{stamp(90 + n)} db-2 billing ERROR invoice {n} lost" for n in range(8)]
    rows += [f"{stamp(100 + n)} db-12 billing WARN invoice {n} late" for n in range(3)]
    return logs("fleet.log", "\n".join(rows))


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("how many errors per host?", "8 lines of level error or worse, by host:\n- `db-2`  8 "),
        ("how many errors per host?", "- none: `db-12`, `db-1`"),
        ("每台主机有多少错误？", "- `db-2`  8 "),
        ("how many errors on db-1?", "`db-1` (host) has none of the 8 lines of level error or worse."),
        ("how many errors on db-2?", "`db-2` (host) has 8 of 8 lines of level error or worse"),
        ("how many warnings?", "3 lines of level warning, "),
        ("which host has the most errors and when did it start?", "It began at 2026-11-28T10:01:30"),
        (
            "how many errors with invoice and late?",
            "At any level, lines with each word: `invoice` 101, `late` 3.",
        ),
    ],
)
async def test_whose_lines_are_counted(desk, fleet, request_text: str, told: str) -> None:
    assert told in (await answer(desk, fleet, request_text)).replace("\n\n", "\n")


async def test_the_cause_comes_before_whether_it_is_over_where_that_was_asked_last(desk, log) -> None:
    told = await answer(desk, log, "what is the cause of it and did it recover?")
    assert told.index("Most likely cause") < told.index("a line says so")
