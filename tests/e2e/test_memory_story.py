"""A memory over weeks on a whole desk: a wish shapes a later report, a fact that changed twice answers right."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest
from sqlmodel import select

from coordinator.cli.memory_asking import ask
from kernel.clock import now
from kernel.database import Database
from kernel.records import RunRow
from memory_service.tables import MemoryRow, MemoryStateRow
from tests.support.desk import Desk, desk

__all__ = ["desk"]  # the fixture

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(400)]

WEEK = timedelta(days=7)
LOG = """2026-11-29T03:00:00.000Z INFO checkout started
2026-11-29T03:00:01.000Z INFO checkout deployed version 2026.11.2 pool_size=2
2026-11-29T03:00:02.000Z ERROR checkout connection pool exhausted: 2/2 connections in use
"""
_LEARNT_SECONDS = 60.0


def memories(desk: Desk) -> list[dict[str, Any]]:
    listed: list[dict[str, Any]] = desk.run("memory", "list", "--json").json["memories"]
    return listed


def until(found: Callable[[], Any]) -> Any:
    """Return what is found once it is there; the memory learns after the report."""
    end = monotonic() + _LEARNT_SECONDS
    while not (value := found()):
        assert monotonic() < end, "nothing was learnt"
        sleep(0.2)
    return value


def a_week_passes(desk: Desk) -> None:
    """Move all that is stored about runs and memories back by a week."""
    database = Database(f"sqlite:///{desk.data_dir / 'nightdesk.db'}")
    with database.writing("test") as session:
        for run in session.exec(select(RunRow)):
            run.created_at -= WEEK
            run.ended_at = run.ended_at - WEEK if run.ended_at else None
        for memory in session.exec(select(MemoryRow)):
            memory.recorded_at -= WEEK
            memory.valid_from -= WEEK
            memory.valid_to = memory.valid_to - WEEK if memory.valid_to else None
        for state in session.exec(select(MemoryStateRow)):
            state.last_access_at -= WEEK.total_seconds()
    database.close()


def logged(desk: Desk, name: str) -> Path:
    path = desk.data_dir.parent / name
    path.write_text(LOG, encoding="utf-8")
    return path


def test_a_wish_of_one_session_shapes_a_report_of_another_a_week_later(desk: Desk) -> None:
    log = str(logged(desk, "checkout.log"))
    plain = desk.submit("why does checkout return 503?", "--log", log, "--session", "monday").json
    assert (plain["language"], plain["length"]) == ("", "")
    assert plain["answer"].startswith("Most likely cause")

    stated = desk.submit("why 503? Keep answers short, in Chinese.", "--log", log, "--session", "monday").json
    assert (stated["language"], stated["length"]) == ("zh", "short")  # at once, and from now on
    wishes = until(lambda: [m for m in memories(desk) if m["kind"] == "preference"])
    a_week_passes(desk)

    later = desk.submit("why does checkout return 503?", "--log", log, "--session", "next-monday").json
    # it shapes the report and is no part of it
    assert not {w["id"] for w in wishes} & {m["id"] for m in later["memories"]}
    assert (later["language"], later["length"]) == ("zh", "short")
    assert later["answer"].startswith("最可能的原因（可信度")
    assert len(later["answer"]) < len(plain["answer"]) / 2
    assert later["findings"] == plain["findings"]  # quotes, names, and what is learnt from

    shown = desk.run("show", later["run_id"]).out
    assert shown.startswith(f"# 运行 {later['run_id'][:13]}：成功")
    assert "pool exhausted: 2/2 connections in use" in shown
    assert "##" not in shown
    assert all(round(m["age_days"]) == 7 for m in memories(desk) if m["kind"] == "preference")


def test_a_request_says_one_thing_and_standing_wishes_the_other(desk: Desk) -> None:
    log = str(logged(desk, "checkout.log"))
    for wish in ("always answer in Chinese", "keep answers short"):
        assert desk.run("memory", "remember", wish, "--kind", "preference").code == 0
    english = desk.submit("Please answer in English. why does checkout return 503?", "--log", log).json
    assert (english["language"], english["length"]) == ("en", "short")
    german = desk.submit("Bitte antworte auf Deutsch. why does checkout return 503?", "--log", log).json
    assert (german["language"], german["length"]) == ("de", "short")
    assert "a report in German" in [note["what"] for note in german["not_done"]]

    told = desk.submit("Remember that the owner of checkout is team blue.")
    assert told.code == 0
    assert told.json["state"] == "succeeded"
    assert "team blue" in told.json["answer"]
    until(lambda: [m for m in memories(desk) if "team blue" in m["text"]])


def test_a_fact_that_changed_twice_is_right_now_and_then_and_its_old_value_cannot_be_cited(
    desk: Desk,
) -> None:
    known: list[tuple[str, str]] = []
    for name in ("Ann", "Bob", "Cy"):
        text = f"the owner of billing is {name}"
        told = desk.run("memory", "remember", text, "--key", "owner of billing", "--json")
        assert told.code == 0, told.err
        known.append((text, now().isoformat()))

    def recalled(*more: str) -> dict[str, Any]:
        answer = desk.run("memory", "recall", "who is the owner of billing?", "--json", *more)
        assert answer.code == 0, answer.err
        first: dict[str, Any] = answer.json["memories"][0]
        return first

    assert recalled()["text"] == known[-1][0]
    first = recalled("--as-of", known[0][1])
    assert first["text"] == known[0][0]
    assert recalled("--as-of", known[1][1])["text"] == known[1][0]
    assert "'soon' is no time" in desk.run("memory", "recall", "x", "--as-of", "soon").err

    cited = {"id": first["id"], "sentence": "The owner of billing is Ann."}
    asked = {"namespace": "default", "user": "local", "citations": [cited], "served": [first["id"]]}
    [judged] = ask(desk.data_dir, "memory.check", asked)
    assert (judged["verdict"], "no longer true" in judged["why"]) == ("stale", True)
