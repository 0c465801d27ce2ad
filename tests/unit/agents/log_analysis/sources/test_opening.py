from __future__ import annotations

import gzip
import io
import os
import tarfile
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from backports import zstd

from agents.log_analysis.sources.opening import open_body
from kernel.errors import Correctable


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"PK\x03\x04 rest", "a zip archive"),
        (b"7z\xbc\xaf\x27\x1c", "a 7z archive"),
        (b"\x04\x22\x4d\x18 rest", "lz4"),
        (b"\x28\xb5\x2f\xfd rest", "as zstd"),
    ],
)
def test_what_is_not_a_log_in_one_file_is_refused_clearly(tmp_path: Path, raw: bytes, words: str) -> None:
    with pytest.raises(Correctable, match=words):
        open_body(io.BytesIO(raw), "x", tmp_path, 1 << 20)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_a_tar_is_refused_also_inside_a_compressed_file(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("a.log"))
    with pytest.raises(Correctable, match="tar archive") as told:
        open_body(io.BytesIO(pack(out.getvalue())), "logs.tar", tmp_path, 1 << 20)
    assert "Unpack" in told.value.next_step


def test_past_the_line_limit_the_rest_is_counted(tmp_path: Path) -> None:
    made = open_body(io.BytesIO(b"0123456789\n" * 100), "x", tmp_path, 1 << 20, max_lines=70)
    assert len(list(made.index())) == made.lines == 70
    assert made.read(70, 80) == ["0123456789"]
    assert made.notes == ["reading stopped at the limit of 70 lines; 330 bytes were not read"]
    whole = open_body(io.BytesIO(b"0123456789\n" * 70), "x", tmp_path, 1 << 20, max_lines=70)
    assert len(list(whole.index())) == 70
    assert whole.notes == []


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf_16_is_read_with_a_mark_and_without(
    tmp_path: Path, encoding: str, pack: Callable[[bytes], bytes]
) -> None:
    texts = [f"2026-03-01 06:00:{n:02} ERROR 订单 {n} 失败" for n in range(60)]
    raw = pack("\n".join(texts).encode(encoding))
    made = open_body(io.BytesIO(raw), "x", tmp_path, 1 << 20)
    assert [text for _, text in made.index()] == texts
    made.close()


@pytest.mark.parametrize(
    "raw", [b"\0" * 600 + b"2026-03-01 ERROR x\n", b"a\0b\0 ok\n", b"a short one\0\n" * 50]
)
def test_a_log_with_empty_bytes_is_not_taken_for_utf_16(tmp_path: Path, raw: bytes) -> None:
    made = open_body(io.BytesIO(raw), "x", tmp_path, 1 << 20)
    assert made.size == len(raw)


@pytest.mark.parametrize("pack", [bytes, gzip.compress, zstd.compress])
def test_of_a_log_that_grew_only_the_first_bytes_are_read(
    tmp_path: Path, pack: Callable[[bytes], bytes]
) -> None:
    made = open_body(io.BytesIO(pack(b"0123456789\n" * 100)), "x", tmp_path, 1 << 20, size=110)
    assert [t for _, t in made.index()] == ["0123456789"] * 10
    assert made.notes == []
    made.close()


def test_past_the_byte_limit_the_rest_is_not_read_and_that_is_said(tmp_path: Path) -> None:
    made = open_body(io.BytesIO(b"0123456789\n" * 100), "x", tmp_path, 110)
    assert len(list(made.index())) == 10
    assert "only the first 110" in made.notes[0]


def test_utf16_is_read_by_its_mark(tmp_path: Path) -> None:
    made = open_body(io.BytesIO("INFO 启动\r\nERROR 磁盘\r\n".encode("utf-16")), "x", tmp_path, 1 << 20)
    assert [t for _, t in made.index()] == ["INFO 启动", "ERROR 磁盘"]
    made.close()


@pytest.mark.parametrize(
    "raw",
    [gzip.compress(os.urandom(4_000_000)), "INFO served\n".encode("utf-16") * 90_000],
    ids=["gz", "utf-16"],
)
def test_unrolling_ends_with_what_there_is_once_nobody_waits(tmp_path: Path, raw: bytes) -> None:
    stop = threading.Event()
    stop.set()
    made = open_body(io.BytesIO(raw), "x", tmp_path, 1 << 30, stop=stop)
    assert 0 < made.size <= 512 * 1024
    assert any("unrolling was stopped after" in note for note in made.notes)
    made.close()
