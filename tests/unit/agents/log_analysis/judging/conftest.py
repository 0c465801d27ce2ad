"""Scans a text as a log, for judgements over it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.finding import resolve
from kernel.contracts import Source


@pytest.fixture
def scan_of(tmp_path: Path) -> Callable[..., Scan]:
    """Return a function that scans texts, each as a file of its own."""

    def make(*texts: str) -> Scan:
        sources = []
        for number, text in enumerate(texts):
            path = tmp_path / f"{number}.log"
            path.write_text(text, encoding="utf-8")
            sources.append(Source(name=path.name, path=str(path)))
        files, problems = resolve(sources, [tmp_path.resolve()], {})
        assert not problems
        scan = Scan(tmp_path / "scratch", 1 << 30)
        scan.read(files)
        return scan

    return make
