"""The inventory: what actions may act on. Parameters get their enums from here, never from a log."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from agents.action_execution.argv import Filling, fill, placeholders
from kernel.contracts import Value
from kernel.errors import Fatal

#: Hosts a verify step may ask without being listed.
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})

_NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$"


class Inventory(Value):
    """Groups of named entries (`services: {checkout: {health: ..., control: [...]}}`), and hosts to ask."""

    allowed_hosts: list[str] = []
    groups: dict[str, dict[str, dict[str, Filling]]] = {}

    def names(self, group: str) -> list[str]:
        """Return the names in a group, sorted."""
        return sorted(self.groups.get(group, {}))

    def fields(self, group: str) -> set[str]:
        """Return the fields that every entry of a group has."""
        entries = list(self.groups.get(group, {}).values())
        return set.intersection(*(set(entry) for entry in entries)) if entries else set()

    @property
    def hosts(self) -> frozenset[str]:
        """Return the hosts a verify step may ask."""
        return LOOPBACK | frozenset(self.allowed_hosts)


def load_inventory(path: Path, builtins: Mapping[str, str]) -> Inventory:
    """Read an inventory; a missing file is an empty one. `{python}` and `{actions_dir}` are filled in."""
    raw = read_mapping(path) if path.exists() else {}
    hosts = raw.pop("allowed_hosts", None) or []
    try:
        read = Inventory(allowed_hosts=hosts, groups={key: value or {} for key, value in raw.items()})
    except ValidationError as error:
        raise bad_file(path, problems(error)) from error
    return Inventory(
        allowed_hosts=read.allowed_hosts,
        groups={group: _entries(path, group, entries, builtins) for group, entries in read.groups.items()},
    )


def _entries(
    path: Path, group: str, entries: dict[str, dict[str, Filling]], builtins: Mapping[str, str]
) -> dict[str, dict[str, Filling]]:
    filled: dict[str, dict[str, Filling]] = {}
    for name, fields in entries.items():
        if not re.fullmatch(_NAME, name):
            raise bad_file(path, f"{group}.{name}: a name has letters, digits, '.', '_' and '-'")
        unknown = placeholders(_texts(fields)) - set(builtins)
        if unknown:
            raise bad_file(path, f"{group}.{name}: unknown placeholder {{{min(unknown)}}}")
        filled[name] = {
            field: fill(value, builtins)
            if isinstance(value, str)
            else [fill(part, builtins) for part in value]
            for field, value in fields.items()
        }
    return filled


def _texts(fields: dict[str, Filling]) -> list[str]:
    return [t for value in fields.values() for t in ([value] if isinstance(value, str) else value)]


def read_mapping(path: Path) -> dict[str, Any]:
    """Return the mapping a YAML file holds (empty for an empty file); raise Fatal where it holds none."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise bad_file(path, f"it is not YAML: {' '.join(str(error).split())}") from error
    except OSError as error:
        raise bad_file(path, error.strerror or "it cannot be read") from error
    if content is None:
        return {}
    if not isinstance(content, dict):
        raise bad_file(path, "its top level is not a mapping")
    return content


def problems(error: ValidationError) -> str:
    """Return what pydantic found, one phrase per place."""
    return "; ".join(f"{'.'.join(map(str, e['loc'])) or 'entry'}: {e['msg']}" for e in error.errors())


def bad_file(path: Path, why: str) -> Fatal:
    """Return the error for a file of the operator's that cannot be used."""
    return Fatal(f"{path} cannot be used", why=why, next_step="Mend the file and start the worker again.")
