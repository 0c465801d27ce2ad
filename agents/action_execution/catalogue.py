"""The catalogue: every action in the operator's folder, read, checked and tried with its examples."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from agents.action_execution.action import Action
from agents.action_execution.argv import fill, placeholders
from agents.action_execution.inventory import (
    Inventory,
    bad_file,
    load_inventory,
    problems,
    read_mapping,
)
from agents.action_execution.policy import POLICY_FILE
from agents.action_execution.resolution import Resolver
from agents.action_execution.rules import FROM_INVENTORY, check_action, check_inventory, check_rollback
from kernel.errors import Correctable, Fatal

INVENTORY_FILE = "inventory.yaml"

#: Where executables are looked for: never the caller's PATH, which may be anyone's.
SAFE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: In an accepted example this stands for any name of the inventory.
ANY_NAME = "*"


@dataclass(frozen=True, kw_only=True)
class Catalogue:
    """The actions a worker offers, and those it cannot offer here, each with the reason."""

    actions: dict[str, Action]
    unavailable: dict[str, str]
    resolver: Resolver


def load_catalogue(folder: Path) -> Catalogue:
    """Read a catalogue folder; raise Fatal with file and reason where anything in it is wrong.

    An action whose program is not installed, or whose inventory group is empty, is no error: it is listed as
    unavailable.
    """
    if not folder.is_dir():
        raise Fatal(
            f"there is no action catalogue at {folder}", next_step="Set NIGHTDESK_ACTIONS_DIR to its folder."
        )
    builtins = {"python": sys.executable, "actions_dir": str(folder)}
    inventory = load_inventory(folder / INVENTORY_FILE, builtins)
    try:
        check_inventory(inventory)
    except ValueError as error:
        raise bad_file(folder / INVENTORY_FILE, str(error)) from error
    found = _collect(folder)
    known = {name: action for name, (_, action) in found.items()}
    for path, action in found.values():
        try:
            check_action(action, inventory, builtins)
            check_rollback(action, known)
        except ValueError as error:
            raise bad_file(path, f"{action.name}: {error}") from error
    return _offer(found, inventory, builtins)


def _collect(folder: Path) -> dict[str, tuple[Path, Action]]:
    found: dict[str, tuple[Path, Action]] = {}
    for path, action in _read_all(folder):
        if action.name in found:
            raise bad_file(path, f"{action.name}: {found[action.name][0].name} has an action of that name")
        found[action.name] = (path, action)
    return found


def _read_all(folder: Path) -> Iterator[tuple[Path, Action]]:
    for path in sorted(folder.glob("*.yaml")):
        if path.name in (INVENTORY_FILE, POLICY_FILE):
            continue
        content = read_mapping(path)
        entries = content.get("actions")
        if set(content) != {"actions"} or not isinstance(entries, list):
            raise bad_file(path, "it must hold one list named 'actions' and nothing else")
        for position, entry in enumerate(entries, start=1):
            name = entry.get("name", "") if isinstance(entry, dict) else ""
            try:
                yield path, Action.model_validate(entry)
            except ValidationError as error:
                raise bad_file(path, f"action {position} {name!r}: {problems(error)}") from error


def _offer(
    found: dict[str, tuple[Path, Action]], inventory: Inventory, builtins: dict[str, str]
) -> Catalogue:
    programs: dict[str, str] = {}
    unavailable: dict[str, str] = {}
    for name, (_, action) in found.items():
        if action.risk == "forbidden":
            unavailable[name] = "the catalogue forbids it"
        elif empty := _empty_groups(action, inventory):
            unavailable[name] = f"the inventory names no {empty[0]}"
        else:
            wanted = _programs(action, inventory, builtins)
            located = {program: _locate(program) for program in wanted}
            programs |= {program: path for program, path in located.items() if path}
            if missing := [program for program, path in located.items() if not path]:
                unavailable[name] = f"{missing[0]!r} is not installed here"
    offered = {name: action for name, (_, action) in found.items() if name not in unavailable}
    resolver = Resolver(inventory=inventory, builtins=builtins, programs=programs)
    for name, action in offered.items():
        _try_examples(found[name][0], action, resolver)
    return Catalogue(actions=offered, unavailable=unavailable, resolver=resolver)


def _empty_groups(action: Action, inventory: Inventory) -> list[str]:
    groups = [schema[FROM_INVENTORY] for schema in action.properties.values() if FROM_INVENTORY in schema]
    return [group for group in groups if not inventory.names(group)]


def _programs(action: Action, inventory: Inventory, builtins: dict[str, str]) -> set[str]:
    wanted: set[str] = set()
    for argv in action.commands.values():
        asked = placeholders(argv[:1]) - set(builtins)
        if not asked:
            wanted.add(fill(argv[0], builtins))
        for full in asked:
            parameter, _, field = full.partition(".")
            for entry in inventory.groups[action.properties[parameter][FROM_INVENTORY]].values():
                value = entry[field]
                wanted.add(value if isinstance(value, str) else (value or [""])[0])
    return wanted


def _locate(program: str) -> str | None:
    return shutil.which(program, path=SAFE_PATH) if program else None


def _try_examples(path: Path, action: Action, resolver: Resolver) -> None:
    for example in action.examples.accept:
        try:
            resolver.resolve(action, _with_names(action, example, resolver.inventory))
        except Correctable as error:
            raise bad_file(path, f"{action.name}: the example {example} must be accepted: {error}") from error
    for example in action.examples.refuse:
        try:
            resolver.resolve(action, _with_names(action, example, resolver.inventory))
        except Correctable:
            continue
        raise bad_file(path, f"{action.name}: the example {example} must be refused and is not")


def _with_names(action: Action, example: dict[str, Any], inventory: Inventory) -> dict[str, Any]:
    return {
        name: inventory.names(action.properties[name][FROM_INVENTORY])[0]
        if value == ANY_NAME and FROM_INVENTORY in action.properties.get(name, {})
        else value
        for name, value in example.items()
    }
