from __future__ import annotations

from collections import Counter

import pytest

from agents.log_analysis.judging.entities import concentrated
from agents.log_analysis.judging.placing import placed
from agents.log_analysis.wording import ZH
from kernel.wording import ENGLISH, Words

EVERY = Counter({f"node-{n}": 1000 for n in range(9)})


@pytest.mark.parametrize(
    ("some", "by", "chinese"),
    [
        ({"node-7": 143}, "host", "单一主机 `node-7`（143 行中的 143 行；它占全部日志的 11%）"),
        (
            {"node-7": 100, "node-2": 43},
            "node",
            "以 `node-7` 为主的节点（143 行中的 100 行；它占全部日志的 11%）",
        ),
        (
            {f"node-{n}": 10 for n in range(9)},
            "ip",
            "9 个ip中的 9 个；最多的 `node-0` 占 11%（占全部日志的 11%）",
        ),
    ],
)
def test_where_lines_come_from_is_told_in_chinese_but_for_names(
    some: dict[str, int], by: str, chinese: str
) -> None:
    told = concentrated(Counter(some), EVERY, by)
    assert placed(told, Words(ZH)) == chinese
    assert placed(told, ENGLISH).replace("`", "") == told
    assert placed(f"{told}, in a sample of 300", Words(ZH)) == f"{chinese}，按 300 行的样本"


def test_what_was_cut_is_quoted_as_it_is() -> None:
    assert placed("only node-7 (143 of", Words(ZH)) == "`only node-7 (143 of`"
