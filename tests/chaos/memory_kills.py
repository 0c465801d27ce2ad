"""Kill -9 in the middle of the memory's writes, again and again on one folder: what was acknowledged stays, once.

Each round is a child, forked from a parent that has imported everything and opened nothing. It looks at what the
one before left behind (drains the relay, compares SQL with the index, counts), then writes until it is killed: at a
named fault point, at a call into the engine, or at a moment of the clock.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from threading import Event, Thread
from typing import Any

from sqlmodel import select

from kernel import faults, logs
from kernel.settings import Settings
from memory_service.domain import Status
from memory_service.tables import EmbedSpaceRow, MemoryOutboxRow, MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import World, world

#: Labels of the writes below, and calls into the engine, each struck before and after.
_POINTS = (
    *("memory.write", "memory.forget", "memory.relay.settle", "memory.relay.drift", "memory.relay.noted"),
    *("memory.build.step", "memory.spaces.shadow", "memory.spaces.swap", "memory.spaces.clear"),
    *("engine.upsert", "engine.delete", "engine.flush"),
)
#: What one child reaches several times.
_OFTEN = ("memory.write", "memory.relay.settle", "engine.upsert", "engine.delete")
_ENGINE_CALLS = ("upsert", "delete", "flush")
#: Longest life of a child that is killed by the clock: about as long as one writes.
_LIFE_SECONDS = 0.4
_WRITES = 10


def kill(folder: Path, number: int, seed: int) -> tuple[str, list[str]]:
    """Have one child look and write until it is killed; return where it was and what it found wrong."""
    rng = random.Random(f"{seed}:{number}")
    by_clock = number % 2 == 1
    point = "clock" if by_clock else f"{rng.choice(_POINTS)}:{rng.choice(('before', 'after'))}"
    told = folder / "found.json"
    told.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        _child(folder, number, rng, point)
    status = os.waitpid(child, 0)[1]
    if not told.exists():
        return point, [f"the child ended before it had looked: {status}"]
    found = json.loads(told.read_text())
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    ended = os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0
    return point if killed else f"{point} (not reached)", found + (
        [] if killed or ended else [f"it ended: {status}"]
    )


def _child(folder: Path, number: int, rng: random.Random, point: str) -> None:
    """Never returns."""
    code = 1
    try:
        with world(folder) as desk:
            (folder / "found.json").write_text(json.dumps(look(desk, folder)))
            _arm(desk, point, rng)
            _write(desk, folder, number)
            code = 0
    finally:
        os._exit(code)


def _arm(desk: World, point: str, rng: random.Random) -> None:
    """End this process at the point, or after a while."""
    if point == "clock":
        life = rng.random() * _LIFE_SECONDS

        def end() -> None:
            Event().wait(life)
            os.kill(os.getpid(), signal.SIGKILL)

        Thread(target=end, daemon=True).start()
        return
    left = rng.randint(1, 4) if point.startswith(_OFTEN) else 1

    def strike(label: str) -> None:
        nonlocal left
        left -= label == point
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    faults.arm(strike)
    for target in desk.targets.written():
        for name in _ENGINE_CALLS:
            _tell(target.index, name)


def _tell(index: Any, name: str) -> None:
    call: Callable[..., Any] = getattr(index, name)

    def told(*arguments: Any) -> Any:
        with faults.around(f"engine.{name}"):
            return call(*arguments)

    setattr(index, name, told)


def _write(desk: World, folder: Path, number: int) -> None:
    """Remember, tell again, replace, forget, drain, build the index anew; note each as it is acknowledged."""
    with (folder / "acknowledged").open("a", encoding="utf-8", buffering=1) as book:
        ids = []
        for n in range(_WRITES):
            text = f"round {number} memory {n} of the checkout pool"
            ids.append(desk.remember(text, key=f"{number} {n}", relay=n % 3 != 0))
            book.write(json.dumps({"id": ids[-1], "text": text}) + "\n")
            if n == _WRITES // 2:
                value = f"the pool of checkout holds {number} connections"
                id_ = desk.remember(value, key="checkout pool")
                book.write(json.dumps({"id": id_, "text": value}) + "\n")
                book.write(json.dumps({"forgetting": ids[0]}) + "\n")
                desk.memory.forget({"id": ids[0]})
                book.write(json.dumps({"forgotten": ids[0]}) + "\n")
        desk.remember(f"round {number} memory 1 of the checkout pool", key=f"{number} 1", relay=False)
        desk.relay.drain()
        desk.relay.flush()
        book.write(json.dumps({"spoilt": ids[1]}) + "\n")
        desk.index.delete([ids[1]])  # by somebody who is no friend
        desk.relay.reconcile()
        desk.relay.drain()
        if number % 2 == 0 or desk.spaces.standing()["shadow"]:
            if desk.spaces.standing()["shadow"] is None:
                desk.spaces.rebuild()
            desk.spaces.build()
            desk.pass_days(10_000)
            desk.spaces.clear()


def look(desk: World, folder: Path) -> list[str]:
    """Return what is wrong with what was left behind, after the relay has run."""
    desk.memory.relay()
    before = desk.index.revisions()
    desk.relay.reconcile()
    desk.relay.drain()
    with desk.database.reading() as session:
        joined = select(MemoryRow, MemoryStateRow).where(MemoryRow.pk == MemoryStateRow.pk)
        rows = {row.id: (row.text, state.status, state.rev) for row, state in session.exec(joined)}
        waiting = session.exec(select(MemoryOutboxRow)).all()
        served = session.exec(select(EmbedSpaceRow.id).where(EmbedSpaceRow.state == "current")).all()
    active = {id_: rev for id_, (_, status, rev) in rows.items() if status == Status.active.value}
    texts = Counter(text for text, _, _ in rows.values() if text)
    spoilt = {entry["spoilt"] for entry in _entries(folder) if "spoilt" in entry}
    drift = {id_ for id_, _ in before.items() ^ active.items()} - spoilt
    return [
        *([f"drift before any comparison: {sorted(drift)}"] if drift else []),
        *(["the index and SQL differ"] if desk.index.revisions() != active else []),
        *([f"{len(waiting)} still wait"] if waiting else []),
        *([f"served: {served}"] if len(served) != 1 else []),
        *(f"known {n} times: {text}" for text, n in texts.items() if n > 1),
        *_broken_promises(folder, rows),
    ]


def _broken_promises(folder: Path, rows: dict[str, tuple[str, str, int]]) -> list[str]:
    entries = _entries(folder)
    gone = {entry["forgetting"] for entry in entries if "forgetting" in entry}
    surely = {entry["forgotten"] for entry in entries if "forgotten" in entry}
    told = [entry for entry in entries if "text" in entry]
    return [
        *(
            f"lost: {e['text']}"
            for e in told
            if e["id"] not in gone and rows.get(e["id"], ("",))[0] != e["text"]
        ),
        *(f"came back: {id_}" for id_ in surely if rows[id_][:2] != ("", Status.deleted.value)),
    ]


def _entries(folder: Path) -> list[dict[str, str]]:
    book = folder / "acknowledged"
    return [json.loads(line) for line in book.read_text().splitlines()] if book.exists() else []


def run(folder: Path, kills: int, seed: int) -> dict[str, Any]:
    """Kill so many children and return what was seen; the last one only looks."""
    began = time.monotonic()
    points: Counter[str] = Counter()
    problems: list[str] = []
    for number in range(kills):
        point, found = kill(folder, number, seed)
        points[point] += 1
        problems += [f"round {number}: {problem}" for problem in found]
    last = os.fork()
    if last == 0:
        code = 1
        try:
            with world(folder) as desk:
                (folder / "found.json").write_text(json.dumps(look(desk, folder)))
                code = 0
        finally:
            os._exit(code)
    os.waitpid(last, 0)
    problems += [f"at the end: {problem}" for problem in json.loads((folder / "found.json").read_text())]
    killed = sum(n for point, n in points.items() if not point.endswith("(not reached)"))
    book = (folder / "acknowledged").read_text().splitlines()
    return {
        "kills": killed,
        "not_reached": kills - killed,
        "acknowledged": sum('"text"' in line for line in book),
        "seconds": round(time.monotonic() - began, 1),
        "points": dict(sorted(points.items())),
        "problems": problems,
    }


def main() -> None:
    """Print what came of it; exit 1 where a promise was broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--kills", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args()
    logs.configure(Settings(log_level="ERROR"), service="memory-kills")
    with tempfile.TemporaryDirectory() as folder:
        told = run(Path(folder), asked.kills, asked.seed)
    sys.stdout.write(json.dumps(told, indent=2) + "\n")
    sys.exit(1 if told["problems"] else 0)


if __name__ == "__main__":
    main()
