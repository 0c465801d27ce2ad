"""The commands of forgetting, the audit and whole estates, with the real memory worker behind the queue."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from sqlalchemy import text

from kernel import clock
from kernel.database import Database
from kernel.settings import Settings
from memory_service.domain import Candidate
from memory_service.store import Store
from tests.support.desk import Desk
from tests.support.memory_desk import memory_desk

pytestmark = pytest.mark.integration


def fill(database: Database) -> None:
    store = Store(database)
    for told, days, namespace in (
        ("checkout pool exhausted on node-7", 100, "default"),
        ("结账服务的连接池已耗尽", 0, "default"),
        ("checkout pool exhausted on node-7", 100, "team"),
        ("结账服务的连接池已耗尽", 0, "team"),
        ("billing is slow", 0, "*"),
    ):
        values = {"kind": "episode", "importance": 0.6, "source_kind": "user", "namespace": namespace}
        candidate = Candidate.model_validate({"text": told, **values})
        store.write(candidate, "store", at=clock.now() - timedelta(days=days), actor="test")


@pytest.fixture(scope="module")
def desk() -> Iterator[Desk]:
    with memory_desk(fill) as made:
        yield made


def test_what_faded_is_found_brought_back_and_forgotten_for_good(desk: Desk) -> None:
    # the worker made up the missed night when it started
    assert desk.run("memory", "decay", "--json").json["ran"] is False
    shown = desk.run("memory", "decay", "--dry-run")
    assert shown.code == 0, shown
    assert "nothing would move" in shown.out
    assert "0.5-0.6  ████" in shown.out
    (hit,) = desk.run("memory", "recall", "--archive", "node-7 pool", "--json").json["memories"]
    assert hit["explain"]["archived"] == 1.0
    assert desk.run("memory", "restore", hit["id"][:8], "--reason", "it is back").code == 0
    would = desk.run("memory", "forget", hit["id"], "--dry-run", "--json").json
    assert (len(would["memories"]), would["vectors"], would["copies"]) == (1, 1, 0)
    assert desk.run("memory", "forget", hit["id"]).code == 0
    assert desk.run("memory", "recall", "--archive", "node-7 pool", "--json").json["memories"] == []
    told = desk.run("memory", "audit", "--id", hit["id"], "--json").json["entries"]
    assert [entry["action"] for entry in told[:2]] == ["forget", "restored"]
    assert told[1]["reason"] == "it is back"
    database = Database(Settings(data_dir=desk.data_dir).database)
    with database.writing("test") as session:
        session.connection().execute(text("UPDATE memory_audit SET actor = 'nobody' WHERE seq = 2"))
    database.close()
    broken = desk.run("memory", "audit", "verify")
    assert (broken.code, "broken at row 2" in broken.out) == (1, True)


def test_a_namespace_is_exported_erased_and_imported_again(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "memories.jsonl"
    assert desk.run("memory", "export", "--namespace", "team", "-o", str(file), "--json").json == {
        "memories": 2,
        "file": str(file),
    }
    assert file.stat().st_mode & 0o777 == 0o600, "not everybody here may read what people said"
    head, *lines, end = map(json.loads, file.read_text(encoding="utf-8").splitlines())
    assert (head["namespace"], end["memories"]) == ("team", 2)
    assert {line["status"] for line in lines} == {"active", "archived"}
    refused = desk.run("memory", "erase", "--namespace", "team", "--json")
    assert (refused.code, refused.json["error"]["message"]) == (2, "nothing was erased")
    erased = desk.run("memory", "erase", "--namespace", "team", "--yes", "--json").json
    assert erased["erased"] == 2
    assert desk.run("memory", "list", "--namespace", "team", "--json").json["memories"] == []
    assert len(desk.run("memory", "list", "--namespace", "*", "--json").json["memories"]) == 1
    again = desk.run("memory", "import", str(file), "--namespace", "team", "--json").json
    assert again == {"namespace": "team", "memories": {"new": 2}}
    bad = tmp_path / "bad.jsonl"
    bad.write_text(file.read_text(encoding="utf-8").replace('"episode"', '"gossip"'), encoding="utf-8")
    told = desk.run("memory", "import", str(bad), "--namespace", "team", "--json")
    assert (told.code, "line 2: kind" in told.json["error"]["why"]) == (2, True)


def test_a_conversation_is_taken_in_and_recalled(desk: Desk, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    told = ["Which team moves the archive?", "The marmalade team, yesterday."]
    turns = [
        {"session": "s1", "at": "2026-05-08T13:56+08:00", "speaker": who, "text": text}
        for who, text in zip(["Bo", "Ann"], told, strict=True)
    ]
    file.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    options = ["--dialogue", "--namespace", "talk", "--user", "ann", "--json"]
    taken = desk.run("memory", "import", str(file), *options)
    assert taken.json == {"namespace": "talk", "memories": {"new": 2}}
    recalled = desk.run(
        "memory", "recall", "Which team moved the archive?", "--namespace", "talk", "--user", "ann", "--json"
    )
    assert f"Ann: {told[1]}" in [hit["text"] for hit in recalled.json["memories"]]
    file.write_text(json.dumps(turns[0] | {"at": "2026-05-08T13:56"}), encoding="utf-8")
    naive = desk.run("memory", "import", str(file), *options)
    assert (naive.code, "line 1: at: Input should have timezone info" in naive.json["error"]["why"]) == (
        2,
        True,
    )
