from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.finding import resolve
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError, Refused


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder.resolve()


def write(root: Path, *names: str) -> None:
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("line\n")


def found(root: Path, *paths: str) -> tuple[list[LogFile], list[NightdeskError]]:
    return resolve([Source(name=p, path=p) for p in paths], [root], {})


def test_a_file_swapped_for_a_link_after_resolving_is_refused_on_opening(root: Path, tmp_path: Path) -> None:
    write(root, "sub/a.log")
    write(tmp_path, "elsewhere/a.log")
    files, _ = found(root, str(root / "sub" / "a.log"))
    (root / "sub" / "a.log").unlink()
    (root / "sub").rmdir()
    (root / "sub").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(Refused):
        files[0].open()


def test_pipes_empty_and_unreadable_files_have_their_own_words(root: Path) -> None:
    os.mkfifo(root / "pipe")
    (root / "empty").write_bytes(b"")
    files, _ = found(root, str(root / "pipe"), str(root / "empty"))
    with pytest.raises(Refused, match="regular"):
        files[0].open()
    with pytest.raises(Correctable, match="empty"):
        files[1].open()
    write(root, "locked")
    locked, _ = found(root, str(root / "locked"))
    (root / "locked").chmod(0)
    if os.geteuid() != 0:
        with pytest.raises(Refused, match="cannot be read"):
            locked[0].open()
