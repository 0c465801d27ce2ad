"""Errors in three parts, one JSON document, exit codes."""

from __future__ import annotations

import io
import json

import pytest
import typer

from coordinator.cli import screen
from kernel.errors import Cancelled, Correctable, Exhausted, Fatal, NightdeskError, Refused, Retryable
from kernel.states import RUN_ENDED, RunState


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Correctable("a"), 2),
        (Exhausted("a"), 2),
        (Cancelled("a"), 3),
        (Fatal("a"), 1),
        (Retryable("a"), 1),
        (Refused("a"), 1),
    ],
)
def test_the_class_of_an_error_gives_the_code(error: NightdeskError, code: int) -> None:
    assert screen.exit_code(error) == code


def test_every_end_of_a_run_has_a_code() -> None:
    assert {state.value for state in RUN_ENDED} | {RunState.waiting.value} == set(screen.EXIT_CODES)
    assert screen.EXIT_CODES["succeeded"] == 0


def test_an_error_has_three_parts_and_no_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    @screen.answering
    def command(*, as_json: bool = False) -> None:
        raise Correctable("it [red]broke[/]", why="a\nb", next_step="mend it")

    with pytest.raises(typer.Exit) as ended:
        command()
    assert ended.value.exit_code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines() == ["error: it [red]broke[/]", "  why: a", "       b", " next: mend it"]

    with pytest.raises(typer.Exit):
        command(as_json=True)
    captured = capsys.readouterr()
    assert captured.err == ""
    assert json.loads(captured.out)["error"]["next_step"] == "mend it"


def test_json_keeps_text_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    screen.print_json({"text": "连接池"})
    out = capsys.readouterr().out
    assert "连接池" in out
    assert json.loads(out) == {"text": "连接池"}


def test_columns_says_how_wide_a_pipe_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setenv("COLUMNS", "80")
    assert screen.out().width == 80
    monkeypatch.delenv("COLUMNS")
    monkeypatch.setattr("sys.__stdout__", None)  # a terminal of whoever runs the tests
    assert screen.out().width == 200
