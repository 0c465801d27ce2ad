"""Facts that say otherwise of the same thing."""

from __future__ import annotations

import pytest

from kernel.contracts import MemoryHit
from memory_service.learning.rivals import rivals


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("the pool of checkout is 90", "the pool of checkout is 120", True),
        ("search runs on node-7", "search runs on node-9", True),
        ("支付数据库在 db-7 上", "支付数据库在 db-9 上", True),
        ("the pool of checkout is 90", "The pool of checkout is 90.", False),
        ("the pool of checkout is 90", "the pool of billing is 120", False),
        ("node-7 has 64 GB", "node-9 has 64 GB", False),
        ("search runs on node-7", "search does not run on node-9", False),
    ],
)
def test_another_value_of_the_same_is_a_rival(one: str, other: str, same: bool) -> None:
    assert bool(rivals(one, [MemoryHit(id="m", text=other)])) is same
