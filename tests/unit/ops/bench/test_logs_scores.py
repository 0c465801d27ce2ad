"""The public measures on cases worked out by hand."""

from __future__ import annotations

import pytest

from ops.bench.logs_scores import corrected, score


def test_all_right() -> None:
    one = score(["a", "a", "b <*>"], ["a", "a", "b <*>"])
    assert (one.ga, one.fga, one.pa, one.fta) == (1, 1, 1, 1)
    assert (one.templates, one.true_templates) == (2, 2)


def test_groups_right_and_texts_wrong() -> None:
    one = score(["a <*>", "a <*>", "b"], ["x", "x", "y"])
    assert (one.ga, one.fga, one.pa, one.fta) == (1, 1, 0, 0)


def test_a_group_cut_in_two() -> None:
    # lines 1-3 are `a`, found as `a`, `a`, `a2`; line 4 is `b`, found as `b`.
    # GA: only line 4's group is whole: 1/4. FGA: 1 right group, 3 found, 2 true: P 1/3, R 1/2, F1 .4.
    # PA: lines 1, 2, 4. FTA: `a` stands on lines of `a` alone and reads so (the public rule asks no more), `b` too:
    # 2 right of 3 found and 2 true: P 2/3, R 1, F1 .8.
    one = score(["a", "a", "a", "b"], ["a", "a", "a2", "b"])
    assert (one.ga, one.fga, one.pa, one.fta) == pytest.approx((0.25, 0.4, 0.75, 0.8))


def test_two_groups_thrown_together() -> None:
    # `a` and `b` both found as `a`: no group is right but `c`: GA 1/4; FGA: 1 right, 2 found, 3 true: .4.
    # PA: the lines of `a` and `c`; FTA: `a` also stands on a line of `b`, so only `c`: 1 of 2 and 3: .4.
    one = score(["a", "a", "b", "c"], ["a", "a", "a", "c"])
    assert (one.ga, one.fga, one.pa, one.fta) == pytest.approx((0.25, 0.4, 0.75, 0.4))


def test_nothing_right() -> None:
    one = score(["a", "b"], ["x", "x"])
    assert (one.ga, one.fga, one.pa, one.fta) == (0, 0, 0, 0)


@pytest.mark.parametrize(
    ("template", "right"),
    [
        ("a  b\t c ", "a b c"),
        ("took 12 ms", "took <*> ms"),
        ("blk_<*> done", "<*> done"),
        ("from <*>.<*>.<*>.<*>:<*>", "from <*>"),
        ("from /<*>:<*> to", "from /<*> to"),
        ("at <*>:<*>:<*>", "at <*>"),
        ("id=<*>-<*>", "id=<*>-<*>"),
        ("word2 stays", "word2 stays"),
        ('say "<*>" now', "say <*> now"),
        ("say '<*>'", "say '<*>'"),
        ("line #<*> of", "line <*> of"),
        ("<*>, <*>", "<*>, <*>"),
        ("1.2.3 <*><*>", "<*> <*>"),
    ],
)
def test_post_processing_as_published(template: str, right: str) -> None:
    assert corrected(template) == right
