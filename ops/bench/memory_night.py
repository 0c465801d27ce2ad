"""The nightly pass over many memories, and a re-tier of all beside a plain UPDATE; each in a process of its own."""

from __future__ import annotations

import json
import shutil
import sqlite3
import subprocess
import sys
import time
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from kernel.database import Database
from kernel.schema import migrate
from ops.bench.memory_store import NOW

_DAY = 86_400.0
#: Of 100 memories one in 40 is due to turn cold, one in 40 to leave the index: 5 % in all, as on any usual night.
_COLD, _ARCHIVED = 0, 20
_EVERY = 40
#: After so many more days everything that was hot is due, and nothing else is.
_RETIER_DAYS = 200
#: With importance 0.8 and a half-life of 180 days a memory is hot for 122 days and stays in the index for 360.
_MEMORIES = """
INSERT INTO memory (pk, id, namespace, user, owner, kind, key, key_hash, live, text, context, slots, tags, source_kind,
  source_ref, session, made_from, trust, content_hash, valid_from, superseded_by, recorded_at)
WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < :rows)
SELECT i, printf('%08x-0000-4000-8000-%012x', i, i), 'default', '', 'user', 'episode', '', printf('%064x', i), 1,
  printf('svc-%03d: connection pool exhausted on node-%d, ERR_%d after %d minutes, release v%d rolled back',
    i % 200, i % 977, i % 4999, i % 59, i),
  '', '{}', '[]', 'run', printf('run-%d', i), '', '[]', 0.8, printf('%064x', i), :at, '', :at FROM n
"""
_STATES = f"""
INSERT INTO memory_state (pk, status, tier, next_transition_at, importance, emotion, weight, half_life_s,
  last_access_at, access_count, rev)
SELECT pk, 'active', CASE pk % {_EVERY} WHEN {_ARCHIVED} THEN 'cold' ELSE 'hot' END,
  :now + {_DAY} * CASE pk % {_EVERY} WHEN {_COLD} THEN -1 WHEN {_ARCHIVED} THEN -1 ELSE 120 END + pk % 3600,
  0.8, 0, 1, 180 * {_DAY},
  :now - {_DAY} * CASE pk % {_EVERY} WHEN {_COLD} THEN 123.1 WHEN {_ARCHIVED} THEN 361 ELSE 2 END + pk % 3600, 0, 1
FROM memory
"""  # noqa: S608 numbers of this module only
_UPDATE = """
UPDATE memory_state SET tier = 'cold', next_transition_at = last_access_at + half_life_s * 2
WHERE status = 'active' AND next_transition_at <= ?
"""


def measure(folder: Path, rows: int) -> dict[str, Any]:
    """Fill a database, then measure the night, the plain UPDATE on a copy, and the re-tier."""
    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "night.db"
    _fill(database, rows)
    night = _apart(database, NOW)
    later = NOW + timedelta(days=_RETIER_DAYS)
    copy = folder / "copy.db"
    shutil.copyfile(database, copy)
    updated, seconds = _update(copy, later)
    retier = _apart(database, later)
    if retier["moved"] != updated:
        raise RuntimeError(f"the re-tier moved {retier['moved']} rows and the UPDATE {updated}")
    plain = {"moved": updated, "seconds": round(seconds, 2), "rows_s": round(updated / seconds)}
    share = round(retier["rows_s"] / plain["rows_s"], 2)
    return {"memories": rows, "night": night, "retier": retier, "update": plain, "retier_share": share}


def _fill(path: Path, rows: int) -> None:
    made = Database(f"sqlite:///{path}")
    migrate(made)
    made.close()
    with sqlite3.connect(path) as connection:
        connection.execute("PRAGMA synchronous=OFF")  # of the filling only
        values = {
            "rows": rows,
            "at": f"{NOW - timedelta(days=400):%Y-%m-%d %H:%M:%S.%f}",
            "now": NOW.timestamp(),
        }
        connection.execute(_MEMORIES, values)
        connection.execute(_STATES, values)
    connection.execute("ANALYZE")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()


def _update(path: Path, at: datetime) -> tuple[int, float]:
    """Do what a plain UPDATE does, with the pragmas of the product."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    began = time.perf_counter()
    count = connection.execute(_UPDATE, (at.timestamp(),)).rowcount
    seconds = time.perf_counter() - began
    connection.close()
    return count, seconds


def _apart(database: Path, at: datetime) -> dict[str, Any]:
    """Run one night in a process of its own, so that the memory it takes is its own."""
    argv = [sys.executable, str(Path(__file__).resolve()), str(database), at.isoformat()]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"the night failed: {done.stderr.strip()[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout)
    if not found["moved"]:
        raise RuntimeError("the night moved nothing")
    return found


def _night(path: str, at: datetime) -> dict[str, Any]:
    from memory_service.decay import Decay

    database = Database(f"sqlite:///{path}")
    database.probe()
    before, began, cpu = _peak_mb(), time.perf_counter(), time.process_time()
    night = Decay(database, "bench").run(at)
    seconds = time.perf_counter() - began
    extra, cpu = _peak_mb() - before, time.process_time() - cpu
    database.close()
    moved = sum(
        count for name, count in night.counts.items() if name in ("hot", "cold", "archived", "deleted")
    )
    return {
        "moved": moved,
        "archived": night.counts.get("archived", 0),
        "seconds": round(seconds, 2),
        "cpu_seconds": round(cpu, 2),
        "rows_s": round(moved / seconds),
        "extra_mb": round(extra, 1),
    }


def _peak_mb() -> float:
    """Return the most memory that this process has had."""
    try:
        for line in Path("/proc/self/status").read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1024 * 1024 if sys.platform == "darwin" else 1024
    )


if __name__ == "__main__":
    print(json.dumps(_night(sys.argv[1], datetime.fromisoformat(sys.argv[2]))))
