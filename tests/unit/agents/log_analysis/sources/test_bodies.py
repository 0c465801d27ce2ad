from __future__ import annotations

import io

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agents.log_analysis.sources.bodies import LINE_HEAD, LINE_TAIL, Body


def body(raw: bytes) -> Body:
    made = Body(io.BytesIO(raw), len(raw))
    list(made.index())
    return made


def test_only_lf_ends_a_line() -> None:
    made = body("a\r\nb\u2028c\u0085d\x0be\rf\n\ng".encode())
    assert made.lines == 4
    assert made.read(1, 9) == ["a", "b\\u2028c\\x85d\\ve\\rf", "", "g"]


def test_lines_are_found_by_number() -> None:
    made = body(b"".join(b"line %d\n" % n for n in range(1, 1001)))
    assert made.lines == 1000
    assert [made.read(n, n) for n in (1, 64, 65, 128, 129, 1000)] == [
        [f"line {n}"] for n in (1, 64, 65, 128, 129, 1000)
    ]
    assert made.read(999, 2000) == ["line 999", "line 1000"]
    assert made.read(0, 0) == made.read(1001, 1001) == []


def test_a_huge_line_is_cut_and_its_neighbours_are_not() -> None:
    made = body(b"before\n" + b"x" * 5_000_000 + b"END\nafter\n")
    assert made.lines == 3
    assert made.cut_lines == 1
    assert made.read(1, 1) == ["before"]
    assert made.read(3, 3) == ["after"]
    text = made.read(2, 2)[0]
    assert len(text) < LINE_HEAD + LINE_TAIL + 100
    assert text.endswith("END")
    assert "bytes cut" in text


def test_a_hole_of_nuls_is_skipped_without_losing_the_line() -> None:
    made = body(b"\0" * 300_000 + b"2024 first\nsecond\n")
    assert made.read(1, 2) == ["2024 first", "second"]
    assert made.nul_bytes == 300_000


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.binary(max_size=40).map(lambda b: b.replace(b"\n", b"").replace(b"\0", b"")), max_size=200)
)
def test_reading_by_number_equals_reading_in_order(rows: list[bytes]) -> None:
    raw = b"\n".join(rows)
    made = Body(io.BytesIO(raw), len(raw))
    in_order = dict(made.index())
    assert len(in_order) == made.lines == len(raw.split(b"\n")) - (raw.endswith(b"\n") or not raw)
    assert dict(made.texts()) == {n: made.read(n, n)[0] for n in in_order}
