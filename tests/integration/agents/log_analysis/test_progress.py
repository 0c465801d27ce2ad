"""A tool that reads a log tells how far it is: which file, how many bytes of how many, and that all are read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from agents.log_analysis.scanning import progress

pytestmark = pytest.mark.integration

LINES = "".join(f"2026-11-29T10:00:{n % 60:02} INFO checkout served request {n}\n" for n in range(5000))


async def told(desk: Any, *paths: Any) -> list[tuple[str, int, int]]:
    heard: list[tuple[str, int, int]] = []
    ctx = replace(desk.ctx(paths), progress=lambda *word: heard.append(word))
    await desk.call(ctx, "overview")
    return heard


async def test_a_log_is_told_of_by_bytes_until_all_are_read(
    desk: Any, logs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PACE", 0.0)
    path = logs("日志.log", LINES)
    heard = await told(desk, path)
    size = len(LINES.encode())
    done = [word[1] for word in heard]
    assert {(name, total) for name, _, total in heard} == {(str(path), size)}
    assert done == sorted(done)
    assert done[-1] == size
    assert 0 < done[0] < size
    assert await told(desk, path) == [(str(path), size, size)]  # it is not read again


async def test_of_many_files_the_one_that_is_read_is_named(
    desk: Any, logs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_PACE", 0.0)
    paths = [logs(f"{name}.log", LINES) for name in ("a", "b")]
    heard = await told(desk, *paths)
    named = {name for name, _, _ in heard[:-1]}
    assert named == {f"{path} (one of 2 files)" for path in paths}
    assert heard[-1] == ("2 files", 2 * len(LINES), 2 * len(LINES))
