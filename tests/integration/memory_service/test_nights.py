"""The nightly job in real processes: one is killed, two others come at once, and each memory moves exactly once."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import select

from memory_service.audit import broken_link
from memory_service.forgetting.fading import stage
from memory_service.state import fading_of
from memory_service.tables import JobRunRow, MemoryAuditRow, MemoryStateRow
from tests.integration.memory_service.world import World

pytestmark = pytest.mark.integration

ROOT = Path(__file__).parents[3]
ROWS, BATCH = 120, 10
#: Ready when it says so, it begins when it is told to; the one named `dies` ends as a power cut does after three batches.
NIGHT = """
import json, os, signal, sys
from dataclasses import asdict
from datetime import datetime
from kernel.database import Database
from memory_service.decay import Decay
database = Database(sys.argv[1])
decay = Decay(database, sys.argv[2], batch=int(sys.argv[4]))
database.probe()
batches = []
def after():
    batches.append(1)
    if sys.argv[2] == "dies" and len(batches) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
print("ready", flush=True)
sys.stdin.readline()
print(json.dumps(asdict(decay.run(datetime.fromisoformat(sys.argv[3]), after_batch=after))), flush=True)
"""


def worker(desk: World, name: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", NIGHT, desk.database.url, name, desk.now.isoformat(), str(BATCH)]
    return subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def begin(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def told(process: subprocess.Popen[str]) -> dict[str, Any]:
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    answer: dict[str, Any] = json.loads(out)
    return answer


def states(desk: World) -> dict[int, MemoryStateRow]:
    with desk.database.reading() as session:
        return {row.pk: row for row in session.exec(select(MemoryStateRow))}


def test_two_nightly_jobs_at_once_after_a_killed_one_and_three_missed_nights_move_each_memory_once(
    desk: World,
) -> None:
    for number in range(ROWS):
        fields = {"importance": 0.3 + 0.005 * number, "half_life_days": 3 + number, "key": f"pool {number}"}
        desk.remember(f"the pool of svc-{number} is {number}", relay=False, **fields)
    before = states(desk)
    desk.pass_days(40)  # nobody was up in between
    expected = {pk: stage(fading_of(row), desk.now.timestamp()) for pk, row in before.items()}
    due = {pk for pk, row in before.items() if row.next_transition_at <= desk.now.timestamp()}
    assert len(due) > 5 * BATCH

    first, *both = [worker(desk, name) for name in ("dies", "one", "other")]
    for process in (first, *both):
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    begin(first)
    assert first.wait(120) == -signal.SIGKILL
    first.communicate()
    with desk.database.writing("test") as session:  # the lease of the dead one runs out
        session.connection().execute(text("UPDATE job_run SET lease_until = 0 WHERE job = 'decay'"))
    for process in both:
        begin(process)
    nights = [told(process) for process in both]

    assert sorted(night["ran"] for night in nights) == [False, True]
    with desk.database.reading() as session:
        [job] = session.exec(select(JobRunRow).where(JobRunRow.job == "decay")).all()
        audited = session.exec(select(MemoryAuditRow).where(MemoryAuditRow.action == "decay")).all()
    moved = Counter(pk for row in audited for pk in row.after["archived"])
    after = states(desk)
    assert {pk: (row.status, row.tier) for pk, row in after.items()} == {
        pk: (to.status.value, to.tier) for pk, to in expected.items()
    }
    assert moved == Counter({pk: 1 for pk, to in expected.items() if to.tier == "archived"})
    assert job.state == "done"
    assert sum(job.counts[name] for name in ("cold", "archived")) == len(due)
    assert broken_link(desk.database) is None
    assert desk.memory.decay().ran is False  # a late doorbell of the same night
