from __future__ import annotations

import json
import random
import time
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.log_analysis.mining.miner import DISTINCT_LIMIT, TEMPLATE_LIMIT, Miner
from ops.bench.logs import read


def texts(miner: Miner) -> set[str]:
    return {miner.templates[n].text() for n in miner.live()}


def mined(lines: Sequence[str]) -> Miner:
    miner = Miner()
    for line in lines:
        miner.add(line)
    return miner


def test_two_words_stay_two_templates_many_become_a_variable() -> None:
    miner = Miner()
    ids = [miner.add(f"VM {word} (Lifecycle Event)") for word in ("Paused", "Resumed", "Started", "Stopped")]
    assert len({miner.final(i) for i in ids}) == 4
    names = [miner.add(f"login by {name} accepted") for name in ("ann", "bob", "cyd", "dan", "eve", "fay")]
    assert len(names) > DISTINCT_LIMIT
    assert len({miner.final(i) for i in names}) == 1
    assert "login by <*> accepted" in texts(miner)
    assert miner.templates[miner.final(names[0])].count == 6


def test_the_first_word_says_who_speaks_and_stays_longer() -> None:
    miner = mined(
        [f"{name} startup succeeded" for name in ("crond", "sshd", "cupsd", "named", "ntpd", "xfs")]
    )
    assert len(miner.live()) == 6


def test_several_variables_at_once_are_found_in_a_crowd() -> None:
    words = [a + b for a in "bcdfghkl" for b in ("an", "el", "io", "ou", "ir", "ys")]
    lines = [
        f"Connection of {one} with {two} was refused" for one, two in zip(words, reversed(words), strict=True)
    ]
    assert texts(mined(lines)) == {"Connection of <*> with <*> was refused"}


def test_a_rich_log_is_no_crowd() -> None:
    words = [a + b for a in "bcdfghkl" for b in ("an", "el", "io", "ou", "ir", "ys")]
    lines = [f"{one} {two} is now ready" for one, two in zip(words, reversed(words), strict=True)]
    assert len(mined(lines).live()) == len(lines)


@pytest.mark.parametrize("turn", [1, -1])
def test_a_name_beside_values_is_a_value_whichever_came_first(turn: int) -> None:
    miner = mined(["acquire lock=1, ws=null, uid=1", "acquire lock=2, ws=Source{10113}, uid=3"][::turn])
    assert texts(miner) == {"acquire lock=<*>, ws=<*>, uid=<*>"}


def test_a_digit_in_a_word_is_shown_until_it_varies() -> None:
    miner = mined(["open through proxy SOCKS5", "open through proxy SOCKS5"])
    assert texts(miner) == {"open through proxy SOCKS5"}
    miner.add("open through proxy SOCKS4")
    assert texts(miner) == {"open through proxy <*>"}


def test_a_unit_is_shown_until_it_varies() -> None:
    miner = mined(["used 5 MB now", "used 6 MB now"])
    assert texts(miner) == {"used <*> MB now"}
    miner.add("used 6 GB now")
    assert texts(miner) == {"used <*> now"}


def test_groups_never_merge() -> None:
    miner = Miner()
    assert miner.add("request done", "E") != miner.add("request done", "")


def test_values_are_kept_and_told() -> None:
    miner = Miner()
    ids = [
        miner.add(f"job {n} on db-1 took {5 * n} ms for user {'ab'[n % 2]}{n % 2}x by me") for n in range(300)
    ]
    job, host, took, user = miner.parameters(ids[0])
    assert (host.kind, host.top) == ("one value", (("db-1", host.looked),))
    assert (job.kind, job.label, job.low, job.first) == ("rising", "job", 0, 0)
    assert (took.kind, took.unit) == ("rising", "ms")
    assert (user.kind, user.distinct, user.label) == ("few", 2, "user")
    assert 32 < job.looked < 100


def test_a_word_that_became_a_variable_had_a_value_before() -> None:
    miner = Miner()
    for _ in range(3):
        number = miner.add("login by ann accepted")
    for name in ("bob", "cyd", "dan", "eve"):
        miner.add(f"login by {name} accepted")
    one = miner.parameters(number)[0]
    assert one.top[0] == ("ann", 3)
    assert (one.kind, one.looked, one.distinct) == ("few", 7, 5)


def test_merge_adds_counts_and_maps_ids() -> None:
    one, two = Miner(), Miner()
    for n in range(3):
        one.add(f"read {n} bytes")
    number = two.add("read 9 bytes")
    two.add("something else entirely here")
    moved = one.merge(two)
    assert one.templates[moved[number]].count == 4
    assert one.parameters(moved[number])[0].looked == 4
    assert texts(one) == {"read <*> bytes", "something else entirely here"}


def test_a_variable_found_elsewhere_takes_in_the_words_met_here() -> None:
    here = mined([f"login by {name} accepted" for name in ("ann", "bob")])
    there = mined([f"login by {name} accepted" for name in ("cyd", "dan", "eve", "fay", "gus")])
    here.merge(there)
    here.add("login by hal accepted")
    assert texts(here) == {"login by <*> accepted"}
    assert here.templates[here.live()[0]].count == 8


def test_refined_groups_stay_apart_after_a_merge_and_a_state() -> None:
    def refine(group: str, message: str) -> str:
        return "oom" if group and "memory" in message else ""

    one, two = Miner(refine), Miner(refine)
    two.add("out of memory in worker 7", "E")
    again = Miner.from_state(json.loads(json.dumps(two.state())), refine)
    again.add("out of memory in loader x", "E")
    one.merge(again)
    assert {one.templates[n].group for n in one.live()} == {"E/oom"}


def test_halves_merged_are_the_whole_on_real_logs(loghub: Path) -> None:
    for one in read(loghub):
        half = len(one.messages) // 2
        first, second = mined(one.messages[:half]), mined(one.messages[half:])
        first.merge(Miner.from_state(json.loads(json.dumps(second.state()))))
        whole = mined(one.messages)
        assert texts(first) == texts(whole), one.name
        assert sum(first.templates[n].count for n in first.live()) == len(one.messages)


@given(st.lists(st.text(alphabet='ab 12=/:"', max_size=30), max_size=60))
def test_no_line_is_lost(lines: list[str]) -> None:
    miner = Miner()
    ids = [miner.add(line) for line in lines]
    assert sum(miner.templates[n].count for n in miner.live()) == len(lines)
    assert all(miner.final(i) in miner.live() for i in ids)
    again = Miner.from_state(json.loads(json.dumps(miner.state())))
    again.merge(miner)
    assert sum(again.templates[n].count for n in again.live()) == 2 * len(lines)


def test_a_quoted_value_may_be_too_long_to_be_one_word() -> None:
    miner = Miner()
    for size in (1, 90, 1, 190, 1):
        miner.add(f'tag="a {"1" * size} b c d {"2" * size}" on eth0')
    assert sum(miner.templates[n].count for n in miner.live()) == 5
    miner = Miner()
    for size in (190, 1):
        miner.add(f'tag="a {"1" * size} b c d {"2" * size}" on eth0')
    assert sum(miner.templates[n].count for n in miner.live()) == 2


@given(st.lists(st.text(max_size=40), max_size=20))
def test_any_text_is_taken(lines: list[str]) -> None:
    miner = mined(lines)
    assert all(miner.parameters(n) is not None for n in miner.live())


def test_lines_without_end_of_new_words_keep_memory_and_time_flat() -> None:
    chance = random.Random(5)
    words = ["".join(chance.choices("bcdfghklmnprstvwaeiou", k=6)) for _ in range(4000)]
    miner, spent, held = Miner(), [], []
    for _ in range(4):
        lines = [" ".join(chance.choices(words, k=4)) for _ in range(50_000)]
        begin = time.process_time()
        for line in lines:
            miner.add(line)
        spent.append(time.process_time() - begin)
        held.append(sum(miner.sizes().values()))
    assert sum(miner.templates[n].count for n in miner.live()) == 200_000
    assert len(miner.templates) < TEMPLATE_LIMIT + 600
    assert held[-1] < 1.5 * held[0]
    assert spent[-1] < 3 * spent[0]
