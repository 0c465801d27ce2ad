"""The nightly job in processes of its own: killed for real, and two at once."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlmodel import select

from kernel.database import Database
from memory_service.audit import broken_link
from memory_service.tables import JobRunRow, MemoryOutboxRow
from tests.integration.memory_service.test_decay import fill, snapshot
from tests.integration.memory_service.world import World, world

pytestmark = pytest.mark.integration
ROOT = Path(__file__).parents[3]
BATCH = 8


def start(database: Database, moment: str, name: str, *kill_after: int) -> subprocess.Popen[str]:
    script = ROOT / "tests" / "support" / "decay_worker.py"
    argv = [sys.executable, str(script), database.url, moment, str(BATCH), name, *map(str, kill_after)]
    return subprocess.Popen(argv, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def result(worker: subprocess.Popen[str]) -> tuple[int, str]:
    told, _ = worker.communicate(timeout=120)
    return worker.returncode, told.strip()


def state(desk: World) -> dict[str, object]:
    """Return all that a night leaves: states, the relay's work, the archive's words, what the job counted."""
    with desk.database.reading() as session:
        job = session.exec(select(JobRunRow).where(JobRunRow.job == "decay")).one()
        waiting = session.exec(
            select(MemoryOutboxRow.pk, MemoryOutboxRow.rev).order_by(MemoryOutboxRow.pk)
        ).all()
        words = session.connection().execute(text("SELECT rowid, words FROM memory_archive ORDER BY rowid"))
        return {
            "states": snapshot(desk),
            "outbox": [tuple(row) for row in waiting],
            "words": [tuple(row) for row in words],
            "counts": job.counts,
            "job": (job.epoch, job.state),
        }


def test_kill_9_behind_any_batch_resumes_to_the_same_state(tmp_path: Path) -> None:
    with world(tmp_path / "0") as desk:
        fill(desk)
        desk.pass_days(20)
        now = desk.now.isoformat()
    for number in (1, 2, 3):
        shutil.copytree(tmp_path / "0", tmp_path / str(number))
    with world(tmp_path / "0") as whole:
        whole.now = desk.now
        assert result(start(whole.database, now, "worker"))[0] == 0
        expected = state(whole)
        assert dict(expected["counts"])["batches"] > 3  # type: ignore[call-overload] # a dict of numbers
    for number in (1, 2, 3):
        with world(tmp_path / str(number)) as cut:
            code, _ = result(start(cut.database, now, "worker", number))
            assert code == -9
            assert result(start(cut.database, now, "worker"))[0] == 0
            assert state(cut) == expected
            assert broken_link(cut.database) is None


def test_two_processes_at_once_move_every_memory_once(desk: World) -> None:
    fill(desk)
    desk.pass_days(20)
    url = desk.database.engine.url.render_as_string(hide_password=False)
    database = Database(url)
    workers = [start(database, desk.now.isoformat(), name) for name in ("first", "second")]
    done = [result(worker) for worker in workers]
    database.close()
    assert [code for code, _ in done] == [0, 0]
    moved = sorted(int(told) for _, told in done)
    assert moved[0] in (-1, 0), "the other one kept out, or came when all was done"
    with desk.database.reading() as session:
        job = session.exec(select(JobRunRow).where(JobRunRow.job == "decay")).one()
    assert job.state == "done"
    assert sum(count for tier, count in job.counts.items() if tier != "batches") == moved[1]
    assert broken_link(desk.database) is None
