from __future__ import annotations

import json
from pathlib import Path

import pytest

from coordinator.cli.memory_estate import pages, read_file
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


def test_pages_fit_into_a_message_and_number_their_lines_as_the_file_does() -> None:
    lines = ["é" * 10_000] * 5 + ["a"] * 450
    made = list(pages(lines))
    assert [line for _, page in made for line in page] == lines
    assert all(sum(len(line.encode()) for line in page) <= 48 * 1024 for _, page in made)
    assert all(len(page) <= 200 for _, page in made)
    assert made[0][0] == 2
    assert made[1][0] == 2 + len(made[0][1])
