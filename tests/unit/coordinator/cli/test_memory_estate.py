from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from coordinator.cli.app import app
from coordinator.cli.memory_estate import pages, read_file, taken
from kernel.errors import Correctable

HEAD = json.dumps({"nightdesk_memory": 1, "namespace": "*", "user": None})


def end(count: int) -> str:
    return json.dumps({"end": True, "memories": count})


def test_a_whole_file_gives_its_lines_and_its_namespace(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join([HEAD, '{"text": "连接\u2028池"}', end(1), ""]), encoding="utf-8")
    assert read_file(file) == (['{"text": "连接\u2028池"}'], "*")


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        ([], "no export"),
        (["{}"], "no export"),
        (["[]", "[]"], "no export"),
        ([HEAD], "cut off"),
        ([HEAD, "{}"], "cut off"),
        ([HEAD, "{}", end(2)], "cut off"),
        ([HEAD.replace("1", "9"), end(0)], "version 9"),
    ],
)
def test_what_is_no_whole_export_is_refused(tmp_path: Path, lines: list[str], why: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(Correctable, match=why):
        read_file(file)


def test_what_stays_out_is_told_with_the_way_in() -> None:
    assert taken("copy", {"new": 2, "known": 1}) == ["copy: 1 known, 2 new"]
    assert taken("copy", {}) == ["copy: no memories"]
    told, why = taken("copy", {"forgotten": 16})
    assert told == "copy: nothing was taken in: 16 forgotten"
    assert "16 were forgotten on purpose" in why
    assert "--anew" in why
    assert taken("copy", {"forgotten": 1, "new": 1})[0] == "copy: 1 forgotten, 1 new"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "it is empty"),
        ("{}", "not the head of an export"),
        ("[]\n[]", "not the head of an export"),
        ("{", "is not JSON"),
        (f"{HEAD}\n{{}}", "not the one that an export ends with"),
    ],
)
def test_why_a_file_is_refused_is_said_in_words(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "a.jsonl"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Correctable) as refused:
        read_file(file)
    assert why in refused.value.why


def test_a_confirmation_that_nobody_types_is_refused_on_a_line_of_its_own() -> None:
    ended = CliRunner().invoke(app, ["memory", "erase", "--namespace", "copy"], input="")
    assert ended.exit_code == 2
    before, error = ended.stderr.split("error:")
    assert before.endswith("\n")
    assert "nothing was erased" in error


def test_pages_fit_into_a_message_and_number_their_lines_as_the_file_does() -> None:
    lines = ["é" * 10_000] * 5 + ["a"] * 450
    made = list(pages(lines))
    assert [line for _, page in made for line in page] == lines
    assert all(sum(len(line.encode()) for line in page) <= 48 * 1024 for _, page in made)
    assert all(len(page) <= 200 for _, page in made)
    assert made[0][0] == 2
    assert made[1][0] == 2 + len(made[0][1])
