"""Names after --log: of the desk's file; a file of that name comes first, and what nobody knows is a path."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.cli.naming import part_names
from kernel.settings import Settings


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.chdir(tmp_path)
    listed = tmp_path / "listed.yaml"
    listed.write_text("sources:\n  checkout: {paths: [/srv/c/*.log]}\n  结账: {paths: [/srv/j/*.log]}\n")
    # nobody listens there: the file alone is asked
    return Settings(data_dir=tmp_path, redis_url="redis://127.0.0.1:1/0", log_sources=listed)


def test_a_name_is_no_path_and_is_told_once(settings: Settings) -> None:
    given = ["checkout", "/a.log", "结账", "checkout", "other"]
    assert part_names(settings, given) == (["checkout", "结账"], ["/a.log", "other"])


def test_a_file_of_that_name_comes_first(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "checkout").write_text("line\n")
    assert part_names(settings, ["checkout", "./checkout"]) == ([], ["checkout", "./checkout"])


@pytest.mark.parametrize("content", ["sources: [", "[]", "sources: 3", ""])
def test_a_file_that_cannot_be_used_names_nothing(settings: Settings, content: str) -> None:
    assert settings.log_sources is not None
    settings.log_sources.write_text(content)
    assert part_names(settings, ["checkout"]) == ([], ["checkout"])
