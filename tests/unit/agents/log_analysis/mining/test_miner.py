from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from agents.log_analysis.mining.masking import Masker
from agents.log_analysis.mining.miner import DISTINCT_LIMIT, Miner


def texts(miner: Miner) -> set[str]:
    return {miner.templates[n].text() for n in miner.live()}


def test_values_are_masked_and_words_are_not() -> None:
    masker = Masker()
    assert " ".join(masker.tokens("connect to 10.1.2.3:80 took 12 ms, id=af3-99 path /var/log/x.log")) == (
        "connect to <*> took <*>, id=<*> path <*>"
    )
    assert " ".join(masker.tokens("VM started")) == "VM started"


def test_two_words_stay_two_templates_many_become_a_variable() -> None:
    miner = Miner()
    ids = [miner.add(f"VM {word} (Lifecycle Event)") for word in ("Paused", "Resumed", "Started", "Stopped")]
    assert len({miner.final(i) for i in ids}) == 4
    names = [miner.add(f"login by {name} accepted") for name in ("ann", "bob", "cyd", "dan", "eve", "fay")]
    assert len(names) > DISTINCT_LIMIT
    assert len({miner.final(i) for i in names}) == 1
    assert "login by <*> accepted" in texts(miner)
    assert miner.templates[miner.final(names[0])].count == 6


def test_groups_never_merge() -> None:
    miner = Miner()
    assert miner.add("request done", "E") != miner.add("request done", "")


def test_state_is_json_and_goes_on() -> None:
    miner = Miner()
    for n in range(50):
        miner.add(f"worker {n} took job {n * 7} from queue {'abcdefg'[n % 7]}x")
    again = Miner.from_state(json.loads(json.dumps(miner.state())))
    assert texts(again) == texts(miner)
    assert again.add("worker 99 took job 3 from queue hx") in again.live()
    assert texts(again) == texts(miner)


def test_merge_adds_counts_and_maps_ids() -> None:
    one, two = Miner(), Miner()
    for n in range(3):
        one.add(f"read {n} bytes")
    number = two.add("read 9 bytes")
    two.add("something else entirely here")
    moved = one.merge(two)
    assert one.templates[moved[number]].count == 4
    assert texts(one) == {"read <*> bytes", "something else entirely here"}


@given(st.lists(st.text(alphabet="ab 1=/:", max_size=30), max_size=60))
def test_no_line_is_lost(lines: list[str]) -> None:
    miner = Miner()
    ids = [miner.add(line) for line in lines]
    assert sum(miner.templates[n].count for n in miner.live()) == len(lines)
    assert all(miner.final(i) in miner.live() for i in ids)
