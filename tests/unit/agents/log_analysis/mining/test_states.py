"""A miner's state: plain JSON, quick, of any version, and going on from it is as if nothing had happened."""

from __future__ import annotations

import json
import random
import time

from agents.log_analysis.mining.miner import Miner


def lines(count: int, start: int = 0) -> list[str]:
    numbers = range(start, start + count)
    return [f"worker {n} took job {n * 7} from queue {'abcdefg'[n % 7]}x on db-{n % 2}" for n in numbers]


def mined(messages: list[str], miner: Miner | None = None) -> Miner:
    miner = miner or Miner()
    for message in messages:
        miner.add(message)
    return miner


def told(miner: Miner) -> list[object]:
    return [(miner.templates[n].text(), miner.templates[n].count, miner.parameters(n)) for n in miner.live()]


def copied(miner: Miner) -> Miner:
    return Miner.from_state(json.loads(json.dumps(miner.state())))


def test_going_on_from_a_state_is_going_on() -> None:
    broken = mined(lines(80, 60), copied(mined(lines(60))))
    assert told(broken) == told(mined(lines(140)))


def test_ids_stay_the_same() -> None:
    miner = Miner()
    ids = [miner.add(line) for line in lines(60)]
    again = copied(miner)
    assert [again.final(i) for i in ids] == [miner.final(i) for i in ids]


def test_a_state_of_version_1_still_loads() -> None:
    rows = [
        ["", ["login", "by", "<*>"], 7, -1, True],
        ["", ["login", "by", "ann"], 1, 0, False],
        ["E", [], 1, -1, False],
    ]
    miner = Miner.from_state({"version": 1, "templates": rows})
    assert miner.add("login by bob") == 0
    assert miner.templates[miner.final(1)].count == 8
    assert miner.add("", "E") == 2


def test_five_thousand_templates_dump_and_load_quickly() -> None:
    chance = random.Random(3)
    words = ["".join(chance.choices("bcdfghklmnprstvwaeiou", k=6)) for _ in range(4000)]
    miner = mined([f"{' '.join(chance.choices(words, k=5))} took {n} ms" for n in range(5000)])
    assert len(miner.live()) > 4900
    dumping = loading = 1.0
    for _ in range(5):
        start = time.process_time()
        text = json.dumps(miner.state())
        dumping = min(dumping, time.process_time() - start)
        start = time.process_time()
        again = Miner.from_state(json.loads(text))
        loading = min(loading, time.process_time() - start)
    assert again.live() == miner.live()
    assert dumping < 0.2  # about 0.02 and 0.03 s alone on a machine
    assert loading < 0.3
