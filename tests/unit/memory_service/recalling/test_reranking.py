"""What a reranker's answer may be: distinct small numbers, nothing else."""

from __future__ import annotations

import pytest

from kernel.errors import Correctable
from memory_service.recalling.reranking import read


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"order": [2, 1, 3]}', [1, 0, 2]),
        ('```json\n{"order": [3]}\n```', [2]),
        ('Sure: {"order": []}', []),
    ],
)
def test_an_order_is_read(answer: str, expected: list[int]) -> None:
    assert read(answer, 3) == expected


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "1, 2, 3",
        "[1, 2]",
        '{"order": "1"}',
        '{"order": [0]}',
        '{"order": [4]}',
        '{"order": [-1]}',
        '{"order": [1, 1]}',
        '{"order": [1.0]}',
        '{"order": [true]}',
        '{"order": ["m1"]}',
        '{"order": [1], "order": null}',
        '{"ids": [1]}',
        "{" * 100_000 + "}",
    ],
)
def test_anything_else_is_refused(answer: str) -> None:
    with pytest.raises(Correctable):
        read(answer, 3)
