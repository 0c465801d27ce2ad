"""What --log names: in place under a root, attached elsewhere, and every bad path said before anything is sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from coordinator.cli.attaching import attach, name_sources
from kernel.artifacts import ArtifactStore
from kernel.errors import Correctable, Exhausted, NightdeskError

MAX = 1000


def name(given: list[str], *roots: Path) -> list[tuple[str, bool]]:
    return [(n.path.name, n.in_place) for n in name_sources(given, list(roots), max_bytes=MAX)]


def file(path: Path, text: str = "line\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_under_a_root_is_read_in_place_and_another_attached(tmp_path: Path) -> None:
    root = tmp_path / "root"
    inside, outside = file(root / "a.log"), file(tmp_path / "b.log")
    assert name([str(inside), str(outside)], root) == [("a.log", True), ("b.log", False)]


def test_a_link_out_of_a_root_is_attached(tmp_path: Path) -> None:
    target = file(tmp_path / "secret.log")
    (tmp_path / "root").mkdir()
    link = tmp_path / "root/link.log"
    link.symlink_to(target)
    assert name([str(link)], tmp_path / "root") == [("secret.log", False)]


def test_quoted_globs_are_expanded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for text in ("a.log", "b.log.1", "日誌.log"):
        file(tmp_path / text)
    monkeypatch.chdir(tmp_path)
    assert [n for n, _ in name(["*.log*"], tmp_path)] == ["a.log", "b.log.1", "日誌.log"]


def test_a_folder_is_one_source_in_place_and_its_files_elsewhere(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    file(folder / "a.log")
    file(folder / "deep/b.log")
    assert name([str(folder)], tmp_path) == [("logs", True)]
    assert name([str(folder)]) == [("a.log", False), ("b.log", False)]


def test_the_same_file_twice_is_one(tmp_path: Path) -> None:
    path = str(file(tmp_path / "a.log"))
    assert len(name([path, path], tmp_path)) == 1


@pytest.mark.parametrize("case", ["missing", "glob", "empty", "pipe", "folder", "dangling"])
def test_each_bad_path_is_the_callers_to_mend(tmp_path: Path, case: str) -> None:
    path = tmp_path / "x"
    if case == "empty":
        path.touch()
    elif case == "pipe":
        os.mkfifo(path)
    elif case == "folder":
        path.mkdir()
    elif case == "dangling":
        path.symlink_to(tmp_path / "gone")
    elif case == "glob":
        path = tmp_path / "*.nothing"
    with pytest.raises(Correctable) as error:
        name([str(path)])
    assert error.value.what
    assert error.value.next_step


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_said(tmp_path: Path) -> None:
    path = file(tmp_path / "a.log")
    path.chmod(0)
    with pytest.raises(Correctable, match="cannot be read"):
        name([str(path)])


def test_a_file_over_the_cap_is_refused_unless_it_is_read_in_place(tmp_path: Path) -> None:
    path = file(tmp_path / "a.log", "x" * (MAX + 1))
    with pytest.raises(Exhausted, match="too large") as error:
        name([str(path)])
    assert "NIGHTDESK_LOG_ROOTS" in error.value.next_step
    assert name([str(path)], tmp_path) == [("a.log", True)]


def test_too_many_files_are_refused(tmp_path: Path) -> None:
    for number in range(201):
        file(tmp_path / f"{number}.log")
    with pytest.raises(NightdeskError, match="201 files"):
        name([str(tmp_path / "*.log")], tmp_path)


def test_attached_files_keep_a_name_that_tells_them_apart(tmp_path: Path) -> None:
    one, two, three = (file(tmp_path / part, part) for part in ("a/x.log", "b/x.log", "c/y.log"))
    store = ArtifactStore(f"file://{tmp_path / 'store'}", max_bytes=MAX)
    named = name_sources([str(one), str(two), str(three)], [tmp_path / "c"], max_bytes=MAX)
    sources = attach(named, store)
    assert sources[2] == str(three)
    assert [s["name"] for s in sources[:2] if isinstance(s, dict)] == ["a/x.log", "b/x.log"]
    first = sources[0]
    assert isinstance(first, dict)
    with store.open(first["artifact"]) as stored:
        assert stored.read() == b"a/x.log"
