"""Catalogue folders for the action agent's tests."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[..., Path]

ECHO = {
    "name": "echo_text",
    "description": "Print the given text, for tests.",
    "parameters": {
        "type": "object",
        "properties": {"text": {"type": "string", "maxLength": 4000}},
        "required": ["text"],
    },
    "argv": ["{python}", "-I", "{actions_dir}/echo.py", "--", "{text}"],
    "effect": "read",
    "risk": "read",
    "examples": {"accept": [{"text": "a"}]},
}


@pytest.fixture
def echo() -> dict[str, Any]:
    """Return a catalogue entry with one free text."""
    return json.loads(json.dumps(ECHO))  # type: ignore[no-any-return]  # a deep copy of a dict


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return a function that writes a catalogue folder."""

    def _write(*actions: dict[str, Any], inventory: Any = None, policy: Any = None) -> Path:
        folder = tmp_path / "行动 actions"
        folder.mkdir(exist_ok=True)
        (folder / "tested.yaml").write_text(json.dumps({"actions": actions}), encoding="utf-8")
        (folder / "echo.py").write_text("import json, sys\nprint(json.dumps(sys.argv[1:]))\n")
        if inventory is not None:
            (folder / "inventory.yaml").write_text(json.dumps(inventory), encoding="utf-8")
        if policy is not None:
            (folder / "policy.yaml").write_text(json.dumps(policy), encoding="utf-8")
        return folder

    return _write
