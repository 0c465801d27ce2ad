import errno
import io
import os
import stat
from pathlib import Path
from typing import Any

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from kernel.artifacts import ArtifactStore
from kernel.errors import Exhausted, Fatal


class FullDisk(LocalFileSystem):
    """A file system whose disk is full."""

    protocol = "fulldisk"

    def _open(self, path: str, mode: str = "rb", **fields: Any) -> Any:
        if "w" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super()._open(path, mode, **fields)


fsspec.register_implementation("fulldisk", FullDisk, clobber=True)


def store(folder: Path, size: int = 100) -> ArtifactStore:
    return ArtifactStore(f"file://{folder}", max_bytes=size)


def test_content_names_itself_and_the_same_twice_is_one(tmp_path: Path) -> None:
    kept = store(tmp_path)
    first, second = kept.put_bytes("错误".encode()), kept.put_bytes("错误".encode())
    assert first == second
    with kept.open(first) as file:
        assert file.read().decode() == "错误"
    assert [p.name for p in tmp_path.iterdir()] == [first]


def test_past_the_cap_nothing_is_left(tmp_path: Path) -> None:
    with pytest.raises(Exhausted, match="'big.log' is larger than 100 bytes"):
        store(tmp_path).put(io.BytesIO(b"x" * 101), name="big.log")
    assert list(tmp_path.iterdir()) == []


def test_what_is_kept_on_this_machine_is_its_owner_s_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        kept = store(tmp_path / "deep" / "artifacts")
        kept.put_bytes(b"raw")
        kept.note("pins:run", b"[]")
    finally:
        os.umask(before)
    root = tmp_path / "deep" / "artifacts"
    modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in (root, *root.rglob("*"))}
    assert modes == {(True, 0o700), (False, 0o600)}
    assert len([path for path in root.rglob("*") if path.is_file()]) == 2


def test_a_folder_that_others_use_keeps_its_rights(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store(tmp_path).put_bytes(b"raw")
    assert stat.S_IMODE(tmp_path.stat().st_mode) == 0o755


def test_a_full_disk_is_said_with_the_next_step(tmp_path: Path) -> None:
    full = ArtifactStore(f"fulldisk://{tmp_path}", max_bytes=100)
    with pytest.raises(Exhausted, match="the disk is full. Free space"):
        full.put(io.BytesIO(b"x"), name="a.log")


@pytest.mark.parametrize("wrong", ["../../etc/passwd", "", "g" * 64, "A" * 64])
def test_no_text_becomes_a_path(tmp_path: Path, wrong: str) -> None:
    with pytest.raises(Fatal, match="is not an artifact id"), store(tmp_path).open(wrong):
        pass


def test_an_unknown_id_says_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match="does not exist. Attach it again"), store(tmp_path).open("0" * 64):
        pass


@pytest.mark.parametrize("url", ["file://{folder}", "memory://notes-{folder}"])
def test_of_two_notes_under_one_key_the_first_stands(tmp_path: Path, url: str) -> None:
    kept = ArtifactStore(url.format(folder=tmp_path), max_bytes=100)
    other = ArtifactStore(url.format(folder=tmp_path), max_bytes=100)
    assert kept.noted("run-1\n../../错误") is None
    assert kept.note("run-1\n../../错误", b"first") == b"first"
    assert other.note("run-1\n../../错误", b"second") == b"first"
    assert other.noted("run-1\n../../错误") == b"first"
    assert kept.note("run-2", b"second") == b"second"


def test_a_note_on_a_full_disk_says_so_and_leaves_nothing(tmp_path: Path) -> None:
    with pytest.raises(Exhausted, match="could not be stored"):
        ArtifactStore(f"fulldisk://{tmp_path}", max_bytes=100).note("key", b"content")
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == []
