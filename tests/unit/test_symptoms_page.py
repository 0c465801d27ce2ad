"""The page of symptoms: every row is there, and every test it names exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

TESTS = Path(__file__).parents[1]
PAGE = (TESTS.parent / "docs" / "symptoms.md").read_text(encoding="utf-8")


def numbers(part: str) -> list[int]:
    return [int(n) for n in re.findall(r"^\| (\d+) \|", part, re.MULTILINE)]


def named_in(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef
    return {node.name for node in ast.walk(tree) if isinstance(node, kinds) and node.name.startswith("test_")}


def test_no_row_is_left_out() -> None:
    _, symptoms, rows, *_ = PAGE.split("\n## ")
    assert numbers(symptoms) == list(range(1, 21))
    assert numbers(rows) == list(range(1, 38))


def test_every_named_test_exists() -> None:
    named = set(re.findall(r"`([\w/]+\.py)::(\w+)`", PAGE))
    assert len(named) > 50
    missing = [(path, name) for path, name in named if name not in named_in(TESTS / path)]
    assert missing == []


def test_every_test_named_after_a_symptom_is_on_the_page() -> None:
    ours = [path for path in TESTS.rglob("test_*.py") if path != Path(__file__)]
    named = {
        name for path in ours for name in named_in(path) if re.match(r"test_(symptom|celery)_?\d+_", name)
    }
    assert len(named) > 20
    assert [name for name in sorted(named) if f"::{name}`" not in PAGE] == []
