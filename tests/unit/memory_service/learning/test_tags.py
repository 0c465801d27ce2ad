from __future__ import annotations

import pytest

from memory_service.learning.tags import OF, OPERATIONS, own, told_by_rule


def test_the_tags_of_the_two_owners_and_of_operations() -> None:
    assert OF["user"] == ("profile", "preference", "habit", "relationship", "event")
    assert OF["agent"] == ("persona", "style", "emotion", "opinion", "event")
    assert OPERATIONS == ("service", "incident", "cause", "remedy")


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("my phone is 555", ["profile"]),
        ("I am the on-call lead of billing", ["profile"]),
        ("我负责支付服务", ["profile"]),
        ("Ann is my manager", ["relationship"]),
        ("我的同事小李管数据库", ["relationship"]),
        ("I usually deploy on Fridays", ["habit"]),
        ("我一般晚上发布", ["habit"]),
        ("we usually deploy on Fridays", []),
        ("我们一般晚上发布", []),
        ("search runs on node-7", []),
        ("the manager of Ann is Bob", []),
    ],
)
def test_what_a_person_tells_of_themselves(text: str, tags: list[str]) -> None:
    assert told_by_rule(text, "fact") == tags
    assert own(text, "fact") == bool(tags)


def test_wishes_and_what_happened() -> None:
    assert told_by_rule("I prefer tables", "preference") == ["preference"]
    assert told_by_rule("I always prefer tables", "preference") == ["preference", "habit"]
    assert told_by_rule("my phone rang", "episode") == ["event"]
    assert told_by_rule("my phone is 555", "procedure") == []
    assert not own("my phone rang", "episode")
