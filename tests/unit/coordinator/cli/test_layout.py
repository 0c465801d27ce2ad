"""The data folder: private files, a socket that fits, one lock."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from coordinator.cli import layout as layouts
from coordinator.cli.layout import Layout, held, read_addresses, write_private
from kernel.errors import Fatal, Refused


def test_a_short_folder_holds_the_socket_itself(tmp_path: Path) -> None:
    folder = Path("/tmp/x")
    assert Layout(folder).socket == folder / "supervisor.sock"


def test_a_long_folder_gets_a_short_private_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", "/tmp")
    one, two = Layout(tmp_path / ("é" * 60) / "a"), Layout(tmp_path / ("é" * 60) / "b")
    one.make()
    two.make()
    assert one.socket != two.socket
    assert one.socket.parent.stat().st_mode & 0o077 == 0
    with socket.socket(socket.AF_UNIX) as probe:
        probe.bind(str(one.socket) + "." + "1" * 8)  # supervisor adds its pid while it makes the socket
    for made in (one, two):
        for left in made.socket.parent.iterdir():
            left.unlink()
        made.socket.parent.rmdir()


def test_a_foreign_folder_at_the_sockets_place_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "t"))
    made = Layout(tmp_path / ("x" * 120))
    made.socket.parent.mkdir(parents=True)
    made.socket.parent.chmod(0o777)
    with pytest.raises(Fatal, match="cannot hold"):
        made.make()


def test_private_files_are_private_and_whole(tmp_path: Path) -> None:
    path = tmp_path / "secret"
    write_private(path, "a")
    write_private(path, "二")
    assert path.read_text(encoding="utf-8") == "二"
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]


def test_a_data_folder_that_is_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(Fatal, match="cannot be written") as error:
        Layout(tmp_path / "file" / "desk").make()
    assert "--data-dir" in error.value.next_step


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everywhere")
def test_a_read_only_data_folder_is_said(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(Fatal, match="cannot be written"):
        Layout(tmp_path).make()
    tmp_path.chmod(0o700)


def test_addresses_are_none_missing_or_said_to_be_broken(tmp_path: Path) -> None:
    made = Layout(tmp_path)
    assert read_addresses(made) is None
    made.addresses.write_text("{")
    with pytest.raises(Fatal, match="cannot be read"):
        read_addresses(made)


def test_the_lock_admits_one(tmp_path: Path) -> None:
    made = Layout(tmp_path)
    with held(made), pytest.raises(Refused, match="being started or stopped"), held(made):
        pass
    with held(made):
        assert layouts.read_addresses(made) is None
