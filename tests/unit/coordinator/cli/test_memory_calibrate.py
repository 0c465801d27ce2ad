"""The histogram of a calibration: two distributions and the cut-offs between them."""

from __future__ import annotations

from coordinator.cli.memory_calibrate import histogram


def test_both_distributions_and_the_cut_offs_are_seen() -> None:
    told = {
        "related": {"count": 4, "bars": [0, 0, 1, 3]},
        "unrelated": {"count": 100, "bars": [60, 39, 1, 0]},
        "scale": {"low": 0.1, "middle_cut": 0.3, "high_cut": 0.8},
    }
    lines = histogram(told).splitlines()
    assert [line.split()[0] for line in lines] == [
        "relevance",
        "0.00-0.25",
        "0.25-0.50",
        "0.50-0.75",
        "0.75-1.00",
    ]
    assert lines[2].endswith("<- middle 0.30")
    assert lines[4].endswith("<- high 0.80")
    assert lines[4].count("#") == 30, "the longest bar is that of the greatest share"
    assert lines[3].split("|")[0].count("#") == 1, "one in a hundred is seen too"
