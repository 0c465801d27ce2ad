from __future__ import annotations

import pytest

from agents.log_analysis.judging.naming import column_namer, namer


@pytest.mark.parametrize(
    ("by", "text", "names"),
    [
        ("ip", "refused 10.0.0.9:80, then 10.0.0.10", ["10.0.0.9", "10.0.0.10"]),
        ("ip", "version 1.2.3.999 of fe80:0:0:1", ["fe80:0:0:1"]),
        ("user", "Failed password for invalid user ann from 10.0.0.1", ["ann"]),
        ("user", "Accepted publickey for deploy from 10.0.0.1", ["deploy"]),
        ("user", '{"user_id": "u-17", "msg": "paid"}', ["u-17"]),
        ("user", "auth failure; logname= uid=0 euid=0 user=root", ["root"]),
        ("user", "error: no more user authentication methods available [preauth]", []),
        ("user", "invalid user service from 10.0.0.1, user=login", ["service", "login"]),
        ("user", "the user agent is unknown", []),
        ("node", "lost contact with gpu-node-7 and node12", ["gpu-node-7", "node12"]),
        ("pod", "pod=shop-7d9f6c5b8d-x2x4k killed", ["shop-7d9f6c5b8d-x2x4k"]),
        ("pod", "evicting default/api-7d9f6c5b8d-q9z7m", ["api-7d9f6c5b8d-q9z7m"]),
        ("tenant", '{"tenant":"蓝天","msg":"x"}', ["蓝天"]),
        ("tenant", "level=info tenant=acme msg=x", ["acme"]),
        ("tenant", "subtenant=no", []),
    ],
)
def test_names_are_found_by_their_shape(by: str, text: str, names: list[str]) -> None:
    assert list(namer(by)(text)) == names


def test_a_column_of_names_is_found_and_a_column_of_times_or_ids_is_none() -> None:
    lines = [f"1117838{n:03} R0{n % 5}-M1 kernel INFO served x{n}" for n in range(100)]
    found = column_namer(lines)
    assert found is not None
    assert found[1] == 2
    assert found[0](lines[7]) == ["R02-M1"]
    assert column_namer([f"2026-11-30 kernel served id{n}a in {n} ms" for n in range(100)]) is None
    assert column_namer(lines[:10]) is None


def test_a_hostile_line_is_read_in_time() -> None:
    for text in ("pod/" * 20_000, "a-" * 40_000, "user" * 20_000, "1.1.1." * 20_000, "a:" * 30_000):
        for by in ("ip", "user", "node", "pod", "field"):
            assert len(namer(by)(text)) <= 8
