from __future__ import annotations

import os
from pathlib import Path

import pytest

from agents.log_analysis.sources.arranging import FILE_LIMIT
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


def test_one_file_keeps_the_name_it_was_given(root: Path) -> None:
    write(root, "a.log")
    files, problems = found(root, str(root / "a.log"))
    assert [f.name for f in files] == [str(root / "a.log")]
    assert problems == []


def test_rotated_sets_come_oldest_first(root: Path) -> None:
    write(
        root,
        "app.log",
        "app.log.1",
        "app.log.2.gz",
        "app.log.10.gz",
        "db.log-20240102",
        "db.log",
        "db.log-20240101.gz",
    )
    files, _ = found(root, str(root))
    assert [f.path.name for f in files] == [
        "app.log.10.gz",
        "app.log.2.gz",
        "app.log.1",
        "app.log",
        "db.log-20240101.gz",
        "db.log-20240102",
        "db.log",
    ]


def test_globs_and_folders_find_the_same(root: Path) -> None:
    write(root, "x/a.log", "x/b.log", "x/.hidden")
    by_folder, _ = found(root, str(root / "x"))
    by_glob, _ = found(root, str(root / "**" / "*.log"))
    assert [f.path for f in by_folder] == [f.path for f in by_glob]
    assert len(by_glob) == 2


def test_a_file_named_twice_is_read_once(root: Path) -> None:
    write(root, "a.log")
    files, _ = found(root, str(root / "a.log"), str(root))
    assert len(files) == 1


@pytest.mark.parametrize(
    "path", ["/etc/passwd", "/etc/../etc/passwd", "/proc/self/environ", "/nowhere/at/all"]
)
def test_outside_the_roots_is_refused_whether_it_exists_or_not(root: Path, path: str) -> None:
    _, problems = found(root, path)
    assert isinstance(problems[0], Refused)
    assert "NIGHTDESK_LOG_ROOTS" in problems[0].next_step


def test_links_do_not_lead_out(root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    (root / "link.log").symlink_to(tmp_path / "secret")
    _, problems = found(root, str(root / "link.log"))
    assert isinstance(problems[0], Refused)
    write(root, "real.log")
    files, problems = found(root, str(root))
    assert [f.path.name for f in files] == ["real.log"]


def test_a_sibling_folder_with_the_same_beginning_is_outside(root: Path, tmp_path: Path) -> None:
    write(tmp_path, "logs-private/a.log")
    _, problems = found(root, str(tmp_path / "logs-private" / "a.log"))
    assert isinstance(problems[0], Refused)


def test_an_unknown_path_says_what_to_check(root: Path) -> None:
    _, problems = found(root, str(root / "nope.log"))
    assert isinstance(problems[0], Correctable)
    assert "nope.log" in str(problems[0])


def test_an_empty_glob_and_a_nul_are_told(root: Path) -> None:
    _, problems = found(root, str(root / "*.log"), "a\0b")
    assert len(problems) == 2


def test_a_gone_attachment_is_told() -> None:
    _, problems = resolve([Source(name="a.log", artifact="f" * 64)], [], {})
    assert "gone" in problems[0].what


def test_of_too_many_files_the_newest_are_kept_and_that_is_said(root: Path) -> None:
    for number in range(FILE_LIMIT + 7):
        write(root, f"a{number:03}.log")
        os.utime(root / f"a{number:03}.log", (10_000 - number, 10_000 - number))
    files, problems = found(root, str(root))
    assert [f.path.name for f in files] == [f"a{n:03}.log" for n in range(FILE_LIMIT)]
    assert f"the newest {FILE_LIMIT} of {FILE_LIMIT + 7} files" in str(problems[0])


def test_two_attachments_of_one_name_are_told_apart(root: Path) -> None:
    write(root, "a", "b")
    sources = [Source(name="app.log", artifact="a"), Source(name="app.log", artifact="b")]
    files, _ = resolve(sources, [], {"a": root / "a", "b": root / "b"})
    assert [f.name for f in files] == ["app.log", "app.log (2)"]


@pytest.mark.parametrize(
    "given", ["x" * 300, "/tmp/" + "a/" * 3000, "/tmp/" + "é" * 200 + "/*.log", "~nobody-here/a"]
)
def test_a_name_that_no_system_takes_is_told_and_breaks_nothing(root: Path, given: str) -> None:
    write(root, "a.log")
    path = given if "/" in given else None
    files, problems = resolve(
        [Source(name=given, path=path), Source(name="a", path=str(root / "a.log"))], [root], {}
    )
    assert [f.name for f in files] == ["a"]
    assert len(str(problems[0])) < 500


def test_links_that_lead_in_circles_are_not_followed_by_a_pattern(root: Path) -> None:
    write(root, "a/b/x.log", "a/.hidden/y.log", "a/b/.z.log")
    for number in range(3):
        (root / "a" / f"again-{number}").symlink_to(".")
        (root / "a" / "b" / f"up-{number}").symlink_to("..")
    files, _ = found(root, str(root / "**/*.log"))
    assert [f.path.name for f in files] == ["x.log"]
    assert found(root, str(root / "**/*.none"))[0] == []  # it came to no end before


def test_a_pipe_beside_a_container_log_keeps_nobody_waiting(root: Path) -> None:
    name = "c" * 64
    write(root, f"{name}/{name}-json.log")
    os.mkfifo(root / name / "config.v2.json")
    files, _ = found(root, str(root / "*/*-json.log"))
    assert len(files) == 1
