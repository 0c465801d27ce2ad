"""Healthy logs of five kinds, made with a seed: busy, with bursts, retries and warnings, and nothing wrong."""

from __future__ import annotations

import json
import math
import random
from collections.abc import Callable, Iterator
from datetime import UTC, datetime

START = 1_764_460_800.0
HOUR = 3600.0

Line = tuple[float, str]


def web(lines: int = 4000, seed: int = 1) -> str:
    """An access log over six hours with a daily rise, bots, missing pages and now and then a slow client."""
    rng = random.Random(seed)
    paths = ["/", "/cart", "/api/items/%d", "/static/app.js", "/login", "/search?q=shoe%d"]
    out = []
    for moment in _waves(rng, lines, 6 * HOUR):
        path = rng.choice(paths)
        path = path % rng.randrange(900) if "%d" in path else path
        status = rng.choices([200, 304, 302, 404, 499], [88, 6, 3, 2.5, 0.5])[0]
        stamp = datetime.fromtimestamp(moment, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        ip = f"10.{rng.randrange(4)}.{rng.randrange(256)}.{rng.randrange(256)}"
        out.append(
            (
                moment,
                f'{ip} - - [{stamp}] "GET {path} HTTP/1.1" {status} {rng.randrange(90_000)} "-" "Mozilla/5.0"',
            )
        )
    return _text(out)


def syslog(seed: int = 2) -> str:
    """A day of a server: cron each minute, hourly jobs in bursts, users, a nightly rotation, a failed login or two."""
    rng = random.Random(seed)
    out: list[Line] = []

    def add(moment: float, program: str, text: str) -> None:
        stamp = datetime.fromtimestamp(moment, UTC).strftime("%b %d %H:%M:%S")
        out.append((moment, f"{stamp} web-1 {program}: {text}"))

    for minute in range(1440):
        add(START + 60 * minute + 1, f"CRON[{20_000 + minute}]", "(root) CMD (/usr/lib/check --fast)")
        if rng.random() < 0.4:
            add(
                START + 60 * minute + rng.random() * 60,
                "systemd[1]",
                f"Started Session {minute} of user deploy.",
            )
    for hour in range(24):
        for item in range(rng.randrange(8, 20)):
            add(START + HOUR * hour + 5 + item / 10, "backup[712]", f"copied block {item} of set {hour}")
        add(START + HOUR * hour + 9, "backup[712]", f"backup finished: {rng.randrange(90)} files, 0 errors")
    for _ in range(5):
        moment = START + rng.random() * 24 * HOUR
        add(
            moment, "sshd[991]", f"Failed password for deploy from 10.0.0.9 port {rng.randrange(60_000)} ssh2"
        )
        add(moment + 3, "sshd[991]", "Accepted publickey for deploy from 10.0.0.9 port 50022 ssh2")
    for item in range(40):
        add(START + 3 * HOUR + item / 5, "logrotate[88]", f"rotating log /var/log/app{item}.log")
    return _text(out)


def service(lines: int = 4000, seed: int = 3) -> str:
    """A JSON service over two hours: requests, cache misses, retries that succeed, slow queries."""
    rng = random.Random(seed)
    kinds: list[tuple[float, str, Callable[[], str]]] = [
        (60, "info", lambda: f"request {rng.randrange(10**6)} served in {rng.randrange(90)} ms"),
        (20, "debug", lambda: f"cache miss for key user:{rng.randrange(5000)}"),
        (10, "info", lambda: f"order {rng.randrange(10**5)} accepted"),
        (3, "warn", lambda: f"slow query took {rng.randrange(500, 900)} ms"),
        (1, "warn", lambda: f"retry 1 of 3 for payment {rng.randrange(10**5)} succeeded"),
    ]
    out = []
    for moment in _waves(rng, lines, 2 * HOUR):
        _, level, say = rng.choices(kinds, [k[0] for k in kinds])[0]
        stamp = datetime.fromtimestamp(moment, UTC).isoformat()
        pod = f"shop-{rng.randrange(3)}"
        out.append(
            (moment, json.dumps({"ts": stamp, "level": level, "service": "shop", "pod": pod, "msg": say()}))
        )
    return _text(out)


def batch(seed: int = 4) -> str:
    """A batch job that runs each ten minutes over eight hours: a burst of lines, then nothing until the next."""
    rng = random.Random(seed)
    out: list[Line] = []
    for run in range(48):
        moment = START + 600 * run + rng.random() * 3
        steps = [
            f"run {run} started",
            *(f"stage {s} read {rng.randrange(9000)} rows" for s in range(rng.randrange(5, 12))),
        ]
        if rng.random() < 0.2:
            steps.append("WARN 2 rows skipped: empty name")
        steps.append(f"run {run} finished with 0 errors")
        for step in steps:
            moment += rng.random() * 4
            stamp = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S,%f")[:-3]
            level, _, rest = step.partition(" ")
            text = f"WARN {rest}" if level == "WARN" else f"INFO {step}"
            out.append((moment, f"{stamp} {text}"))
    return _text(out)


def kubernetes(seed: int = 5) -> str:
    """Lines of four pods of one cluster over two hours: probes, leader checks, garbage collection, a scale-up."""
    rng = random.Random(seed)
    out: list[Line] = []
    for pod in ("api-7d9f6c5b8d-x2x4k", "api-7d9f6c5b8d-q9z7m", "worker-0", "worker-1"):
        beat = START + rng.random() * 10
        while beat < START + 2 * HOUR:
            out.append(
                (
                    beat,
                    f"{_z(beat)} stdout F I{datetime.fromtimestamp(beat, UTC):%m%d %H:%M:%S}.000000 1 probe.go:31] {pod} liveness probe ok",
                )
            )
            beat += 10 + rng.random() / 5
        for moment in _waves(rng, 400, 2 * HOUR):
            text = rng.choice(
                ["handled task %d", "leader lease renewed %d", "gc freed %d KiB", "watch reopened at %d"]
            )
            out.append(
                (moment, f'{_z(moment)} stdout F level=info pod={pod} msg="{text % rng.randrange(10**6)}"')
            )
    return _text(out)


ALL: dict[str, Callable[[], str]] = {
    "web access": web,
    "syslog": syslog,
    "json service": service,
    "batch": batch,
    "kubernetes": kubernetes,
}


def _waves(rng: random.Random, lines: int, length: float) -> Iterator[float]:
    """Times whose rate rises and falls by half, with a burst now and then."""
    made = 0
    while made < lines:
        at = rng.random()
        if rng.random() > 0.6 + 0.4 * math.sin(at * 2 * math.pi):
            continue
        for _ in range(rng.randrange(2, 6) if rng.random() < 0.05 else 1):
            made += 1
            yield START + at * length + rng.random()


def _z(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _text(lines: list[Line]) -> str:
    return "\n".join(text for _, text in sorted(lines)) + "\n"
