"""A log mined in parts, by whom ever, has the templates of one pass: the same lines together, the same texts."""

from __future__ import annotations

import json
import random

import pytest

from agents.log_analysis.mining.journal import Journal
from agents.log_analysis.mining.miner import Miner

_WORDS = ("amber", "basil", "cedar", "dahlia", "elder", "fennel", "ginger", "hazel")
_LINES = (
    "worker {n} took job {n} from {w}-queue in {n}ms",
    "Cache {w} missed the key {w} again",
    "[{w}:{n}:Server@{n}] - session 0x{n}f opened for /10.0.0.{n}:{n}",
    "[{w}-{n}:Server@{n}] - session 0x{n}f opened for /10.0.0.{n}:{n}",
    "users: Set({w}, {w}) of {w}",
    "users: Set({w}) of {w}",
    "put key={w} into bucket={w} size={n}",
    "user '{w}' is {s}",
    "{w}.{w}.max = {w}",
    "job {w} {s} after {n} s, reason: {w}, retries: {n}",
    "用户{w}{s}，耗时{n}毫秒",
    "Exporting the table {w} to the archive",
    "{w} {w} {w} {w} took {n}",
)  # fmt: skip


def made(chance: random.Random, count: int = 250) -> list[str]:
    lines = []
    for _ in range(count):
        line = chance.choice(_LINES)
        while "{" in line:
            line = line.replace("{n}", str(chance.randrange(2000)), 1)
            line = line.replace("{w}", chance.choice(_WORDS), 1)
            line = line.replace("{s}", chance.choice(("up", "down")), 1)
        lines.append(line)
    return lines


def refine(group: str, message: str) -> str:
    return "down" if group and "down" in message else ""


def mined(lines: list[str]) -> tuple[Miner, list[int]]:
    miner = Miner(refine)
    return miner, [miner.add(line, "E" if "down" in line or "missed" in line else "") for line in lines]


def told(miner: Miner, ids: list[int]) -> list[tuple[str, int]]:
    """Return the text of each line's template, with the first line that has the same template."""
    first: dict[int, int] = {}
    finals = [first.setdefault(miner.final(n), place) for place, n in enumerate(ids)]
    return [(miner.templates[miner.final(n)].text(), final) for n, final in zip(ids, finals, strict=True)]


@pytest.mark.parametrize("seed", range(12))
def test_parts_merged_are_one_pass(seed: int) -> None:
    chance = random.Random(seed)
    lines = made(chance)
    whole, ids = mined(lines)
    whole.settle()
    cuts = sorted(chance.sample(range(1, len(lines)), chance.randrange(1, 6)))
    merged, found = Miner(refine), []
    for start, end in zip([0, *cuts], [*cuts, len(lines)], strict=True):
        part, numbers = mined(lines[start:end])
        moved = merged.merge(Miner.from_state(json.loads(json.dumps(part.state())), refine))
        found += [moved[number] for number in numbers]
    merged.settle()
    assert told(merged, found) == told(whole, ids)
    assert sum(merged.templates[n].count for n in merged.live()) == len(lines)


def test_a_journal_that_is_full_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agents.log_analysis.mining.journal.LIMIT", 3)
    lines = [f"step {word} done" for word in _WORDS[:4]]
    part, _ = mined(lines)
    assert not Journal.from_state(part.state()["journal"]).whole
    merged = Miner(refine)
    merged.merge(part)
    assert {merged.templates[n].text() for n in merged.live()} == set(lines)
