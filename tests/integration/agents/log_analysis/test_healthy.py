"""Healthy logs of many kinds, scary words among them: the routine raises no alarm, and says what it looked at."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta

import pytest

START = datetime(2026, 11, 28, 8, tzinfo=UTC)
LINES = 1500


def at(second: float) -> datetime:
    return START + timedelta(seconds=second)


def stamp(second: float) -> str:
    return at(second).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def application(rng: random.Random) -> Iterator[str]:
    """Text with levels: requests, now and then a slow one, reports of no errors, retries that succeed."""
    for n in range(LINES):
        yield f"{stamp(n)} INFO [http-{n % 8}] shop - GET /cart/{rng.randint(1, 999)} 200 in {rng.randint(2, 80)} ms"
        if n % 300 == 7:
            yield f"{stamp(n)} INFO shop - nightly check finished: 0 errors, 0 failures, error_rate=0.0"
        if n % 400 == 9:
            yield f"{stamp(n)} WARN shop - call to mail timed out, retry succeeded after 1 attempt"
        if n % 500 == 11:
            yield f"{stamp(n)} INFO shop - user 'panic' logged in; search term=exception query=\"out of memory\""


def structured(rng: random.Random) -> Iterator[str]:
    """JSON lines with fields that say error and mean none."""
    for n in range(LINES):
        row = {
            "time": stamp(n),
            "level": "debug" if n % 9 == 0 else "info",
            "service": ("api", "cart", "mail")[n % 3],
            "msg": "request done",
            "error": None,
            "errors": [],
            "failed": 0,
            "status": (200, 201, 304)[n % 3],
            "duration_ms": rng.randint(3, 190),
        }
        if n % 700 == 5:
            row |= {"level": "debug", "msg": "handled ValueError: no such cart, made a new one"}
        yield json.dumps(row)


def access(rng: random.Random) -> Iterator[str]:
    """An access log with bots that ask for what does not exist."""
    for n in range(LINES):
        when = at(n).strftime("%d/%b/%Y:%H:%M:%S +0000")
        path, status = (f"/p/{n % 97}", 200) if n % 11 else ("/wp-login.php", 404)
        yield f'10.0.{rng.randrange(9)}.{n % 200} - - [{when}] "GET {path} HTTP/1.1" {status} {rng.randint(90, 9000)}'


def syslog(rng: random.Random) -> Iterator[str]:
    """Sessions, timers, a lease renewed, a log rotated."""
    for n in range(LINES):
        clock = at(n * 3).strftime("%b %d %H:%M:%S")
        yield rng.choice(
            [
                f"{clock} web1 cron[{n}]: (root) CMD (run-parts /etc/cron.hourly)",
                f"{clock} web1 sshd[{n}]: Accepted publickey for deploy from 10.1.0.{n % 9} port {40000 + n}",
                f"{clock} web1 systemd[1]: Started Daily apt download activities.",
                f"{clock} web1 dhclient[77]: bound to 10.1.0.5 -- renewal in {rng.randint(900, 1800)} seconds.",
            ]
        )


def database(rng: random.Random) -> Iterator[str]:
    """Checkpoints, autovacuum, connections that come and go, a slow report at night."""
    for n in range(LINES):
        when = at(n * 2).strftime("%Y-%m-%d %H:%M:%S.000 UTC")
        yield rng.choice(
            [
                f"{when} [{n}] LOG:  checkpoint complete: wrote {rng.randint(1, 90)} buffers; sync=0.0{n % 9} s",
                f"{when} [{n}] LOG:  connection authorized: user=shop database=shop",
                f"{when} [{n}] LOG:  disconnection: session time: 0:00:0{n % 9}.123 user=shop database=shop",
                f'{when} [{n}] LOG:  automatic vacuum of table "shop.public.cart": index scans: 0',
            ]
        )


def worker(rng: random.Random) -> Iterator[str]:
    """A queue's worker: tasks received and done, batch jobs that take their time."""
    for n in range(LINES):
        day = at(n * 2).strftime("%Y-%m-%d %H:%M:%S")
        yield f"[{day},{n % 1000:03}: INFO/MainProcess] Task shop.mail[{n}] received"
        yield f"[{day},{n % 1000:03}: INFO/Worker-{n % 4}] Task shop.mail[{n}] succeeded in {rng.uniform(0.01, 0.4):.3f}s: None"
        if n % 600 == 3:
            yield f"[{day},500: INFO/Worker-1] backup job finished in {rng.randint(30, 50)} s"


def klog(rng: random.Random) -> Iterator[str]:
    """A controller of Kubernetes: leases, syncs, a watch that ends and is opened again."""
    for n in range(LINES):
        clock = at(n).strftime("%m%d %H:%M:%S.000000")
        yield f"I{clock}       1 controller.go:{n % 300}] Synced shop/cart-{rng.randint(1, 40)} in {rng.randint(1, 30)}ms"
        if n % 500 == 2:
            yield f"I{clock}       1 reflector.go:424] watch of *v1.Pod ended normally, opened again"


def chinese(rng: random.Random) -> Iterator[str]:
    """An application that speaks Chinese."""
    for n in range(LINES):
        yield f"{stamp(n)} INFO 订单服务 - 订单 {rng.randint(1, 9999)} 处理完成，耗时 {rng.randint(2, 90)} 毫秒，失败 0 次"


def deprecations(rng: random.Random) -> Iterator[str]:
    """Warnings that have been there since ever."""
    for n in range(LINES):
        yield f"{stamp(n)} INFO app - handled {rng.randint(1, 99)} items"
        if n % 40 == 3:
            yield f"{stamp(n)} WARN app - DeprecationWarning: option 'legacy' is deprecated and will be removed in 3.0"


HEALTHY = [application, structured, access, syslog, database, worker, klog, chinese, deprecations]
ALARMS: list[str] = []


@pytest.mark.parametrize("make", HEALTHY, ids=lambda make: make.__name__)
async def test_a_healthy_log_gives_no_alarm(
    desk, logs, make: Callable[[random.Random], Iterator[str]]
) -> None:
    analysis = await desk.analyse(logs("app.log", "\n".join(make(random.Random(7)))))
    ALARMS.extend(f"{make.__name__}: {f.title} ({f.score})" for f in analysis.outcome.findings)
    assert analysis.outcome.findings == []
    assert analysis.outcome.answer.startswith("No cause was found.")
    assert "Looked at" in analysis.outcome.not_found[0]
    assert "Looked for" in analysis.outcome.not_found[1]


@pytest.mark.parametrize(
    "request_text",
    ["why is it slow?", "did it recover?", "when did it start?", "top errors", "find the cause"],
)
async def test_whatever_is_asked_of_a_healthy_log_nothing_is_made_up(desk, logs, request_text: str) -> None:
    path = logs("app.log", "\n".join(application(random.Random(3))))
    outcome = (await desk.analyse(path, request=request_text)).outcome
    assert all(finding.score < 0.5 for finding in outcome.findings), outcome.findings
    assert "Most likely cause" not in outcome.answer


async def test_warnings_alone_are_at_most_a_possible_cause(desk, logs) -> None:
    rows = [f"{stamp(n)} INFO app - handled {n}" for n in range(1000)]
    rows += [
        f"{stamp(700 + n)} WARN app - connection to 10.0.0.9:6379 refused, using the cache"
        for n in range(0, 90, 3)
    ]
    outcome = (await desk.analyse(logs("app.log", "\n".join(sorted(rows))))).outcome
    assert [f.key for f in outcome.findings] == ["connection_refused"]
    assert outcome.findings[0].severity == "warning"


def test_the_count_of_false_alarms_is_told() -> None:
    print(f"false alarms: {len(ALARMS)} in {len(HEALTHY)} healthy logs")
    assert ALARMS == []
