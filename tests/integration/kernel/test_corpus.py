"""Old states keep loading: each is brought to head, and the present code takes its open runs to their end."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from alembic.script import ScriptDirectory
from sqlmodel import select

from coordinator.cli import history
from coordinator.cli.following import Followed, look
from coordinator.transcript import earlier, latest_sources
from kernel import schema
from kernel.contracts import Outcome, Request
from kernel.records import SHAPE, ApprovalRow, RunRow
from kernel.shapes import NewerShape, present
from kernel.states import RUN_ENDED, ApprovalState, RunState
from memory_service.learning.finished import finished_run
from tests.support import corpus
from tests.support.little_desk import Desk

pytestmark = pytest.mark.integration

FILES = sorted(corpus.CORPUS.glob("*.sql"))
ENDED = [file for file in FILES if file.stem.endswith(("-session", "-unpublished"))]
OPEN = [file for file in FILES if file not in ENDED]
#: Of the versions that run now.
PRESENT = {file.stem.rpartition(f"-s{SHAPE}-")[2]: file for file in FILES if f"-s{SHAPE}-" in file.stem}
#: Nobody ran revision 0001: it came hours before 0002.
FIRST_REVISION = "0002"
#: Ticks until every run has ended; each is a look at all rows.
TICKS = 30
ANSWERS = {
    "run-plain": "first: one, two",
    "run-risky": "first: 重啟",
    "run-rounds": "first: one, two [mem:m-1]\n\nsecond: three",
}


def named(file: Path) -> str:
    return file.stem


@asynccontextmanager
async def desk_on(file: Path, folder: Path, redis_url: str) -> AsyncIterator[Desk]:
    corpus.load(file, folder)
    made = corpus.make_desk(folder, redis_url)
    try:
        await made.publish_cards()
        yield made
    finally:
        await made.close()


def runs(desk: Desk) -> list[RunRow]:
    with desk.database.reading() as session:
        return list(session.exec(select(RunRow)).all())


async def decide(desk: Desk) -> None:
    with desk.database.reading() as session:
        pending = session.exec(
            select(ApprovalRow).where(ApprovalRow.state == ApprovalState.pending.value)
        ).all()
    for row in pending:
        assert present(row).shown.keys() == {"target", "dry_run", "undo"}
        await desk.decisions.decide(row.run_id, row.call_id, "approved", by="ann")


async def to_the_end(desk: Desk) -> None:
    for _ in range(TICKS):
        await desk.reconciler.tick_once()
        await desk.settle()
        await decide(desk)
        if all(run.state in RUN_ENDED and run.published for run in runs(desk)):
            return
    pytest.fail(f"still open: {[(run.id, run.state) for run in runs(desk)]}")


def world(folder: Path) -> list[str]:
    path = folder / "world.txt"
    return (
        [line.split()[1] for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []
    )


def keys(folder: Path, where: str) -> set[str]:
    return {key for (key,) in corpus.stored(folder, f"SELECT key FROM call WHERE {where}")}


@pytest.mark.parametrize("file", OPEN, ids=named)
async def test_an_open_run_is_taken_to_its_end(file: Path, tmp_path: Path, redis_url: str) -> None:
    async with desk_on(file, tmp_path, redis_url) as desk:
        made_before = keys(tmp_path, "state = 'done'")
        parts_before = {
            id_ for (id_,) in corpus.stored(tmp_path, "SELECT id FROM assignment WHERE state = 'done'")
        }
        await to_the_end(desk)
        (run,) = runs(desk)
        report = desk.report(run.id)
        assert (run.state, run.reason) == ("succeeded", "")
        assert report.answer.startswith(ANSWERS[run.id])
        assert [finding.title for finding in report.findings][:1] == ["連線池耗盡"]
        # whoever writes to a row leaves all of its JSON in the present shape
        assert run.shape == SHAPE
        written = corpus.stored(tmp_path, "SELECT id, shape FROM assignment")
        assert {shape for id_, shape in written if id_ not in parts_before} == {SHAPE}
        written = corpus.stored(tmp_path, "SELECT key, shape FROM call")
        assert {shape for key, shape in written if key not in made_before} == {SHAPE}
        finished = finished_run(desk.database, run.id)
        assert finished is not None
        assert finished[0].request == report.request
    assert keys(tmp_path, "state != 'done'") == set()
    # what was made is not made again; what was not is made once
    assert sorted(world(tmp_path)) == sorted(keys(tmp_path, "1 = 1") - made_before)


@pytest.mark.parametrize("file", ENDED, ids=named)
async def test_an_ended_run_is_published_shown_and_learnt_from(
    file: Path, tmp_path: Path, redis_url: str
) -> None:
    async with desk_on(file, tmp_path, redis_url) as desk:
        before = corpus.stored(tmp_path, "SELECT report, shape FROM run")
        await to_the_end(desk)
        (run,) = runs(desk)
        with history.reading(desk.settings) as session:
            report = history.report_of(session, history.find_run(session, "run-pl"))
            assert [row["text"] for row in history.recent(session, state=None, limit=9)] == ["plain 查一下"]
            (row,) = history.assignments_of(session, run.id)
        assert report.answer == "first: one, two [mem:m-1]"
        assert [memory.cited for memory in report.memories] == [True]
        assert Outcome.model_validate(row.outcome).facts == {"last": "first"}
        if file.stem.endswith("-unpublished"):
            assert desk.celery.AsyncResult(run.id).result["answer"] == report.answer
        finished = finished_run(desk.database, run.id)
        assert finished is not None
        assert finished[1].ids == ["m-1"]
        # an ended run stays as it was written
        assert corpus.stored(tmp_path, "SELECT report, shape FROM run") == before
    assert world(tmp_path) == []


@pytest.mark.parametrize("file", [f for f in ENDED if f.stem.endswith("-session")], ids=named)
async def test_a_session_goes_on_from_it(file: Path, tmp_path: Path, redis_url: str) -> None:
    async with desk_on(file, tmp_path, redis_url) as desk:
        await desk.submit("next", "plain and now?", session_id="talk", user="ann")
        await to_the_end(desk)
        run = desk.run("next")
        assert run.state == "succeeded"
        assert [(t["text"], t["facts"], t["agents"]) for t in run.session] == [
            ("plain 查一下", {"last": "first"}, ["worker"])
        ]
        assert [source.name for source in Request.model_validate(run.request).sources] == ["app.log"]


@pytest.mark.parametrize("table", ["run", "assignment"])
async def test_what_a_newer_version_began_is_left_to_it(table: str, tmp_path: Path, redis_url: str) -> None:
    async with desk_on(PRESENT["rounds"], tmp_path, redis_url) as desk:
        columns = {"run": "request, memories, report", "assignment": "inputs, outcome, fence"}[table]
        newer(desk, table)
        query = f"SELECT id, state, {columns}, shape FROM {table} ORDER BY id"
        before = corpus.stored(tmp_path, query)
        with pytest.raises(NewerShape, match=r"Run the newer version"):
            await desk.coordinator.advance("run-rounds")
        # the part that is queued is not begun, or handed back as it was
        if table == "assignment":
            with pytest.raises(NewerShape, match=r"assignment 'run-rounds:more'"):
                await desk.workers[0].work("run-rounds:more", lambda _line: None)
        else:
            await desk.workers[0].work("run-rounds:more", lambda _line: None)
            ((reason,),) = corpus.stored(tmp_path, "SELECT reason FROM assignment WHERE key = 'more'")
            assert "a newer Nightdesk wrote it" in reason
        states = corpus.stored(tmp_path, "SELECT state, attempts FROM assignment ORDER BY key")
        assert states == [("done", 0), ("queued", 0)]
        assert corpus.stored(tmp_path, query) == before
        with history.reading(desk.settings) as session:
            assert [row["run_id"] for row in history.recent(session, state=None, limit=9)] == ["run-rounds"]
            with pytest.raises(NewerShape):
                history.report_of(session, history.find_run(session, "run-rounds"))
    assert world(tmp_path) == []


async def test_nobody_waits_for_a_report_that_cannot_be_read(tmp_path: Path, redis_url: str) -> None:
    async with desk_on(PRESENT["session"], tmp_path, redis_url) as desk:
        look(desk.settings, "run-plain", followed := Followed())
        assert followed.ended
        newer(desk, "run")
        with pytest.raises(NewerShape):
            look(desk.settings, "run-plain", Followed())


async def test_people_may_stop_what_a_newer_version_began(tmp_path: Path, redis_url: str) -> None:
    async with desk_on(PRESENT["waiting"], tmp_path, redis_url) as desk:
        for table in ("run", "assignment", "call", "turn", "approval"):
            newer(desk, table)
        await desk.decisions.cancel("run-risky", by="ann")
        assert corpus.stored(tmp_path, "SELECT stop FROM run") == [("cancelled",)]
        for table in ("run", "assignment", "call", "turn", "approval"):
            newer(desk, table, by=0)  # now a newer coordinator looks
        await to_the_end(desk)
        assert desk.run("run-risky").state == "cancelled"
    assert world(tmp_path) == []


async def test_a_session_leaves_out_the_runs_of_a_newer_version(tmp_path: Path, redis_url: str) -> None:
    async with desk_on(PRESENT["session"], tmp_path, redis_url) as desk:
        assert [turn.run_id for turn in earlier(desk.database, "talk", "default")] == ["run-plain"]
        newer(desk, "run")
        assert earlier(desk.database, "talk", "default") == []
        assert latest_sources(desk.database, "talk", "default") == []


def newer(desk: Desk, table: str, *, by: int = 1) -> None:
    """Let a newer version have written the rows of a table."""
    with desk.database.writing("test") as session:
        session.connection().exec_driver_sql(f"UPDATE {table} SET shape = {SHAPE + by}")


async def test_a_run_is_not_moved_before_it_has_the_present_shape(tmp_path: Path, redis_url: str) -> None:
    async with desk_on(corpus.CORPUS / "0002-s0-accepted.sql", tmp_path, redis_url) as desk:
        seen = desk.store.snapshot("run-plain")
        assert seen is not None
        # else new JSON would stand in a row that counts as old
        assert not desk.store.swap(seen.run, RunState.planning)
        desk.store.lift("run-plain")
        assert not desk.store.swap(seen.run, RunState.planning)
        assert desk.store.swap(desk.run("run-plain"), RunState.planning)


async def test_a_memory_service_that_says_more_than_we_know_stops_no_run(
    tmp_path: Path, redis_url: str
) -> None:
    async def newer_answer(*_: Any, **__: Any) -> list[dict[str, Any]]:
        return [{"id": "m-1", "text": "a memory", "unheard_of": 1}]

    async with desk_on(PRESENT["accepted"], tmp_path, redis_url) as desk:
        desk.control.ask = newer_answer  # type: ignore[method-assign] # the other end of the queue
        await to_the_end(desk)
        report = desk.report("run-plain")
        assert report.state == "succeeded"
        assert "unheard_of" in next(n.why for n in report.not_done if n.what == "recall of memories")


@pytest.mark.parametrize("name", ["0002-s0-rounds", "0002-s0-unpublished"])
async def test_what_an_older_version_knew_and_we_do_not_is_left_out(
    name: str, tmp_path: Path, redis_url: str
) -> None:
    file = tmp_path / "gone.sql"
    text = (corpus.CORPUS / f"{name}.sql").read_text(encoding="utf-8")
    # each of these begins one kind of what is stored: request, memory, outcome or report, finding, evidence, usage
    starts = ("text", "id", "answer", "version", "title", "source", "turns", "tool", "value")
    text, count = re.subn(rf'\{{"({"|".join(starts)})":', r'{"gone": {"by": 1}, "\1":', text)
    assert count > 10
    file.write_text(text, encoding="utf-8")
    async with desk_on(file, tmp_path, redis_url) as desk:
        await to_the_end(desk)
        (run,) = runs(desk)
        assert run.state == "succeeded"
        with history.reading(desk.settings) as session:
            report = history.report_of(session, history.find_run(session, run.id))
        assert report.answer.startswith(ANSWERS[run.id])
        assert finished_run(desk.database, run.id) is not None


def test_no_revision_and_no_shape_is_forgotten(tmp_path: Path) -> None:
    script = ScriptDirectory(str(Path(schema.__file__).parent / "migrations"))
    revisions = {r.revision for r in script.walk_revisions() if r.revision >= FIRST_REVISION}
    written = {tuple(re.match(r"(\w+)-s(\d+)-", file.name).groups()) for file in FILES}  # type: ignore[union-attr] # each name fits
    how = "Write its states: see the docstring of tests/support/corpus.py."
    assert revisions - {revision for revision, _ in written} == set(), how
    assert {str(shape) for shape in range(SHAPE + 1)} - {shape for _, shape in written} == set(), how
    states = {state.__name__.replace("_", "-") for state in corpus.STATES}
    for revision, shape in written:
        start = f"{revision}-s{shape}-"
        assert {f.stem.removeprefix(start) for f in FILES if f.name.startswith(start)} >= states, start


@pytest.mark.parametrize("file", FILES, ids=named)
def test_a_state_is_small_and_made_up(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    assert len(text.encode()) < 30_000
    assert "/tmp" not in text
    assert re.search(r"[\w.]+@[\w.]+", text) is None


def test_what_rows_store_has_the_fields_of_its_shape() -> None:
    golden = json.loads((corpus.CORPUS / f"shape-{SHAPE}.json").read_text(encoding="utf-8"))
    assert corpus.contracts() == golden, (
        "What rows store as JSON changed, which a version that reads SHAPE may not know. Where people run it, raise "
        "SHAPE in kernel/records.py and add a step to kernel/shapes.py; then, in any case, write the corpus: see "
        "the docstring of tests/support/corpus.py."
    )
