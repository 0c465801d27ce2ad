from __future__ import annotations

import pytest

from memory_service.recalling.naming import holds, identifiers, named


@pytest.mark.parametrize(
    ("question", "service", "expected"),
    [
        ("why does checkout return 503?", "checkout", "own"),
        ("Checkout 返回 503", "checkout", "own"),
        ("the order service is down", "order-service", "own"),
        ("orders fail", "order-service", "own"),
        ("the web server is slow", "web-server", "own"),
        ("is web-frontend slow?", "web-server", "other"),
        ("checkout is down", "mail", "other"),
        ("inventory service is slow", "checkout", "other"),
        ("user-service is down, restart it", "checkout", "other"),
        ("why does catalog return 503?", "checkout", "other"),
        ("recommendation returns 502", "checkout", "other"),
        ("why 503?", "checkout", "none"),
        ("why is it so slow?", "checkout", "none"),
        ("the failing service", "checkout", "none"),
        ("requests fail, every request fails", "checkout", "none"),
        ("", "checkout", "none"),
    ],
)
def test_whose_name_a_question_says(question: str, service: str, expected: str) -> None:
    assert named(question, service, {"checkout", "web-frontend"} - {service}) == expected


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("ERR_999", {"err_999"}),
        ("10.0.12.8", {"10.0.12.8"}),
        ("node-7?", {"node-7"}),
        ("what is ERR_999", {"err_999"}),
        ("node-7, node-8", {"node-7", "node-8"}),
        ("/var/log/app.log", {"/var/log/app.log"}),
        ("why does checkout return ERR_999", set()),
        ("checkout pool", set()),
        ("ERR_999是什么", set()),
        ("2026-11-02", set()),
        ("why", set()),
        ("", set()),
    ],
)
def test_the_identifiers_of_a_question_that_says_nothing_else(question: str, names: set[str]) -> None:
    assert identifiers(question) == names


@pytest.mark.parametrize(
    ("text", "name", "held"),
    [
        ("10.0.12.7 is the replica", "10.0.12.8", False),
        ("10.0.12.80 is the replica", "10.0.12.8", False),
        ("210.0.12.8 is the replica", "10.0.12.8", False),
        ("the replica is 10.0.12.8.", "10.0.12.8", True),
        ("host:Node-7:8080 fails", "node-7", True),
        ("node-70", "node-7", False),
        ("node-7-eth0", "node-7", False),
        ("ERR_999：连接池", "err_999", True),
        ("a(b", "a(b", True),
    ],
)
def test_an_identifier_is_held_whole(text: str, name: str, held: bool) -> None:
    assert holds(text, [name]) is held
