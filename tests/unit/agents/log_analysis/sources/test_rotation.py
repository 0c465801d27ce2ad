from __future__ import annotations

import random

import pytest

from agents.log_analysis.sources.rotation import turn

ORDERED = [
    ["app.log.10.gz", "app.log.9.gz", "app.log.2", "app.log.1", "app.log"],
    ["app.log-20261127.gz", "app.log-20261128.zst", "app.log-20261129", "app.log"],
    ["app.log-2026112901", "app.log-2026112913", "app.log"],
    ["app.log-20261129-1764370000", "app.log-20261129-1764400000.gz", "app.log"],
    ["app.log.20261128", "app.log.20261129", "app.log"],
    ["app-2026-11-28.log.gz", "app-2026-11-29.log.gz", "app.log"],
    ["app.2026-11-28.0.log", "app.2026-11-28.1.log", "app.2026-11-29.0.log.gz", "app.log"],
    [
        "app.log.2026-11-28.1",
        "app.log.2026-11-28.2",
        "app.log.2026-11-28.10",
        "app.log.2026-11-29.1",
        "app.log",
    ],
    ["app.2.log", "app.1.log", "app.log"],
    ["app-2026-11-29T12-59-59.900.log.gz", "app-2026-11-29T13-45-01.123.log", "app.log"],
    ["0.log.20261128-134501.gz", "0.log.20261129-134501", "0.log"],
    ["app.log.old", "app.log"],
    ["a_access_log.2026-11-28.txt", "a_access_log.2026-11-29.txt", "a_access_log.txt"],
]


@pytest.mark.parametrize("names", ORDERED, ids=lambda names: names[0])
def test_sets_come_oldest_first_whatever_order_they_are_found_in(names: list[str]) -> None:
    assert len({turn("/logs/" + name)[0] for name in names}) == 1
    for seed in range(5):
        found = random.Random(seed).sample(names, len(names))
        assert sorted(found, key=lambda name: turn(name)[1]) == names


@pytest.mark.parametrize(
    "name", ["node-1.log", "node-2.log", "app.log", "http2", "v1.2.3.log", ".1", "build-99999999.log"]
)
def test_names_that_only_look_rotated_are_live_logs(name: str) -> None:
    assert turn("/logs/" + name)[1].live
