"""ops/env.example and kernel/settings.py say the same, both ways."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kernel.settings import Settings

LINES = (Path(__file__).parents[3] / "ops/env.example").read_text().splitlines()
LINE = re.compile(r"(#?)NIGHTDESK_([A-Z0-9_]+)=(.*)")


def test_every_setting_has_a_line_and_every_line_a_setting() -> None:
    named = [found[2].lower() for line in LINES if (found := LINE.fullmatch(line))]
    assert sorted(named) == sorted(Settings.model_fields)


def test_the_active_lines_are_the_defaults(monkeypatch: pytest.MonkeyPatch) -> None:
    defaults = Settings().model_dump()
    active = {found[2]: found[3] for line in LINES if (found := LINE.fullmatch(line)) and not found[1]}
    for name, value in active.items():
        monkeypatch.setenv(f"NIGHTDESK_{name}", value)
    assert Settings().model_dump() == defaults
    assert len(active) > 20


def test_a_setting_with_a_default_of_its_own_is_shown_active() -> None:
    commented = {found[2].lower() for line in LINES if (found := LINE.fullmatch(line)) and found[1]}
    with_default = {name for name, field in Settings.model_fields.items() if field.default is not None}
    assert commented & with_default == {"ops_dir"}  # its default is a path of this machine
