"""Programs of calls and the workers that die over them: recorded first, found again, stopped before a repeat."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import col, select, update

from agents.runtime import processes
from agents.runtime.children import CallChildren, stop_strays
from agents.runtime.journal import Journal
from agents.runtime.processes import GRACE_SECONDS, stat
from kernel.clock import monotonic
from kernel.errors import LostLease
from kernel.lease import claim
from kernel.ledgers import ChildRow, QuestionRow
from kernel.records import AssignmentRow, CallRow
from kernel.redaction import Redactor
from tests.support.action_worker import make_desk, write_action
from tests.support.little_desk import Desk

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="needs /proc"),
]

ROOT = Path(__file__).parents[4]
Make = Callable[..., Any]


def lives(pid: int) -> bool:
    seen = stat(pid)
    return seen is not None and seen.lives


async def until(true: Callable[[], bool]) -> None:
    """Wait for a state."""
    async with asyncio.timeout(60):
        while not true():
            await asyncio.sleep(0.02)


@pytest.fixture
def begun(tmp_path: Path, redis_url: str) -> Make:
    """Return a maker of a desk whose run's one assignment is queued for a worker."""

    @asynccontextmanager
    async def make(mode: str, effect: str) -> AsyncIterator[Desk]:
        write_action(tmp_path, mode, effect)
        desk = make_desk(tmp_path, redis_url)
        try:
            await desk.submit("run-1")
            await desk.coordinator.advance("run-1")
            desk.rung.clear()
            yield desk
        finally:
            await desk.close()
            if (tmp_path / "pids").exists():
                for pid in map(int, (tmp_path / "pids").read_text().split()):
                    if lives(pid):
                        os.kill(pid, signal.SIGKILL)

    return make


@contextmanager
def worker(folder: Path, redis_url: str, *label: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a worker process on the desk's assignment; it is killed at the end if it still runs."""
    argv = [sys.executable, "-m", "tests.support.action_worker", str(folder), redis_url, *label]
    process = subprocess.Popen(argv, cwd=ROOT)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


async def started(folder: Path) -> tuple[int, int]:
    """Wait for the action's program and return its pid and that of its child."""
    await until((folder / "pids").exists)
    program, left = map(int, (folder / "pids").read_text().split())
    return program, left


async def take_over(desk: Desk, *, by_a_worker: bool = True) -> None:
    """Let the lease of the worker that is gone run out, and have another one go on, or none."""
    with desk.database.writing("test") as session:
        session.execute(update(AssignmentRow).values(lease_until=0.0))
    await desk.reconciler.tick_once()
    if by_a_worker:
        # the coordinator may be first and close the part of a stopped run: then `stop_strays` ends the program
        later = [bell for bell in desk.rung if not bell[0].startswith("agents.")]
        desk.rung[:] = [bell for bell in desk.rung if bell[0].startswith("agents.")]
        assert desk.rung
        await desk.settle(desk.worker("w2"))
        desk.rung.extend(later)
        await desk.settle()
    else:
        await desk.coordinator.advance("run-1")


def children(desk: Desk) -> list[ChildRow]:
    with desk.database.reading() as session:
        return list(session.exec(select(ChildRow).order_by(col(ChildRow.fence))).all())


def call(desk: Desk) -> tuple[str, str]:
    """Return the state of the one call and what its error says."""
    with desk.database.reading() as session:
        row = session.exec(select(CallRow)).one()
    return row.state, ((row.result or {}).get("error") or {}).get("message", "")


async def killed(desk: Desk, folder: Path, redis_url: str) -> tuple[int, int]:
    """Kill a worker in mid action; its program dies with it, the program's child does not."""
    with worker(folder, redis_url) as process:
        program, left = await started(folder)
        process.kill()
        process.wait()
    await until(lambda: not lives(program))
    assert lives(left)
    (row,) = children(desk)
    assert (row.pid, row.ended_at) == (program, None)
    return program, left


async def test_what_a_dead_worker_left_is_stopped_before_the_repeat(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("linger", "idempotent") as desk:
        _, left = await killed(desk, tmp_path, redis_url)
        await take_over(desk)
        assert not lives(left)
        assert (tmp_path / "again").read_text() == "[]\n"
        assert desk.report("run-1").state == "succeeded"
        first, second = children(desk)
        assert (first.exit_code, first.ended_at is not None) == (None, True)
        assert (second.exit_code, second.fence > first.fence) == (0, True)


async def test_the_program_of_a_worker_that_only_slept_is_stopped_too(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("linger", "idempotent") as desk:
        with worker(tmp_path, redis_url) as process:
            program, left = await started(tmp_path)
            process.send_signal(signal.SIGSTOP)
            await take_over(desk)
            assert (lives(program), lives(left)) == (False, False)
            assert (tmp_path / "again").read_text() == "[]\n"
            process.send_signal(signal.SIGCONT)
            await until(lambda: process.poll() is not None)
        assert call(desk) == ("done", "")


async def test_an_unknown_call_says_what_became_of_its_program(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("linger", "probe") as desk:
        program, left = await killed(desk, tmp_path, redis_url)
        await take_over(desk)
        state, message = call(desk)
        assert (state, lives(left)) == ("unknown", False)
        assert f"pid {program} on {children(desk)[0].host}" in message
        assert "still ran, and was stopped" in message
        with desk.database.reading() as session:
            known = session.exec(select(QuestionRow)).one().known["program"]
        assert (known["pid"], known["exit_code"], bool(known["ended_at"])) == (program, None, True)
        assert (tmp_path / "uses").read_text() == "x"


async def test_a_program_that_is_gone_is_said_to_be(begun: Make, tmp_path: Path, redis_url: str) -> None:
    async with begun("linger", "probe") as desk:
        _, left = await killed(desk, tmp_path, redis_url)
        os.kill(left, signal.SIGKILL)
        await until(lambda: not lives(left))
        await take_over(desk)
        state, message = call(desk)
        assert (state, "was gone at" in message) == ("unknown", True)


async def test_a_program_that_ended_before_its_worker_died_says_how(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("once", "probe") as desk:
        with worker(tmp_path, redis_url, "child.end:after") as process:
            await until(lambda: process.poll() is not None)
        await take_over(desk)
        state, message = call(desk)
        assert (state, "with exit code 0" in message) == ("unknown", True)
        assert (tmp_path / "uses").read_text() == "x"


async def test_another_process_with_the_same_pid_is_not_touched(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("linger", "probe") as desk:
        await killed(desk, tmp_path, redis_url)
        bystander = subprocess.Popen(["/bin/sleep", "300"], start_new_session=True)
        try:
            with desk.database.writing("test") as session:  # as if its number had been given away again
                session.execute(update(ChildRow).values(pid=bystander.pid))
            await take_over(desk)
            assert bystander.poll() is None
            assert "was gone at" in call(desk)[1]
        finally:
            bystander.kill()
            bystander.wait()


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"host": "elsewhere"}, "it was started on elsewhere"),
        ({"boot_id": "another"}, "was started anew, or is another machine"),
    ],
)
async def test_a_program_of_another_host_is_not_touched_and_the_note_says_so(
    begun: Make, tmp_path: Path, redis_url: str, change: dict[str, str], why: str
) -> None:
    async with begun("linger", "probe") as desk:
        _, left = await killed(desk, tmp_path, redis_url)
        with desk.database.writing("test") as session:
            session.execute(update(ChildRow).values(**change))
        await take_over(desk)
        state, message = call(desk)
        assert (state, lives(left), children(desk)[0].ended_at) == ("unknown", True, None)
        assert "cannot be told" in message
        assert why in message


async def test_nothing_is_repeated_beside_a_program_that_cannot_be_stopped(
    begun: Make, tmp_path: Path, redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with begun("linger", "idempotent") as desk:
        _, left = await killed(desk, tmp_path, redis_url)
        # as for a program that took another user's rights: the kernel lets nobody of ours signal it
        monkeypatch.setattr(processes, "signal_group", lambda _group, _number: None)
        monkeypatch.setattr(processes, "GRACE_SECONDS", 0.1)
        monkeypatch.setattr(processes, "_KILL_SECONDS", 0.1)
        await take_over(desk)
        state, message = call(desk)
        assert (state, lives(left), (tmp_path / "again").exists()) == ("unknown", True, False)
        assert "still runs and could not be stopped" in message


@pytest.mark.parametrize("label", ["child.record:before", "child.record:after", "child.go:before"])
async def test_a_worker_killed_before_the_go_has_started_nothing(
    begun: Make, tmp_path: Path, redis_url: str, label: str
) -> None:
    async with begun("once", "idempotent") as desk:
        with worker(tmp_path, redis_url, label) as process:
            await until(lambda: process.poll() is not None)
            assert process.returncode == -signal.SIGKILL
        rows = children(desk)
        assert len(rows) == (label != "child.record:before")
        await until(lambda: not any(lives(row.pid) for row in rows))
        assert not (tmp_path / "uses").exists()
        await take_over(desk)
        assert (tmp_path / "uses").read_text() == "x"
        assert call(desk) == ("done", "")


async def test_a_worker_that_lost_its_lease_starts_nothing(begun: Make, tmp_path: Path) -> None:
    async with begun("once", "idempotent") as desk:
        claimed = claim(desk.database, "run-1:job", worker="slow", seconds=0.0)
        assert claimed is not None
        journal = Journal(
            desk.database,
            run_id="run-1",
            assignment_id=claimed.id,
            fence=claimed.fence,
            worker="slow",
            redactor=Redactor(),
            events=desk.events,
        )
        await take_over(desk)
        with pytest.raises(LostLease):
            await CallChildren(journal, "run-1:job.1.1").started(os.getpid())
        assert [row.fence > claimed.fence for row in children(desk)] == [True]


async def test_cancel_ends_the_group_of_a_running_action_within_its_bound(
    begun: Make, tmp_path: Path
) -> None:
    async with begun("linger", "probe") as desk:
        at_work = desk.worker("w1")
        listening = asyncio.create_task(desk.control.listen(at_work.stop))
        working = asyncio.create_task(at_work.work("run-1:job", lambda _line: None))
        program, left = await started(tmp_path)
        began = monotonic()
        await desk.decisions.cancel("run-1", by="ann")
        await until(lambda: not lives(program) and not lives(left))
        assert monotonic() - began < GRACE_SECONDS + 20.0  # the program would linger for ever
        await working
        listening.cancel()
        await desk.settle()
        assert desk.report("run-1").state == "cancelled"
        assert call(desk)[0] == "unknown"
        (row,) = children(desk)
        assert (row.exit_code, row.ended_at is not None) == (-signal.SIGTERM, True)


async def test_a_stray_of_a_run_that_was_stopped_after_its_worker_died_is_ended(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("linger", "probe") as desk:
        _, left = await killed(desk, tmp_path, redis_url)
        assert await stop_strays(desk.database) == 0  # somebody will take it over and say what was found
        await desk.decisions.cancel("run-1", by="ann")
        await take_over(desk, by_a_worker=False)
        assert desk.report("run-1").state == "cancelled"
        assert lives(left)
        assert await stop_strays(desk.database) == 1
        assert not lives(left)
        assert children(desk)[0].ended_at is not None
        assert await stop_strays(desk.database) == 0


async def test_a_worker_that_takes_over_a_stopped_run_stops_its_program_and_asks_the_world(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("linger", "probe") as desk:
        _, left = await killed(desk, tmp_path, redis_url)
        await desk.decisions.cancel("run-1", by="ann")
        await take_over(desk)
        assert desk.report("run-1").state == "cancelled"
        assert not lives(left)
        assert call(desk)[0] in ("done", "failed", "unknown")


async def test_what_a_program_that_ended_left_running_is_no_stray(
    begun: Make, tmp_path: Path, redis_url: str
) -> None:
    async with begun("linger", "probe") as desk:
        _, left = await killed(desk, tmp_path, redis_url)
        await desk.decisions.cancel("run-1", by="ann")
        await take_over(desk, by_a_worker=False)
        with desk.database.writing("test") as session:  # as if only the note of its end had been lost
            session.execute(update(CallRow).values(state="done"))
        assert await stop_strays(desk.database) == 0
        assert lives(left)
