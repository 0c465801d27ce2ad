"""The parts of a request: times, labels, sizes."""

from __future__ import annotations

import pytest

from coordinator.cli.submission import Brain, Priority, _checked_text, _labels, _seconds
from kernel import contracts
from kernel.errors import Correctable, Exhausted


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90s", 90), ("10m", 600), ("1h30m", 5400), ("45", 45), ("0.5h", 1800), ("2d", 172800)],
)
def test_times_are_read(text: str, seconds: float) -> None:
    assert _seconds(text) == seconds
    assert _seconds(None) is None


@pytest.mark.parametrize("text", ["", "soon", "10 m", "-5m", "0", "0s", "5x", "1h30"])
def test_what_is_no_time_is_said(text: str) -> None:
    with pytest.raises(Correctable, match="no length of time"):
        _seconds(text)


def test_labels_are_pairs() -> None:
    assert _labels(["service=checkout", "q=a=b", "empty="]) == {
        "service": "checkout",
        "q": "a=b",
        "empty": "",
    }
    for bad in ("x", "=y"):
        with pytest.raises(Correctable, match="no label"):
            _labels([bad])


def test_bytes_count_not_characters() -> None:
    assert _checked_text("数" * 10, 30) == "数" * 10
    with pytest.raises(Exhausted, match="too large"):
        _checked_text("数" * 11, 30)
    with pytest.raises(Correctable, match="empty"):
        _checked_text("  \n", 30)


def test_bytes_of_the_terminal_that_are_no_text_do_no_harm() -> None:
    assert _checked_text("a\udcffb", 30) == "a?b"


def test_the_choices_are_those_of_the_contract() -> None:
    assert list(Priority) == list(contracts.Priority)
    for brain in Brain:
        assert contracts.Request(text="x", brain=brain.value).brain == brain
