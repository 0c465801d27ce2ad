from __future__ import annotations

import pytest

from memory_service.naming import named


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
