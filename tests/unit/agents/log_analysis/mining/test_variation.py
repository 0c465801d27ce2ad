"""Lines of one kind that differ in several places at once become one; lines that differ in what happened do not."""

from __future__ import annotations

import pytest

from agents.log_analysis.mining.miner import Miner

NAMES = ("amber", "basil", "cedar", "dahlia", "elder", "fennel")
KEYS = ("quartz", "topaz", "opal", "jade", "onyx", "beryl")


def texts(lines: list[str], *, settle: bool = False) -> set[str]:
    miner = Miner()
    for line in lines:
        miner.add(line)
    if settle:
        miner.settle()
    return {miner.templates[n].text() for n in miner.live()}


@pytest.mark.parametrize(
    ("line", "template"),
    [
        ("Cache {} missed the key {} again", "Cache <*> missed the key <*> again"),
        ("put key={} into bucket={}", "put key=<*> into bucket=<*>"),
        ("{0}.max.{1} = {1}", "<*> = <*>"),
        ("{0}-{1}/pool of {1}-svc is full", "<*> of <*> is full"),
    ],
)
def test_several_values_at_once(line: str, template: str) -> None:
    assert texts([line.format(n, k) for n, k in zip(NAMES, KEYS, strict=True)]) == {template}


@pytest.mark.parametrize(
    "lines",
    [
        [f"level={level} module={module} ready" for level in ("info", "warn") for module in ("mail", "shop")],
        [
            f"program interrupt: {what}"
            for what in ("trap entry", "bad opcode", "page fault", "bus error", "fp trap")
        ],
        ["orders are open today", "orders are shut today", "orders are late today", "orders are lost today"]
        * 3,
    ],
)
def test_what_tells_events_apart_stays(lines: list[str]) -> None:
    assert texts(lines, settle=True) == set(lines)


def test_rare_lines_that_differ_in_a_name_are_one_at_the_end() -> None:
    lines = [f"Exporting the table {name} to the archive" for name in NAMES[:3]]
    assert texts(lines) == set(lines)
    assert texts(lines, settle=True) == {"Exporting the table <*> to the archive"}


@pytest.mark.parametrize(
    "lines",
    [
        [f"cannot open {what}" for what in ("socket", "database", "logfile")],
        [f"The nightly export job was {what}" for what in ("started", "delayed", "cancelled")],
    ],
)
def test_rare_lines_that_say_different_things_stay_apart_at_the_end(lines: list[str]) -> None:
    assert texts(lines, settle=True) == set(lines)


def test_rare_failures_stay_apart_at_the_end() -> None:
    miner = Miner()
    for name in NAMES[:3]:
        miner.add(f"Exporting the table {name} to the archive", "E")
    miner.settle()
    assert len(miner.live()) == 3


def test_lists_of_any_length_are_one_value_and_lists_of_one_length_show_each() -> None:
    assert texts(
        ["users: Set(ann, bob)", "users: Set(eve)", "users: Set(ann, eve, joe)", "users: Set()"]
    ) == {"users: Set(<*>)"}
    assert texts([f"at Point({n}, {k}) now" for n, k in zip(NAMES, KEYS, strict=True)]) == {
        "at Point(<*>, <*>) now"
    }


def test_what_stands_in_a_json_value_tells_lines_apart_while_few_differ() -> None:
    lines = ['got {"event": "paid", "id": 5}', 'got {"event": "refunded", "id": 7}']
    assert len(texts(lines)) == 2
