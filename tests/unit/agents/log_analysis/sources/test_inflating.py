from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pytest
from backports import zstd

from agents.log_analysis.sources.inflating import BOMB_BYTES, Inflation, compression

TEXT = b"".join(b"2024-01-01 00:00:%02d INFO line %d\n" % (n % 60, n) for n in range(20_000))


def inflate(raw: bytes, max_bytes: int = 1 << 30) -> tuple[bytes, list[str]]:
    inflation = Inflation(compression(raw), max_bytes)
    return b"".join(inflation.chunks(io.BytesIO(raw))), inflation.notes


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_whole_files(pack) -> None:
    assert inflate(pack(TEXT)) == (TEXT, [])


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress, zstd.compress])
def test_several_members_one_after_the_other(pack) -> None:
    assert inflate(pack(TEXT) + pack(b"more\n")) == (TEXT + b"more\n", [])


def test_a_cut_file_yields_what_decodes_and_says_so() -> None:
    out, notes = inflate(gzip.compress(TEXT)[:-2000])
    assert out
    assert TEXT.startswith(out)
    assert "cut" in notes[0]


def test_a_broken_file_yields_what_decodes_and_says_so() -> None:
    raw = bytearray(gzip.compress(TEXT))
    raw[len(raw) // 2] ^= 0xFF
    out, notes = inflate(bytes(raw))
    assert len(out) > 0
    assert len(notes) == 1


def test_bytes_after_the_archive_are_told() -> None:
    out, notes = inflate(gzip.compress(TEXT) + b"garbage")
    assert out == TEXT
    assert "ignored" in notes[0]


def test_the_byte_limit_holds() -> None:
    out, notes = inflate(gzip.compress(TEXT), max_bytes=100_000)
    assert len(out) == 100_000
    assert "limit" in notes[0]


def test_a_bomb_is_stopped_by_its_ratio() -> None:
    raw = gzip.compress(b"\0" * (BOMB_BYTES * 3))
    inflation = Inflation("gzip", 1 << 40)
    written = sum(len(c) for c in inflation.chunks(io.BytesIO(raw)))
    assert written < BOMB_BYTES * 2
    assert "bomb" in inflation.notes[0]


def test_a_zstd_frame_to_skip_is_skipped() -> None:
    skipped = b"\x50\x2a\x4d\x18" + (4).to_bytes(4, "little") + b"abcd"
    assert inflate(skipped + zstd.compress(TEXT)) == (TEXT, [])


def test_a_zstd_file_that_is_cut_or_a_bomb_is_treated_as_gzip_is() -> None:
    out, notes = inflate(zstd.compress(TEXT)[:-200])
    assert TEXT.startswith(out)
    assert "cut" in notes[0]
    inflation = Inflation("zstd", 1 << 40)
    raw = zstd.compress(b"\0" * (BOMB_BYTES * 3))
    assert sum(len(c) for c in inflation.chunks(io.BytesIO(raw))) < BOMB_BYTES * 2
    assert "bomb" in inflation.notes[0]


def test_a_frame_that_asks_for_too_much_memory_is_refused() -> None:
    packer = zstd.ZstdCompressor(options={zstd.CompressionParameter.window_log: 30})
    out, notes = inflate(packer.compress(TEXT) + packer.flush())
    assert out == b""
    assert "128 MiB" in notes[0]
    # the header of an xz block with a dictionary of a gigabyte
    filters = [
        {
            "id": lzma.FILTER_LZMA2,
            "dict_size": 1 << 30,
            "mode": lzma.MODE_FAST,
            "mf": lzma.MF_HC3,
            "nice_len": 8,
        }
    ]
    try:
        raw = lzma.compress(b"x" * 100, filters=filters)
    except MemoryError:
        pytest.skip("this machine has no memory for the encoder")
    assert "128 MiB" in inflate(raw)[1][0]
