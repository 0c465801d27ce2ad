import pytest

from coordinator.intake import parse
from kernel.errors import Correctable


def test_paths_and_source_objects_are_taken() -> None:
    request = parse(
        {"text": "why?", "sources": ["/var/log/a.log", {"name": "b", "artifact": "f" * 64}]}, max_bytes=99
    )
    assert [(s.name, s.path, s.artifact) for s in request.sources] == [
        ("/var/log/a.log", "/var/log/a.log", None),
        ("b", None, "f" * 64),
    ]


@pytest.mark.parametrize(
    ("kwargs", "said"),
    [
        ({}, "no text"),
        ({"text": 7}, "text is int"),
        ({"text": "  "}, "no text"),
        ({"text": "x", "sources": "/a"}, "sources is not a list"),
        ({"text": "x", "sources": [3]}, "not valid"),
        ({"text": "x", "sources": ["a"] * 201}, "too many"),
        ({"text": "x", "priority": "now"}, "priority"),
        ({"text": "x", "labels": {"a": "b" * 9000}}, "labels are too large"),
        ({"text": "x", "deadline_seconds": -1}, "deadline_seconds"),
        ({"text": "x", "colour": "red"}, "colour"),
        ({"text": "x", "deadline_seconds": float("inf")}, "too far away"),
        ({"text": "x", "deadline_seconds": 1e15}, "too far away"),
        ({"text": "x", "deadline_seconds": float("nan")}, "deadline_seconds"),
        ({"text": "x", "labels": {"a": [[[[[[[[[[[["deep"]]]]]]]]]]]]}}, "labels"),
    ],
)
def test_each_fault_is_named_with_the_next_step(kwargs: dict[str, object], said: str) -> None:
    with pytest.raises(Correctable, match=said):
        parse(kwargs, max_bytes=100)


def test_the_limit_counts_bytes() -> None:
    assert parse({"text": "为什么"}, max_bytes=9).text == "为什么"
    with pytest.raises(Correctable, match="10 bytes"):
        parse({"text": "为什么?"}, max_bytes=9)


def test_what_no_database_can_store_is_marked() -> None:
    request = parse({"text": "a\x00b \ud800 結帳 😀", "labels": {"\udfff": "\x00"}}, max_bytes=99)
    assert request.text == "a\ufffdb \ufffd 結帳 😀"
    assert request.labels == {"\ufffd": "\ufffd"}
