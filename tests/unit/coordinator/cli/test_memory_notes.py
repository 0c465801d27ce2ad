"""What a telling became, in words; a memory's fields and versions as tables."""

from __future__ import annotations

from typing import Any

import pytest
import typer

from coordinator.cli import memory_notes
from coordinator.cli.memory_notes import became, print_became

VERSION: dict[str, Any] = {
    "id": "7f3a0000-0000-4000-8000-000000000001",
    "text": "the [red]pool[/] is 连接池 20",
    "status": "active",
    "in_force": True,
    "valid_from": "2026-11-02T09:00:00+00:00",
    "valid_to": None,
    "trust": 0.9,
    "source": "user:ann",
}


@pytest.mark.parametrize(
    ("outcome", "reason", "words"),
    [
        ("insert", "", "remembered"),
        ("touch", "", "known already; it counts for more now"),
        ("touch", "the same source has said it before", "known already: the same source has said it before"),
        ("history", "", "kept as history: a more trusted source says otherwise"),
        ("dropped", "small talk", "not remembered: small talk"),
        ("merged", "", "merged"),  # a newer memory service may have a word of its own
    ],
)
def test_what_became_of_it_is_said_in_words(outcome: str, reason: str, words: str) -> None:
    assert became({"id": "m", "outcome": outcome, "reason": reason}) == words


@pytest.mark.parametrize(
    ("hidden", "words"),
    [(0, "remembered"), (1, "remembered; 1 secret was hidden"), (2, "remembered; 2 secrets were hidden")],
)
def test_hidden_secrets_are_told_of(hidden: int, words: str) -> None:
    assert became({"id": "m", "outcome": "insert", "reason": "", "hidden": hidden}) == words


def test_the_id_is_the_output_and_the_words_are_a_remark(capsys: pytest.CaptureFixture[str]) -> None:
    print_became({"id": "m-1", "outcome": "insert", "reason": ""}, as_json=False)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("m-1\n", "remembered\n")


def test_a_wish_is_said_to_be_a_preference_and_all_ids_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    answer = {"id": "m-1", "ids": ["m-1", "m-2"], "kind": "preference", "outcome": "insert", "reason": ""}
    print_became(answer, as_json=False)
    printed = capsys.readouterr()
    assert (printed.out, printed.err) == ("m-1\nm-2\n", "remembered as a preference\n")


@pytest.mark.parametrize("as_json", [True, False])
def test_what_waits_for_a_person_ends_with_four_and_says_where(
    as_json: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(typer.Exit) as ended:
        print_became({"id": "m-1", "outcome": "quarantine", "reason": "an order"}, as_json=as_json)
    assert ended.value.exit_code == 4
    assert ("nightdesk memory quarantine" in capsys.readouterr().err) is not as_json


@pytest.mark.parametrize("as_json", [True, False])
def test_what_was_dropped_ends_with_one(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(typer.Exit) as ended:
        print_became({"id": None, "outcome": "dropped", "reason": "small talk"}, as_json=as_json)
    assert ended.value.exit_code == 1
    assert "small talk" in "".join(capsys.readouterr())


def test_versions_and_fields_are_tables(capsys: pytest.CaptureFixture[str]) -> None:
    old = {**VERSION, "in_force": False, "valid_to": "2026-11-03T09:00:00+00:00", "text": "the old one"}
    memory_notes.screen.out().print(memory_notes._versions([VERSION, old]))
    memory_notes.screen.out().print(memory_notes._fields({**VERSION, "tags": [], "slots": {"a": 1}}))
    text = capsys.readouterr().out
    for part in ("the [red]pool[/] is 连接池 20", "2026-11-0", "now", "0.9", '{"a": 1}'):
        assert part in text
    assert "tags" not in text
    assert "user" not in text.split("\n", 1)[0]
    memory_notes.screen.out().print(memory_notes._versions([VERSION, {**VERSION, "user": "alice"}]))
    assert "alice" in capsys.readouterr().out
