"""Makes synthetic service logs of any size, seeded: JSON and plain lines, bursts, traces, CJK, values, one needle."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

MEGABYTE = 1_000_000
#: What only one line says, at `NEEDLE_AT` of the file's bytes.
NEEDLE = "database disk image is malformed: page checksum mismatch"
NEEDLE_AT = 0.63
START = datetime(2026, 3, 1, 6, 0, tzinfo=UTC)

_PLAIN = ("gateway", "inventory", "mailer")
_JSON = ("checkout", "payments", "search")
_USERS = ("amelie", "bo", "chen", "dmitri", "esra", "farid", "grace", "hiro")
_INFO = (
    "request {id} completed GET /api/v1/items/{n} 200 in {ms} ms",
    "cache refreshed {n} entries in {ms} ms",
    "session {id} opened for user {user} from {ip}:{port}",
    "worker {small} took job {n} from queue orders",
    "connected to 10.0.{small}.{octet}:{port}",
    "heartbeat ok lag={ms}ms offset={n}",
    "订单 {n} 已处理，耗时 {ms} 毫秒",
)
_WARN = ("slow query took {ms} ms on orders rows={n}", "retry {small} for request {id} after {ms} ms")
_ERROR = (
    "connection to 10.0.{small}.{octet}:{port} timed out after {ms} ms",
    "upstream returned status 503 for request {id}",
    "支付失败: 订单 {n} 超时",
)
_TRACE = (
    "java.lang.IllegalStateException: pool exhausted, {small} waiting",
    "\tat com.example.pool.Pool.take(Pool.java:{octet})",
    "\tat com.example.orders.Orders.load(Orders.java:{port})",
    "Caused by: java.net.SocketTimeoutException: connect timed out",
    "\tat java.base/java.net.Socket.connect(Socket.java:{octet})",
)
#: Of this many lines on, some are an error burst of `_BURST` lines; elsewhere one line in `_RARE` is bad.
_QUIET, _BURST, _RARE, _TRACE_EVERY = 40_000, 400, 250, 20
#: Bytes put on disk at a time.
_BLOCK = 4 * MEGABYTE


def write(path: Path, megabytes: float, seed: int = 1) -> int:
    """Write a log of about so many megabytes and return how many lines it has; the same for one seed."""
    size, place, done, lines = int(megabytes * MEGABYTE), int(megabytes * MEGABYTE * NEEDLE_AT), 0, 0
    planted = False
    block: list[bytes] = []
    pending = 0
    with path.open("wb") as file:
        for time, line in stream(seed):
            if not planted and done + pending >= place:
                planted = True
                needle = f"{time} ERROR inventory [node-7] {NEEDLE}\n".encode()
                block.append(needle)
                pending, lines = pending + len(needle), lines + 1
            block.append(line)
            pending, lines = pending + len(line), lines + line.count(b"\n")
            if pending >= _BLOCK or done + pending >= size:
                file.write(b"".join(block))
                done, pending, block = done + pending, 0, []
                if done >= size:
                    break
    return lines


def stream(seed: int) -> Iterator[tuple[str, bytes]]:
    """Yield events without end: the time of each, and its lines."""
    chance = random.Random(seed)  # noqa: S311 - a log, no secret
    number, milliseconds, stamp, second = 0, 0, "", -1
    while True:
        number += 1
        milliseconds += chance.randrange(12)
        if milliseconds // 1000 != second:
            second = milliseconds // 1000
            stamp = (START + timedelta(seconds=second)).strftime("%Y-%m-%dT%H:%M:%S")
        time = f"{stamp}.{milliseconds % 1000:03}Z"
        yield time, _event(chance, number, time)


def _event(chance: random.Random, number: int, time: str) -> bytes:
    bad = number % _QUIET >= _QUIET - _BURST or number % _RARE == 0
    level, texts = ("INFO", _INFO)
    if bad:
        level, texts = ("ERROR", _ERROR)
    elif chance.random() < 0.03:  # noqa: PLR2004 - three warnings in a hundred lines
        level, texts = ("WARN", _WARN)
    values = {
        "id": f"{chance.getrandbits(64):016x}",
        "n": chance.randrange(1_000_000),
        "ms": chance.randrange(3_000),
        "small": chance.randrange(10),
        "octet": chance.randrange(256),
        "port": chance.randrange(30_000, 60_000),
        "user": chance.choice(_USERS),
        "ip": f"192.168.{chance.randrange(4)}.{chance.randrange(256)}",
    }
    text = chance.choice(texts).format_map(values)
    if number % 2:
        service, trace = chance.choice(_JSON), f"{chance.getrandbits(128):032x}"
        return (
            f'{{"ts":"{time}","level":"{level.lower()}","service":"{service}","host":"node-{values["small"]}",'
            f'"trace_id":"{trace}","msg":"{text}"}}\n'
        ).encode()
    line = f"{time} {level} {chance.choice(_PLAIN)} [node-{values['small']}] {text}\n"
    if bad and number % _TRACE_EVERY == 0:
        line += "".join(f"{part.format_map(values)}\n" for part in _TRACE)
    return line.encode()
