"""Roles that nobody plays, pure: the spans in which the monkey had struck every coordinator, or every reconciler."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

Span = tuple[float, float]
#: Without one of each, no run ends.
ROLES = (("coordinator", "coordinator-2"), ("maintenance", "maintenance-2"))
_DOWN = frozenset({"kill", "term", "zombie"})


def ready_times(logs: Path) -> dict[str, list[float]]:
    """Return when each program of a role said that it takes work, oldest first."""
    return {name: _ready(logs / f"{name}.log") for role in ROLES for name in role}


def _ready(log: Path) -> list[float]:
    if not log.exists():
        return []
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    told = [json.loads(line) for line in lines if '"worker_ready"' in line and line.startswith("{")]
    return [datetime.fromisoformat(line["timestamp"]).timestamp() for line in told]


def vacancies(deeds: Sequence[dict[str, Any]], ready: dict[str, list[float]], end: float) -> list[Span]:
    """Return the spans in which a role was vacant: all its programs struck, and none of them back."""
    found = []
    for role in ROLES:
        down = [_down(name, deeds, ready.get(name, []), end) for name in role]
        found += [
            (max(a[0], b[0]), min(a[1], b[1]))
            for a in down[0]
            for b in down[1]
            if max(a[0], b[0]) < min(a[1], b[1])
        ]
    return found


def _down(name: str, deeds: Sequence[dict[str, Any]], ready: Sequence[float], end: float) -> list[Span]:
    struck = [deed for deed in deeds if deed["program"] == name and deed["what"] in _DOWN]
    spans = []
    for deed in struck:
        woken = [d["at"] for d in deeds if d["what"] == "wake" and d["pid"] == deed["pid"]]
        back = [at for at in (*ready, *(woken if deed["what"] == "zombie" else [])) if at > deed["at"]]
        spans.append((deed["at"], min(back, default=end)))
    return spans
