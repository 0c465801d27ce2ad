"""Evidence that is read again: it stands, it changed, it is gone, or its source is not here."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from agents.log_analysis.sources.gathering import Gathering
from coordinator.cli.evidence_reading import all_stand, read_again
from coordinator.cli.logs_reading import reader
from kernel.artifacts import ArtifactStore
from kernel.contracts import Evidence, Finding, Source
from kernel.redaction import Redactor
from kernel.reports import Report
from kernel.settings import Settings

LINES = ["INFO start", "ERROR pool exhausted for ann@example.com", "INFO end"]


@pytest.fixture
def store(tmp_path: Path) -> ArtifactStore:
    return ArtifactStore(f"file://{tmp_path / 'artifacts'}", max_bytes=10_000)


def reread(report: Report, sources: list[Source], store: ArtifactStore, context: int = 1) -> list[dict]:
    return read_again(report, sources, read=reader(), settings=Settings(), store=store, context=context)


def report(*evidence: Evidence, against: list[Evidence] | None = None) -> Report:
    finding = Finding(title="pool", evidence=list(evidence), against=against or [])
    return Report(run_id="r-1", state="succeeded", findings=[finding])


def proof(source: str, line: int = 2, quote: str = "ERROR pool exhausted") -> Evidence:
    return Evidence(source=source, line=line, quote=quote)


def test_a_line_in_place_stands_with_the_lines_round_it(tmp_path: Path, store: ArtifactStore) -> None:
    log = tmp_path / "app.log"
    log.write_text("\n".join(LINES), encoding="utf-8")
    mail = Redactor(salt=b"r-1").text("ann@example.com")
    told = report(
        proof(str(log), quote=f"pool exhausted for {mail}"), against=[proof(str(log), 1, "INFO start")]
    )
    first, second = reread(told, [Source(name=str(log), path=str(log))], store)
    assert (first["state"], first["against"], second["state"], second["against"]) == (
        "stands",
        False,
        "stands",
        True,
    )
    assert [row["line"] for row in first["context"]] == [1, 2, 3]
    assert first["context"][1]["quote"] == f"ERROR pool exhausted for {mail}"
    assert [row["line"] for row in second["context"]] == [1, 2]


def test_the_lines_that_an_answer_quotes_are_read_again_too(tmp_path: Path, store: ArtifactStore) -> None:
    log = tmp_path / "app.log"
    log.write_text("INFO `a` start\nERROR pool 12 exhausted\nINFO end\n", encoding="utf-8")
    quotes = {1: "INFO 'a' start", 2: "ERROR pool <*> exhausted", 3: "INFO the end"}
    told = "\n".join(
        ["3 lines, the first at 10:00 (app.log:1).", *(f"- app.log:{n}  `{q}`" for n, q in quotes.items())]
    )
    counted = Report(run_id="r-1", state="succeeded", answer=told)
    rows = reread(counted, [Source(name="app.log", path=str(log))], store)
    assert [(row["line"], row["state"], row["quote"]) for row in rows] == [
        (1, "stands", quotes[1]),
        (2, "stands", quotes[2]),
        (3, "changed", quotes[3]),
    ]
    assert not all_stand(rows)


def test_a_line_that_a_finding_quotes_too_is_read_once(tmp_path: Path, store: ArtifactStore) -> None:
    log = tmp_path / "app.log"
    log.write_text("\n".join(LINES), encoding="utf-8")
    told = report(proof("app.log")).model_copy(update={"answer": "- app.log:2  `ERROR pool exhausted`"})
    [row] = reread(told, [Source(name="app.log", path=str(log))], store)
    assert (row["finding"], row["state"]) == ("pool", "stands")


def test_an_attached_file_is_read_from_the_store(store: ArtifactStore) -> None:
    artifact = store.put_bytes("\n".join(LINES).encode())
    [row] = reread(report(proof("app.log")), [Source(name="app.log", artifact=artifact)], store, 0)
    assert row["state"] == "stands"
    assert [r["line"] for r in row["context"]] == [2]


def test_what_changed_since_says_so_and_keeps_the_quote(tmp_path: Path, store: ArtifactStore) -> None:
    log = tmp_path / "app.log"
    log.write_text("INFO other\nINFO lines\n", encoding="utf-8")
    source = Source(name=str(log), path=str(log))
    changed, gone = reread(report(proof(str(log)), proof(str(log), 9)), [source], store)
    [stands] = reread(report(proof(str(log), quote="INFO lines")), [source], store)
    assert all_stand([stands])
    assert not all_stand([stands, changed])
    assert not all_stand([gone])
    assert (changed["state"], changed["quote"]) == ("changed", "ERROR pool exhausted")
    assert changed["context"][1]["quote"] == "INFO lines"
    assert (gone["state"], gone["context"]) == ("gone", [])


def test_what_was_rotated_since_stands_and_what_was_replaced_is_not_quoted(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path / "desk")
    store = ArtifactStore(settings.artifacts, max_bytes=10_000)
    log = tmp_path / "app.log"
    log.write_text("\n".join(LINES), encoding="utf-8")
    source = Source(name=str(log), path=str(log))
    files, _ = Gathering("r-1", settings, store, (tmp_path,)).gather([source])
    assert len(files) == 1

    def again() -> dict:
        told = report(proof(str(log), quote="ERROR pool exhausted"))
        [row] = read_again(told, [source], read=reader(), settings=settings, store=store, context=1)
        return row

    packed = log.with_name("app.log.1.gz")
    packed.write_bytes(gzip.compress(log.read_bytes() + b"\nINFO later"))
    log.write_text("INFO other\nERROR pool exhausted by somebody else\n", encoding="utf-8")
    assert again()["state"] == "stands"
    assert [row["line"] for row in again()["context"]] == [1, 2, 3]
    packed.unlink()
    gone = again()
    assert (gone["state"], gone["context"]) == ("not reachable", [])
    assert "no longer holds what this run read" in gone["note"]
    # what is told of a neighbour with a longer name is not told of it
    other = tmp_path / "app.log.other"
    other.write_text("2026-11-29 10:00:00 INFO no zone\n", encoding="utf-8")
    both = [source, Source(name=str(other), path=str(other))]
    [row] = read_again(
        report(proof(str(log))), both, read=reader(), settings=settings, store=store, context=1
    )
    assert "no longer holds what this run read" in row["note"]


def test_a_source_that_is_not_here_says_so(tmp_path: Path, store: ArtifactStore) -> None:
    away = str(tmp_path / "away.log")
    [row] = reread(report(proof(away)), [Source(name=away, path=away)], store)
    assert (row["state"], row["context"], row["quote"]) == ("not reachable", [], "ERROR pool exhausted")
    assert "no file" in row["note"]
    here = tmp_path / "here.log"
    here.write_text("\n".join(LINES), encoding="utf-8")
    both = [Source(name=n, path=n) for n in (away, str(here))]
    missing, found = reread(report(proof(away), proof(str(here))), both, store)
    assert (missing["state"], found["state"]) == ("not reachable", "stands")
    assert "away.log" in missing["note"]


def test_an_attachment_that_was_thrown_away_says_so(store: ArtifactStore) -> None:
    [row] = reread(report(proof("app.log")), [Source(name="app.log", artifact="0" * 64)], store)
    assert row["state"] == "not reachable"
    assert "does not exist" in row["note"]


def test_a_run_without_findings_reads_nothing(store: ArtifactStore) -> None:
    assert reread(Report(run_id="r", state="succeeded"), [Source(name="x", path="/nowhere")], store) == []
