"""The fake world, in a process of its own: counts effects by key, misbehaves as it is told, and is the judge.

    python tests/chaos/world.py --ledger world.jsonl --seed 7 --rate 0.2

POST /effect   {"key", "kind", "run", "tool"}: an effect. `keyed` is applied once per key, whatever comes; `idempotent`
               sets the same thing again; every other kind is applied each time it arrives.
POST /hook     a webhook whose key is the header X-Nightdesk-Id; drops an id that it has seen, as receivers must
GET  /happened?key=K   did it happen, and how often
GET  /read     something to read
POST /tell     {"key": K, "mood": M} or {"rate": R}: misbehave for one key, or more or less often

Moods, chosen from seed, key and the number of the request, so that a seed repeats them: `hang`, `fail` (HTTP 500) and
`drop` (the connection), each before or after the effect is counted. The ledger holds one JSON line per request,
written before the answer: what it does not hold did not happen.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import random
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

MOODS = ("hang_before", "hang_after", "fail_before", "fail_after", "drop_before", "drop_after")
#: What programs say of themselves is always heard, and so is a long one, which would begin again.
_ALWAYS_HEARD = frozenset({"start", "alive", "long"})
#: A hung answer is given up after so long; every client of ours leaves before.
HANG_SECONDS = 30.0

Told = dict[str, Any]


class Ledger:
    """What happened, in memory and on disk."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("a", encoding="utf-8")
        self.applied: Counter[str] = Counter()
        self.requests: Counter[str] = Counter()

    def ask(self, key: str) -> int:
        """Count a request and return its number."""
        self.requests[key] += 1
        return self.requests[key]

    def apply(self, key: str, kind: str) -> bool:
        """Apply an effect; False where a receiver that knows keys has seen this one."""
        if kind in ("keyed", "hook") and self.applied[key]:
            return False
        self.applied[key] += 1
        return True

    def note(self, **line: Any) -> None:
        """Write a line down, at once."""
        self._file.write(json.dumps({"at": time.time(), "mono": time.monotonic(), **line}) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()


class World:
    """Answers requests, in the mood that seed and key give."""

    def __init__(self, ledger: Ledger, *, seed: str, rate: float) -> None:
        self.ledger, self.seed, self.rate = ledger, seed, rate
        self.told: dict[str, str] = {}

    def mood(self, key: str, number: int) -> str:
        """Return how the request with this number for this key is treated."""
        if key in self.told:
            return self.told[key]
        dice = random.Random(f"{self.seed}:{key}:{number}")
        return dice.choice(MOODS) if dice.random() < self.rate else "good"

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one connection's requests until it ends."""
        # cancelled: the world ends while an answer hangs
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while (request := await read_request(reader)) is not None:
                method, path, query, headers, body = request
                if path in ("/effect", "/hook", "/read"):
                    await self.effect(path, headers, body, writer)
                elif path == "/happened":
                    times = self.ledger.applied[query.get("key", "")]
                    await respond(writer, 200, {"happened": times > 0, "times": times})
                elif path == "/tell":
                    self.rate = body.get("rate", self.rate)
                    self.told |= {body["key"]: body["mood"]} if "key" in body else {}
                    await respond(writer, 200, {"told": True})
                else:
                    await respond(writer, 404, {})
                if writer.is_closing():
                    return
        writer.close()

    async def effect(
        self, path: str, headers: dict[str, str], body: Told, writer: asyncio.StreamWriter
    ) -> None:
        """Count an effect and answer, or not, as the mood is."""
        kind = {"/hook": "hook", "/read": "read"}.get(path, str(body.get("kind", "unsafe")))
        key = headers.get("x-nightdesk-id") or str(body.get("key", ""))
        number = self.ledger.ask(key)
        mood = "good" if kind in _ALWAYS_HEARD else self.mood(key, number)
        arrived = not mood.endswith("_before")
        applied = arrived and kind != "read" and self.ledger.apply(key, kind)
        # before the answer, so that no client knows more than the judge
        run, tool = body.get("run") or body.get("run_id", ""), body.get("tool", path)
        self.ledger.note(
            key=key, kind=kind, run=run, tool=tool, number=number, mood=mood, arrived=arrived, applied=applied
        )
        how = mood.partition("_")[0]
        if how == "hang":
            await asyncio.sleep(HANG_SECONDS)
        if how in ("hang", "drop"):
            writer.transport.abort()
        elif how == "fail":
            await respond(writer, 500, {"error": "the world fails"})
        else:
            await respond(writer, 200, {"ok": True, "applied": applied, "number": number})


async def read_request(
    reader: asyncio.StreamReader,
) -> tuple[str, str, dict[str, str], dict[str, str], Told] | None:
    """Return method, path, query, headers and body of the next request; None where the client left."""
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    method, target, _ = head.split("\r\n", 1)[0].split(" ")
    headers = {name.lower(): value for name, value in re.findall(r"\r\n([\w-]+): ?([^\r]*)", head)}
    length = int(headers.get("content-length", "0"))
    body = json.loads(await reader.readexactly(length)) if length else {}
    parts = urlsplit(target)
    query = {name: values[0] for name, values in parse_qs(parts.query).items()}
    return method, parts.path, query, headers, body


async def respond(writer: asyncio.StreamWriter, status: int, body: Told) -> None:
    """Send one JSON answer."""
    content = json.dumps(body).encode()
    head = (
        f"HTTP/1.1 {status} world\r\ncontent-type: application/json\r\ncontent-length: {len(content)}\r\n\r\n"
    )
    writer.write(head.encode() + content)
    await writer.drain()


async def main(options: argparse.Namespace) -> None:
    """Serve until TERM."""
    ledger = Ledger(options.ledger)
    world = World(ledger, seed=options.seed, rate=options.rate)
    listening = await asyncio.start_server(world.serve, "127.0.0.1", 0, backlog=512)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    sys.stdout.write(f"{listening.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await stop.wait()
    ledger.close()


class WorldProcess:
    """The world as a context manager: `url` for the desk, `ledger` for the checker."""

    def __init__(self, ledger: Path, *, seed: int, rate: float) -> None:
        self.path = ledger
        self._argv = [
            sys.executable,
            __file__,
            "--ledger",
            str(ledger),
            "--seed",
            str(seed),
            "--rate",
            str(rate),
        ]

    def __enter__(self) -> Self:
        # a session of its own: whatever signal reaches the harness, the judge lives
        self.process = subprocess.Popen(self._argv, stdout=subprocess.PIPE, text=True, start_new_session=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError("the world did not start")
        self.url = f"http://127.0.0.1:{int(line)}"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(10)
        if self.process.stdout is not None:
            self.process.stdout.close()

    def tell(self, **what: Any) -> None:
        """Tell the world how to behave: `rate`, or `key` and `mood`."""
        request = urllib.request.Request(f"{self.url}/tell", data=json.dumps(what).encode(), method="POST")
        with urllib.request.urlopen(request, timeout=10) as answer:
            answer.read()

    def lines(self) -> list[Told]:
        """Return the ledger."""
        whole = self.path.read_text("utf-8").rpartition("\n")[0]  # without what is just being written
        return [json.loads(line) for line in whole.splitlines()]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ledger", type=Path, required=True)
    parser.add_argument("--seed", default="0")
    parser.add_argument("--rate", type=float, default=0.0)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(parser.parse_args()))
