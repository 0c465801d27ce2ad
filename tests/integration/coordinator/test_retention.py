"""What runs have read is kept for a while: nothing goes that a kept run needs, and what went is said."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import SQLModel
from typer.testing import CliRunner

from agents.log_analysis.sources.gathering import Gathering
from coordinator.cli.app import app
from coordinator.cli.evidence_reading import read_again
from coordinator.cli.logs_reading import reader
from coordinator.retention import Swept, held, hold, last_sweep, let_go, sweep
from coordinator.tasks import register_sweep
from kernel.artifacts import ArtifactStore
from kernel.broker import make_celery
from kernel.clock import now
from kernel.contracts import Evidence, Finding, Source
from kernel.database import Database
from kernel.ledgers import QuestionRow
from kernel.process import Process
from kernel.records import CallRow, RunRow
from kernel.reports import Report
from kernel.settings import Settings

NOW = now()
OLD, AGO = NOW - timedelta(days=40), NOW - timedelta(days=41)


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(f"file://{tmp_path / 'artifacts'}", max_bytes=10_000)


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    made = Database(f"sqlite:///{tmp_path / 'nightdesk.db'}")
    SQLModel.metadata.create_all(made.engine)
    yield made
    made.close()


def put(store: ArtifactStore, text: str, moment: datetime = AGO) -> str:
    name = store.put_bytes(text.encode())
    age(store, name, moment)
    return name


def age(store: ArtifactStore, name: str, moment: datetime = AGO) -> None:
    os.utime(Path(store.root) / name, (moment.timestamp(),) * 2)


def run(database: Database, name: str, *rows: Any, state: str = "succeeded", **fields: Any) -> None:
    told = {"created_at": AGO, "ended_at": OLD if state == "succeeded" else None, **fields}
    with database.writing("test") as db:
        db.add(RunRow(id=name, state=state, **told))
        for row in rows:
            db.add(row)


def night(database: Database, store: ArtifactStore, *, days: int = 30, most: int = 100) -> Swept:
    with database.reading() as session:
        due = held(session, store, days=days, moment=NOW).due
    return sweep(store, due, days=days, moment=NOW, most=most)


def test_what_an_old_run_has_read_goes_and_nothing_that_a_kept_run_needs(
    store: ArtifactStore, database: Database
) -> None:
    gone = put(store, "of a run that ended 40 days ago")
    names = {n: put(store, n) for n in ("live", "recent", "result", "asked", "again")}
    young = put(store, "young", NOW - timedelta(days=2))
    run(database, "r-old", request={"sources": [{"name": "a", "artifact": gone}]})
    run(database, "r-live", state="waiting", request={"sources": [{"name": "a", "artifact": names["live"]}]})
    run(
        database,
        "r-recent",
        ended_at=NOW - timedelta(days=3),
        request={"sources": [{"name": "a", "artifact": names["recent"]}]},
    )
    call = CallRow(
        id="c",
        run_id="r-asked",
        assignment_id="a",
        turn=1,
        position=0,
        tool="t",
        effect="read",
        key="k",
        result={"value": {"artifact": names["result"]}},
    )
    asked = QuestionRow(call_id="c", run_id="r-asked", assignment_id="a", tool="t")
    run(database, "r-asked", call, asked, request={"sources": [{"name": "a", "artifact": names["asked"]}]})
    run(
        database,
        "r-new",
        created_at=NOW,
        ended_at=NOW,
        request={"sources": [{"name": "a", "artifact": names["again"]}]},
    )
    mine = Path(store.root) / "notes.txt"
    mine.write_text("of somebody else")
    age(store, "notes.txt")
    swept = night(database, store)
    assert (swept.files, swept.bytes, swept.left) == (1, 31, 0)
    assert not store.holds(gone)
    assert all(map(store.holds, (young, "notes.txt", *names.values())))
    assert night(database, store).files == 0
    latest = last_sweep(store)
    assert latest is not None
    assert (latest["files"], latest["days"]) == (1, 30)


def test_pins_and_fetched_bodies_live_as_long_as_their_run(store: ArtifactStore, database: Database) -> None:
    body = put(store, "fetched")
    notes = [store.note_name(f"{name}\n\nloki") for name in ("r-live", "r-old")]
    for name in ("r-live", "r-old"):
        store.note(f"{name}\n\nloki", f'{{"files": [{{"artifact": "{body}"}}]}}'.encode())
    for note in notes:
        age(store, note)
    run(database, "r-old", request={"sources": [{"name": "loki"}]})
    run(database, "r-live", state="working", request={"sources": [{"name": "loki"}]})
    assert night(database, store).files == 1
    assert [store.holds(name) for name in (*notes, body)] == [True, False, True]


def test_a_night_has_an_end_and_the_oldest_go_first(store: ArtifactStore, database: Database) -> None:
    names = [put(store, str(n), AGO - timedelta(days=n)) for n in range(4)]
    swept = night(database, store, most=3)
    assert (swept.files, swept.left) == (3, 1)
    assert [store.holds(name) for name in names] == [True, False, False, False]
    assert datetime.fromisoformat(swept.before) == AGO
    assert night(database, store).files == 1


def test_nothing_goes_where_all_is_kept_for_good_or_was_put_there_again(
    store: ArtifactStore, database: Database
) -> None:
    name = put(store, "attached")
    assert night(database, store, days=0).files == 0
    with database.reading() as session:
        due = held(session, store, days=30, moment=NOW).due
    put(store, "attached", NOW)  # between the look and the removal somebody attached it anew
    assert sweep(store, due, days=30, moment=NOW).files == 0
    assert store.holds(name)


def test_evidence_that_was_let_go_says_since_when(store: ArtifactStore, database: Database) -> None:
    artifact = put(store, "INFO start\nERROR pool exhausted\n")
    request = {"sources": [{"name": "app.log", "artifact": artifact}]}
    run(database, "r-1", request=request)
    assert let_go(store, "r-1", request, OLD) == ""
    proof = Evidence(source="app.log", line=2, quote="ERROR pool exhausted")
    report = Report(run_id="r-1", state="succeeded", findings=[Finding(title="pool", evidence=[proof])])

    def look() -> tuple[str, str]:
        gone = let_go(store, "r-1", request, OLD)
        sources = [Source(name="app.log", artifact=artifact)]
        [row] = read_again(
            report, sources, read=reader(), settings=Settings(), store=store, context=0, gone=gone
        )
        return row["state"], row["note"]

    assert look() == ("stands", "")
    night(database, store)
    told = f"what the run read was kept 30 days; deleted on {NOW.astimezone():%Y-%m-%d}"
    assert look() == ("not reachable", told)


def test_who_reads_a_report_keeps_what_it_rests_on(store: ArtifactStore, database: Database) -> None:
    artifact = put(store, "read now")
    request = {"sources": [{"name": "a", "artifact": artifact}]}
    run(database, "r-1", request=request)
    hold(store, "r-1", request)
    assert night(database, store).files == 0


def test_a_pin_is_found_by_the_name_that_the_reader_gave_it(store: ArtifactStore, tmp_path: Path) -> None:
    log = tmp_path / "app.log"
    log.write_text("2026-11-29T10:00:00Z ERROR pool exhausted\n", encoding="utf-8")
    source = Source(name="app.log", path=str(log))
    Gathering("r-1", Settings(data_dir=tmp_path), store, (tmp_path,)).gather([source])
    request = {"sources": [source.model_dump()]}
    [stored] = store.stored()
    age(store, stored.name)
    hold(store, "r-1", request)
    [again] = store.stored()
    assert again.moment > AGO + timedelta(days=1)


def test_the_clock_rings_the_sweep_at_night_and_flower_shows_what_went(tmp_path: Path) -> None:
    celery = make_celery(Settings(data_dir=tmp_path), "coordinator")
    entry = celery.conf.beat_schedule["nightly-artifacts"]
    register_sweep(celery, Process("coordinator"), lambda: Swept("", "", 30, 12, 34_567, 8))
    told = celery.tasks[entry["task"]].apply().get()
    assert told == "removed 12 files, 34,567 bytes; 8 left"


def test_a_person_sees_what_is_kept_and_what_would_go(
    store: ArtifactStore, database: Database, tmp_path: Path
) -> None:
    put(store, "x" * 3000)
    asked = ["artifacts", "--data-dir", str(tmp_path)]
    told = CliRunner().invoke(app, asked)
    assert "1 file, 2.9 kB in file://" in told.stdout
    assert "tonight would go: 1 file, 2.9 kB" in told.stdout
    assert "tonight would go" in CliRunner().invoke(app, [*asked, "--sweep", "--dry-run"]).stdout
    document = json.loads(CliRunner().invoke(app, [*asked, "--sweep", "--json"]).stdout)
    assert document["swept"] == {"files": 1, "bytes": 3000, "left": 0}
    assert "last sweep: " in CliRunner().invoke(app, asked).stdout
