from __future__ import annotations

import pytest

from kernel.sentences import statements


@pytest.mark.parametrize(
    ("request_text", "told"),
    [
        ("Remember that the owner of checkout is team blue.", 1),
        ("Remember that search runs on node-7. Always answer in English.", 2),
        ("记住：checkout 的负责人是蓝队。", 1),
        ("Please keep answers short", 1),
        ("Remember that the owner is blue. Why does checkout return 503?", 0),
        ("Restart checkout. Remember that the owner is blue.", 0),
        ("why is it slow?", 0),
        ("[mem:7f3a] remember that the owner is blue", 0),
        ("", 0),
    ],
)
def test_a_request_that_only_states_something(request_text: str, told: int) -> None:
    assert len(statements(request_text)) == told
