"""One planted cause of each kind that people meet: the first finding names it, with its lines, or it is measured."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

START = datetime(2026, 11, 28, 8, tzinfo=UTC)
Trouble = Callable[[int], str]


def stamp(second: float) -> str:
    return (START + timedelta(seconds=second)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def busy(trouble: Trouble, count: int = 900) -> str:
    """Requests served, with the trouble's line where it gives one."""
    chance, rows = random.Random(5), []
    for n in range(count):
        rows.append(f"{stamp(n)} INFO api - GET /x/{n} 200 in {chance.randint(5, 60)} ms")
        if said := trouble(n):
            rows.append(f"{stamp(n)} {said}")
    return "\n".join(rows)


def after(first: int, every: int, text: str) -> Trouble:
    return lambda n: text if n >= first and n % every == 0 else ""


def described(reason: str, *events: str) -> str:
    head = f"Name:             web-1\nStatus:           Pending\nContainers:\n  web:\n    State:          Waiting\n      Reason:       {reason}\n"
    rows = [f"  Warning  Failed     2m (x4 over 4m)    kubelet            {event}" for event in events]
    return head + "Events:\n" + "\n".join(rows)


def leaking() -> str:
    rows = [
        f"{stamp(n * 5)} INFO Memory usage: {200 + n} MB"
        if n % 4 == 0
        else f"{stamp(n * 5)} INFO handled {n}"
        for n in range(1200)
    ]
    return "\n".join([*rows, f"{stamp(6001)} FATAL Out of memory: heap limit reached"])


def slower(n: int) -> str:
    return f"INFO api - db query took {20 + n * n // 400} ms" if n % 2 == 0 else ""


def mailing() -> str:
    rows = []
    for n in range(120):
        rows += [
            f"{stamp(n * 9)} Processing order {n}",
            f"{stamp(n * 9 + 7)} Email sent to u{n} in 7.1s",
            f"{stamp(n * 9 + 7.2)} Processed order {n}",
        ]
    return "\n".join(rows)


def starved() -> str:
    rows = []
    for n in range(1500):
        took = 20 if n < 700 else 4000 + n % 90
        late = (
            f"{stamp(n)} ERROR api - request {n} timed out"
            if n > 710 and n % 3 == 0
            else f"{stamp(n)} INFO api - request {n} ok"
        )
        rows += [f"{stamp(n)} INFO db - query took {took} ms", late]
    return "\n".join(rows)


def cached() -> str:
    return "\n".join(
        json.dumps({"time": stamp(n), "level": "INFO", "msg": "Cache stats", "cache_entries": 900 + n * 9})
        for n in range(400)
    )


CASES = {
    "resolution": (
        busy(after(300, 5, "ERROR api - dial tcp: lookup pg.svc: no such host")),
        "name_resolution",
        "no such host",
    ),
    "permission": (
        busy(after(200, 9, "ERROR api - open /data/cache.db: permission denied")),
        "auth_failure",
        "permission denied",
    ),
    "disk": (
        busy(after(200, 9, "ERROR pg - could not write: No space left on device")),
        "disk_full",
        "No space left",
    ),
    "variable": (
        busy(after(899, 1, "ERROR api - KeyError: 'DATABASE_URL'")),
        "configuration",
        "DATABASE_URL",
    ),
    "certificate": (
        busy(after(500, 4, "ERROR api - x509: certificate has expired")),
        "certificate",
        "expired",
    ),
    "drift": (busy(slower), "slow", "db query"),
    "slow queries": (busy(after(400, 9, "WARN db - slow query: 4.2 s SELECT 1")), "slow", "4.2 s"),
    "lag": (
        busy(lambda n: f"WARN consumer - consumer lag is {n * 3} messages" if n > 300 and n % 9 == 0 else ""),
        "growth",
        "lag",
    ),
    "leak": (leaking(), "out_of_memory", "heap limit"),
    "cache": (cached(), "growth", "cache_entries"),
    "waiting": (starved(), "slow", "query"),
    "image": (
        described("ImagePullBackOff", 'Failed to pull image "shop:1.0.9x": not found'),
        "image_pull",
        "shop:1.0.9x",
    ),
    "secret": (
        described("CreateContainerConfigError", 'Error: secret "db" not found'),
        "configuration",
        'secret "db"',
    ),
    "mail": (mailing(), "slow", "Email sent"),
}


@pytest.mark.parametrize("case", CASES)
async def test_the_planted_cause_comes_first(desk, logs, case: str) -> None:
    text, key, words = CASES[case]
    request = "why is the consumer lagging?" if case == "mail" else "what is wrong?"
    analysis = await desk.analyse(logs("app.log", text), request=request)
    top = analysis.outcome.findings[0]
    assert (top.key, words in top.title) == (key, True), analysis.outcome.findings
    assert top.reasons
    assert await desk.check_evidence(analysis) >= 1
    for proof in top.against:
        assert proof.quote.strip()


async def test_what_was_used_up_is_told_with_what_grew(desk, logs) -> None:
    top = (await desk.analyse(logs("app.log", leaking()))).outcome.findings[0]
    assert any(reason.startswith("`memory usage` grew from ") for reason in top.reasons)


async def test_one_node_is_told_from_all(desk, logs) -> None:
    rows = []
    for n in range(2000):
        clock = (START + timedelta(seconds=n)).strftime("%b %d %H:%M:%S")
        bad = n % 9 == 7 and n > 900
        rows.append(
            f"{clock} node-{n % 9} kubelet[99]: "
            + ("ERROR sync failed: disk I/O error" if bad else f"synced pod {n}")
        )
    top = (await desk.analyse(logs("syslog", "\n".join(rows)))).outcome.findings[0]
    assert any("only `node-7`" in reason for reason in top.reasons)


async def test_that_it_recovered_is_told_and_does_not_speak_against_the_cause(desk, logs) -> None:
    text = busy(
        lambda n: (
            "ERROR db - connection refused"
            if 300 < n < 500 and n % 7 == 0
            else "INFO db - connection restored"
            if n == 505
            else ""
        )
    )
    analysis = await desk.analyse(logs("app.log", text))
    top = analysis.outcome.findings[0]
    assert [proof.quote for proof in top.evidence if "restored" in proof.quote]
    assert "What came after it:\n- a line says that it was over at " in analysis.outcome.answer
    assert "What speaks against it:" not in analysis.outcome.answer
    zh = (await desk.analyse(logs("b.log", text), request="为什么失败？")).outcome.answer
    assert "connection refused" in zh


async def test_where_the_log_begins_in_the_trouble_nothing_is_new(desk, logs) -> None:
    told = ("NOTICE worker {} ok", "ERROR child in error state 6", "NOTICE found child {} in slot 3")
    lines = [
        f"{(START + timedelta(minutes=n // 3)).strftime('%b %d %H:%M:%S')} web httpd[9]: "
        + told[n % 3 if n < 60 else 0].format(n)
        for n in range(600)
    ]
    done = await desk.analyse(logs("httpd.log", "\n".join(lines)))
    overview = next(call.value for call in done.calls if call.tool == "overview")
    assert (overview["begins_in_trouble"], overview["new"]) == (True, [])
    assert "The log begins in the trouble" in done.outcome.answer
    calm = [
        f"{(START - timedelta(minutes=n)).strftime('%b %d %H:%M:%S')} web httpd[9]: NOTICE worker {n} ok"
        for n in range(90, 0, -1)
    ]
    later = await desk.call(desk.ctx([logs("later.log", "\n".join([*calm, *lines]))]), "overview")
    assert "begins_in_trouble" not in later
    assert later["new"]
