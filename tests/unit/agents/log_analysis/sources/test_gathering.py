"""Copies of a store elsewhere: one of each, and none that nobody has used for as long as artifacts are kept."""

from __future__ import annotations

import os
from pathlib import Path

from agents.log_analysis.sources.gathering import Gathering
from kernel.artifacts import ArtifactStore
from kernel.clock import now
from kernel.contracts import Source
from kernel.settings import Settings

DAY = 86_400


def test_copies_that_nobody_uses_go_when_another_is_made(tmp_path: Path) -> None:
    store = ArtifactStore("memory://copies", max_bytes=1000)
    old, used, new = (store.put_bytes(f"2026-11-29T10:00:0{n}Z INFO {n}\n".encode()) for n in range(3))
    gathering = Gathering("r-1", Settings(data_dir=tmp_path, artifact_days=30), store, ())

    def read(artifact: str) -> Path:
        files, problems = gathering.gather([Source(name="app.log", artifact=artifact)])
        assert problems == []
        return files[0].path

    copies = [read(old), read(used)]
    for copy in copies:
        os.utime(copy, (now().timestamp() - 31 * DAY,) * 2)
    assert read(used) == copies[1]
    read(new)
    assert [copy.exists() for copy in copies] == [False, True]
