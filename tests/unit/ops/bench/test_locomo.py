from __future__ import annotations

from ops.bench import locomo_table
from ops.bench.locomo import KS, found_at, fused

TURNS = [f"D1:{number}" for number in range(1, 31)]


def test_recall_is_the_share_of_evidence_among_the_first_k_turns() -> None:
    assert KS == (5, 10, 20)
    assert found_at(frozenset({"D1:5"}), TURNS) == [1.0, 1.0, 1.0]
    assert found_at(frozenset({"D1:6"}), TURNS) == [0.0, 1.0, 1.0]
    assert found_at(frozenset({"D1:1", "D1:11", "D1:20", "D1:21"}), TURNS) == [0.25, 0.25, 0.75]
    assert found_at(frozenset({"D2:1"}), TURNS) == [0.0, 0.0, 0.0]
    assert found_at(frozenset({"D1:1"}), []) == [0.0, 0.0, 0.0]


def test_fusion_puts_first_what_stands_high_in_both_lists() -> None:
    assert fused(["a", "b", "c"], ["b", "d"]) == ["b", "a", "d", "c"]
    assert fused(["a", "b"], ["b", "a"]) == ["a", "b"]
    assert fused([], []) == []


def test_the_table_says_what_was_measured_and_what_could_not_be_read() -> None:
    recall = {"5": 0.5, "10": 0.75, "20": 1.0}
    found = {
        "machine": {"cores": 2, "load_1m": 0.3, "python": "3.11.2"},
        "embedder": "hash",
        "conversations": 1,
        "turns": 9,
        "questions": 4,
        "without_evidence": 1,
        "unreadable_evidence": ["D9:9", "D"],
        "seconds": 1.5,
        "engine_ms": 0.9,
        "rows": [
            {"way": "ours", "category": "all", "questions": 4, "recall": recall},
            {"way": "ours", "category": "2", "questions": 1, "recall": recall},
        ],
    }
    text = locomo_table.render(found)
    assert "4 questions with evidence, 9 turns" in text
    assert "2 references to evidence name no turn: D9:9, D" in text
    assert "load 0.3" in text
    assert "| our score | all | 4 | 0.500 | 0.750 | 1.000 |" in text
    assert "| our score | 2 temporal | 1 | 0.500 | 0.750 | 1.000 |" in text
