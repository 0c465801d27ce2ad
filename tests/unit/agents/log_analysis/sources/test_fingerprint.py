from __future__ import annotations

import bz2
import gzip
import io
import lzma

import pytest
from backports import zstd
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.log_analysis.sources.fingerprint import holds, take

TEXT = b"".join(b"2026-11-29 row %d %d\n" % (n, n * n) for n in range(9_000))
PACKERS = [
    lambda raw: gzip.compress(raw, 1),
    bz2.compress,
    lambda raw: lzma.compress(raw, preset=0),
    zstd.compress,
]


def file(content: bytes) -> io.BytesIO:
    return io.BytesIO(content)


@pytest.mark.parametrize("size", [1, 64 * 1024, len(TEXT) - 5])
@pytest.mark.parametrize("pack", [bytes, *PACKERS])
def test_a_file_that_grew_or_was_packed_holds_its_beginning(size: int, pack) -> None:
    known = take(file(TEXT[:size]))
    assert holds(file(pack(TEXT[:size])), known)
    assert holds(file(pack(TEXT)), known)
    assert not holds(file(pack(TEXT[: size - 1])), known)
    assert not holds(file(pack(b"x" + TEXT)), known)


@pytest.mark.parametrize("pack", PACKERS)
def test_a_packed_file_is_known_as_it_is_and_unpacked(pack) -> None:
    packed = pack(TEXT)
    known = take(file(packed))
    assert len(TEXT) > 200_000
    assert holds(file(packed), known)
    assert holds(file(TEXT), known)
    assert not holds(file(pack(TEXT[1:])), known)
    assert not holds(file(TEXT[1:]), known)
    assert not holds(file(TEXT[:100]), known)
    assert not holds(file(packed[:-9] + b"x" + packed[-8:]), known)


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=400), st.binary(min_size=1, max_size=400))
def test_only_what_begins_with_the_same_bytes_holds_them(one: bytes, other: bytes) -> None:
    known = take(file(one))
    if not known.packed:
        assert holds(file(other), known) is (other.startswith(one))
        assert holds(file(gzip.compress(other)), known) is (other.startswith(one))
