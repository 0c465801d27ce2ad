"""What a program wrote, out of what wraps it: each line keeps the place of the line of the log that holds it."""

from __future__ import annotations

import json
import time

import pytest

from agents.log_analysis.judging.unfolding import unfolded

TRACE = "java.lang.IllegalStateException: closed\n\tat com.shop.Ledger.post(Ledger.java:40)"
ROWS = TRACE.split("\n")


@pytest.mark.parametrize(
    "fields",
    [{"stack": TRACE}, {"err": {"type": "Error", "stack": TRACE}}, {"error.stack_trace": TRACE, "n": [1, 2]}],
)
def test_a_text_of_several_lines_in_json_is_unfolded_at_its_one_line(fields: dict[str, object]) -> None:
    lines = ["plain", json.dumps({"msg": "charge failed", **fields})]
    assert unfolded(lines) == [(0, "plain"), (1, ROWS[0]), (1, ROWS[1])]


@pytest.mark.parametrize(
    "wrap",
    [
        lambda text: json.dumps({"log": f"{text}\n", "stream": "stderr", "time": "2026-11-29T10:00:00.1Z"}),
        lambda text: f"2026-11-29T10:00:00.123456789Z stderr F {text}",
        lambda text: f"Nov 29 10:00:00 web app[1]: {text}",
        lambda text: f"<11>Nov  9 10:00:00 web app[1]: {text.replace(chr(9), '#011')}",
    ],
)
def test_what_a_runtime_wraps_is_taken_out_line_by_line(wrap) -> None:
    assert unfolded([wrap(text) for text in ROWS]) == [(0, ROWS[0]), (1, ROWS[1])]


def test_what_is_no_json_stays_and_a_hostile_line_costs_no_time() -> None:
    assert unfolded(['{"stack": "cut', "  at x", ""]) == [(0, '{"stack": "cut'), (1, "  at x"), (2, "")]
    begun = time.process_time()
    unfolded(
        [
            "[" * 100_000,
            '{"a":' * 50_000,
            "Nov 29 10:00:00 " + "a" * 100_000,
            '{"a": "' + "\\n" * 50_000 + '"}',
        ]
    )
    assert time.process_time() - begun < 1
