"""The commands about dead letters on a real Redis and rows: what people and scripts see, and errors that say what to do."""

from __future__ import annotations

from pathlib import Path

import pytest
import redis

from kernel.database import Database
from kernel.records import DeadLetterRow
from kernel.schema import migrate
from kernel.settings import Settings
from tests.support.desk import Desk

pytestmark = pytest.mark.integration

SECRET = "hunter2secret"


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Desk:
    made = Desk(tmp_path / "desk", {"NIGHTDESK_REDIS_URL": redis_url})
    made.data_dir.mkdir()
    database = Database(Settings(data_dir=made.data_dir).database)
    migrate(database)
    raw = f"磁盘 password={SECRET}".encode()
    with database.writing("test") as session:
        session.add(
            DeadLetterRow(
                kind="message",
                queue="coordinator",
                reason="it is not JSON",
                first_bytes="磁盘 password=<SECRET:1>",
                size=len(raw),
                body=raw,
            )
        )
        session.add(
            DeadLetterRow(kind="message", queue="memory", reason="it has 2,000,000 bytes", size=2_000_000)
        )
    database.close()
    return made


def test_list_show_replay_and_drop_for_scripts(desk: Desk, redis_url: str) -> None:
    listed = desk.run("dead-letters", "list", "--json").json
    assert listed["kept"] == 2
    assert [(one["id"], one["queue"], one["kept_whole"]) for one in listed["dead_letters"]] == [
        (2, "memory", False),
        (1, "coordinator", True),
    ]
    shown = desk.run("dead-letters", "show", "1", "--json").json
    assert "磁盘" in shown["message"]
    assert SECRET not in str(shown)
    assert desk.run("dead-letters", "replay", "1", "--json").json == {
        "id": 1,
        "state": "replayed",
        "queue": "coordinator",
    }
    with redis.Redis.from_url(redis_url) as client:
        assert client.lrange("coordinator\x06\x163", 0, -1) == [f"磁盘 password={SECRET}".encode()]
    assert desk.run("dead-letters", "drop", "--all", "--json").json == {"dropped": [2]}
    assert desk.run("dead-letters", "list", "--json").json == {"dead_letters": [], "kept": 0}
    every = desk.run("dead-letters", "list", "--all", "--json").json["dead_letters"]
    assert [(one["id"], one["state"]) for one in every] == [(2, "dropped"), (1, "replayed")]
    assert desk.run("status", "--json").json["waiting_for_people"]["dead_letters"] == 0


def test_people_get_a_table_the_whole_letter_and_the_next_step(desk: Desk) -> None:
    table = desk.run("dead-letters", "list").out
    for cell in ("id", "age", "queue", "kind", "reason", "coordinator", "just now", "it is not JSON", "磁盘"):
        assert cell in table
    letter = desk.run("dead-letters", "show", "1").out
    assert "nightdesk dead-letters replay 1, or nightdesk dead-letters drop 1" in letter
    assert SECRET not in letter
    too_long = desk.run("dead-letters", "show", "2").out
    assert "2,000,000 bytes, not kept" in too_long
    assert "replay" not in too_long


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["show", "9"], 2, "there is no dead letter 9"),
        (["show", "nine"], 2, "Invalid value for 'ID'"),
        (["replay", "2"], 1, "cannot be replayed"),
        (["drop"], 2, "drop takes either numbers or --all"),
        (["drop", "1", "--all"], 2, "drop takes either numbers or --all"),
        (["drop", "1", "9"], 2, "there is no dead letter 9"),
    ],
)
def test_errors_say_what_and_what_next(desk: Desk, arguments: list[str], code: int, words: str) -> None:
    answer = desk.run("dead-letters", *arguments, "--json")
    assert answer.code == code
    error = answer.json["error"]
    assert words in error["message"]
    assert error["next_step"]
    assert desk.run("dead-letters", "list", "--json").json["kept"] == 2


def test_without_a_redis_nothing_is_marked_as_replayed(desk: Desk) -> None:
    answer = desk.run(
        "dead-letters", "replay", "1", environment={"NIGHTDESK_REDIS_URL": "redis://127.0.0.1:9/0"}
    )
    assert answer.code == 1
    assert "Redis does not answer" in answer.err
    assert desk.run("dead-letters", "list", "--json").json["kept"] == 2
