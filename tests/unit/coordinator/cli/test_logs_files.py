"""CSV by RFC 4180 that no spreadsheet computes."""

from __future__ import annotations

import csv
import io

import pytest

from coordinator.cli.logs_files import rows_of, template_lines, write_csv


def test_csv_quotes_what_must_be_quoted_and_ends_rows_with_crlf(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    write_csv(("LineId", "EventTemplate"), [[1, 'say "hi", 错误'], [2, "a\nb"]])
    out = capfdbinary.readouterr().out
    assert out == 'LineId,EventTemplate\r\n1,"say ""hi"", 错误"\r\n2,a\\x0ab\r\n'.encode()
    assert list(csv.reader(io.StringIO(out.decode(), newline="")))[1] == ["1", 'say "hi", 错误']


def test_a_spreadsheet_computes_nothing_that_a_log_says(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    write_csv(("a",), [["=1+1"], ["@SUM(A1)"], ["+cmd|x"], ["-2+3"], ["-2.5"], [-2.5], ["a=1"], ["\t=1"]])
    out = capfdbinary.readouterr().out.decode()
    assert out.splitlines()[1:] == [
        "'=1+1",
        "'@SUM(A1)",
        "'+cmd|x",
        "'-2+3",
        "-2.5",
        "-2.5",
        "a=1",
        "\\x09=1",
    ]


def test_lines_are_numbered_from_one_and_rows_hold_the_named_fields() -> None:
    assert list(template_lines([("E1", "a"), ("E2", "b")])) == [(1, "E1", "a"), (2, "E2", "b")]
    assert list(rows_of([{"a": 1, "b": 2}, {"b": 3}], "b", "a")) == [[2, 1], [3, ""]]
