"""The bench's page: ratios are of like with like, and writing keeps the words around the figures."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from ops.bench.measure import Row
from ops.bench.table import ratios, render, write

ROWS = [
    Row("raw chain", 1, 60, 100.0, 10.0, 20.0, 5.0),
    Row("desk", 1, 60, 40.0, 25.0, 50.0, 20.0),
    Row("raw chain", 8, 200, 300.0, 25.0, 40.0, 4.0),
    Row("desk", 8, 200, 100.0, 80.0, 120.0, 18.0),
]
FOUND = {
    "machine": {"cores": 2, "load_1m": 0.5, "system": "Linux", "python": "3.11"},
    "up_seconds": {"ready": 7.1, "command": 7.9},
    "memory_mb": {"coordinator": 80.0, "redis": 10.0},
    "memory_mb_total": 90.0,
    "memory_mb_after": {"coordinator": 85.0},
    "rows": [asdict(row) for row in ROWS],
    "ratio": ratios(ROWS),
}


def test_ratios_say_how_much_more_the_desk_takes() -> None:
    assert ratios(ROWS) == {"sequential_p50": 2.5, "concurrent_throughput": 3.0, "concurrent_cpu": 4.5}


def test_render_has_each_row_and_process() -> None:
    text = render(FOUND)
    assert "| desk | 8 | 200 | 100.0 | 80.0 | 120.0 | 18.0 |" in text
    assert "| coordinator | 80.0 | 85.0 |" in text
    assert "| redis | 10.0 |  |" in text
    assert "ratio, sequential p50: 2.5" in text


class TestWrite:
    def test_makes_the_page(self, tmp_path: Path) -> None:
        page = tmp_path / "docs" / "performance.md"
        write(page, FOUND)
        assert "# Performance" in page.read_text(encoding="utf-8")
        assert render(FOUND) in page.read_text(encoding="utf-8")

    def test_keeps_what_stands_around_the_figures(self, tmp_path: Path) -> None:
        page = tmp_path / "performance.md"
        write(page, FOUND)
        page.write_text(page.read_text(encoding="utf-8") + "\n## Advice\n", encoding="utf-8")
        write(page, FOUND | {"memory_mb_total": 91.0})
        text = page.read_text(encoding="utf-8")
        assert text.count("| desk | 8 |") == 1
        assert "91.0" in text
        assert text.rstrip().endswith("## Advice")
