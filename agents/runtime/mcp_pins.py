"""Pins: what each tool of an MCP server said of itself when it was first seen, by hash, in one file."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

from kernel.errors import Fatal


class Pins:
    """The file of pins of a data folder, shared by its workers: `{"server": {"tool": "sha256"}}`.

    A description is text that a model obeys, so a server that changes one later is not believed: the tool
    is withheld until a person has looked and removed its pin from the file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def changed(self, server: str, seen: dict[str, str]) -> set[str]:
        """Return the tools that differ from their pin; pin those seen for the first time."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self.path.open("a+", encoding="utf-8") as file:
                fcntl.flock(file, fcntl.LOCK_EX)  # other workers pin in the same file
                file.seek(0)
                pins = _read(file.read())
                known = pins.setdefault(server, {})
                new = {name: mark for name, mark in seen.items() if name not in known}
                if new:
                    known.update(new)
                    text = json.dumps(pins, indent=1, sort_keys=True)
                    file.seek(0)
                    file.truncate()
                    file.write(text)
                    file.flush()
        except (OSError, ValueError) as error:
            raise Fatal(
                f"the pins of MCP tools in {self.path} cannot be kept",
                why=str(error),
                next_step="Mend the file, or remove it to see all tools as new.",
            ) from error
        return {name for name, mark in seen.items() if known[name] != mark}


def _read(text: str) -> dict[str, dict[str, str]]:
    pins = json.loads(text) if text.strip() else {}
    if not isinstance(pins, dict) or not all(isinstance(known, dict) for known in pins.values()):
        raise ValueError("it does not hold an object of objects")
    return pins
