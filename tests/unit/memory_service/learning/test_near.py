from __future__ import annotations

import pytest

from memory_service.learning.near import Telling, alike, told

TOLD = "checkout ran out of connections after the deploy of version 4.2 on node-7, a restart helped"


@pytest.mark.parametrize(
    "other",
    [
        TOLD,
        "Checkout ran out of connections after the deploy of version 4.2 on node-7; a restart helped.",
        "checkout ran out of connections after a deploy of version 4.2 on node-7 and the restart helped",
        "After the deploy of version 4.2 on node-7 checkout ran out of connections, restarting helped",
    ],
)
def test_slightly_other_words_tell_the_same(other: str) -> None:
    assert alike(TOLD, other)


@pytest.mark.parametrize(
    "other",
    [
        TOLD.replace("node-7", "node-8"),
        TOLD.replace("4.2", "4.3"),
        TOLD.replace("a restart helped", "a restart did not help"),
        TOLD.replace("after", "before"),
        TOLD.replace("connections", "memory").replace("restart", "rollback").replace("deploy", "migration"),
        "checkout ran out of connections",
    ],
)
def test_another_name_number_or_negation_is_another_episode(other: str) -> None:
    assert not alike(TOLD, other)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (
            "结账服务在 node-7 上连接池耗尽，重启后恢复",
            "结账服务在 node-7 上的连接池耗尽了，重启后恢复",
            True,
        ),
        ("结账服务在 node-7 上连接池耗尽，重启后恢复", "结账服务在 node-8 上连接池耗尽，重启后恢复", False),
        ("结账服务重启后恢复正常运行了", "结账服务重启后没恢复正常运行", False),
        (
            "the disk of billing was cleaned by Ann today",
            "the disk of billing was cleaned by Bob today",
            False,
        ),
        (
            "search isn't reachable from the office network",
            "search is reachable from the office network",
            False,
        ),
        ("the gateway is up", "the gateway is down", False),
        ("", "", True),
    ],
)
def test_across_scripts_and_short_texts(one: str, other: str, *, same: bool) -> None:
    assert alike(one, other) is same
    assert alike(other, one) is same


@pytest.mark.parametrize("number", ["7", "７", "v7", "7_", "_7", "4.2", "在7上", "٧", "7a8"])
def test_no_text_is_passed_over_that_agrees_in_every_name(number: str) -> None:
    """Texts are compared by their digits first; whatever agrees word by word agrees in these."""
    one, other = f"the node {number} was drained", f"The  node {number}, was drained!"
    assert told(one).exact == told(other).exact
    assert Telling(one).alike(other)
    assert not Telling(one).alike(f"the node {number}1 was drained")
