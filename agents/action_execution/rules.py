"""What a catalogue entry must keep to, pure: typed parameters, known placeholders, no shell on any path."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import PurePath
from typing import Any
from urllib.parse import urlsplit

from jsonschema import Draft202012Validator
from jsonschema.exceptions import SchemaError

from agents.action_execution.action import Action
from agents.action_execution.argv import placeholders
from agents.action_execution.inventory import Inventory

#: The schema keyword that takes a parameter's enum from a group of the inventory.
FROM_INVENTORY = "x-inventory"

_SCALARS = frozenset({"string", "integer", "number", "boolean"})
_SHELLS = frozenset({"sh", "bash", "dash", "ash", "zsh", "ksh", "csh", "tcsh", "fish", "busybox"})
#: Programs whose purpose is to run another command line or program text.
_RUNNERS = frozenset({"env", "xargs", "eval", "awk", "gawk", "mawk", "nawk", "watch", "script", "parallel"})
#: Interpreters, which may run a file but no text from the command line.
_INTERPRETER = re.compile(r"(python|perl|ruby|node|php|lua|pypy)[\d.]*|\{python\}")
_TEXT_FLAGS = re.compile(r"-[A-Za-z]*[ceEr]|--eval|--execute|--command|--run|-")


def check_action(action: Action, inventory: Inventory, builtins: Iterable[str]) -> None:
    """Raise ValueError, naming the place, where an entry breaks a rule."""
    _check_schema(action, inventory)
    fixed = {*builtins, "key", *_inventory_names(action, inventory)}
    known = fixed | set(action.properties)
    for place, argv in action.commands.items():
        _known(place, argv, known)
        _known(f"{place}[0]", argv[:1], fixed - {"key"})
        _no_shell(place, argv, frozenset(action.properties))
    _known("target", [action.target], known - {"key"})
    if action.verify and action.verify.http:
        _known("verify.http", [action.verify.http], fixed - {"key"})
        if urlsplit(action.verify.http).scheme not in ("http", "https", ""):
            raise ValueError("verify.http: only http and https")
    _known("env", list(action.env.values()), set(builtins))
    if action.rollback:
        values = [v for v in action.rollback.parameters.values() if isinstance(v, str)]
        _known("rollback", values, set(action.properties))
    _always_there(action)


def check_inventory(inventory: Inventory) -> None:
    """Raise ValueError where an entry's list would run a shell or program text."""
    for group, entries in inventory.groups.items():
        for name, fields in entries.items():
            for field, value in fields.items():
                if isinstance(value, list):
                    _no_shell(f"{group}.{name}.{field}", value, frozenset())


def check_rollback(action: Action, known: dict[str, Action]) -> None:
    """Raise ValueError unless the action that undoes this one exists and takes those parameters."""
    if action.rollback is None:
        return
    other = known.get(action.rollback.action)
    if other is None:
        raise ValueError(f"rollback: there is no action {action.rollback.action!r}")
    if extra := set(action.rollback.parameters) - set(other.properties):
        raise ValueError(f"rollback: {other.name!r} has no parameter {min(extra)!r}")


def _check_schema(action: Action, inventory: Inventory) -> None:
    schema = action.parameters
    try:
        Draft202012Validator.check_schema(schema)
    except SchemaError as error:
        raise ValueError(f"parameters: {error.message}") from error
    if schema.get("type") != "object":
        raise ValueError("parameters: the type must be object")
    if extra := set(schema) - {"type", "properties", "required", "additionalProperties"}:
        raise ValueError(f"parameters: {min(extra)!r} is not supported")
    for name, sub in action.properties.items():
        if not re.fullmatch(r"[a-z_][a-z0-9_]*", name) or name in ("key", "python", "actions_dir"):
            raise ValueError(f"parameters.{name}: not a name for a parameter")
        _check_property(f"parameters.{name}", sub, inventory)


def _check_property(place: str, schema: dict[str, Any], inventory: Inventory) -> None:
    if group := schema.get(FROM_INVENTORY):
        if group not in inventory.groups:
            raise ValueError(f"{place}: the inventory has no group {group!r}")
        return
    kind = schema.get("type")
    if kind not in _SCALARS:
        raise ValueError(f"{place}: the type must be one of {', '.join(sorted(_SCALARS))}")
    if kind == "string" and "enum" not in schema and "maxLength" not in schema:
        raise ValueError(f"{place}: free text needs a maxLength")
    try:
        re.compile(schema.get("pattern", ""))
    except re.error as error:
        raise ValueError(f"{place}: bad pattern: {error}") from error


def _inventory_names(action: Action, inventory: Inventory) -> set[str]:
    asked = placeholders([p for argv in action.commands.values() for p in argv] + [action.target])
    asked |= placeholders([action.verify.http]) if action.verify else set()
    names: set[str] = set()
    for name, schema in action.properties.items():
        if group := schema.get(FROM_INVENTORY):
            # an empty group has no entry to compare with; its actions are not offered anyway
            wanted = {full for full in asked if full.startswith(f"{name}.")}
            named = {f"{name}.{field}" for field in inventory.fields(group)}
            names |= named if inventory.names(group) else wanted
    return names


def _known(place: str, templates: list[str], known: set[str]) -> None:
    if unknown := placeholders(templates) - known:
        raise ValueError(f"{place}: {{{min(unknown)}}} may not stand here")


def _always_there(action: Action) -> None:
    templates = [part for argv in action.commands.values() for part in argv] + [action.target]
    templates += [action.verify.http] if action.verify else []
    if action.rollback:
        templates += [v for v in action.rollback.parameters.values() if isinstance(v, str)]
    required = set(action.parameters.get("required", []))
    for name in {full.partition(".")[0] for full in placeholders(templates)} & set(action.properties):
        if name not in required and "default" not in action.properties[name]:
            raise ValueError(f"parameters.{name}: make it required or give it a default")


def _no_shell(place: str, argv: list[str], chosen: frozenset[str]) -> None:
    """Refuse shells and program text; `chosen` are the parameters, which may not name a program's file."""
    for position, part in enumerate(argv):
        program = PurePath(part).name
        if program in _SHELLS | _RUNNERS:
            raise ValueError(f"{place}: {program!r} runs command lines; name the program itself")
        if not _INTERPRETER.fullmatch(program):
            continue
        for after in argv[position + 1 :]:
            if _TEXT_FLAGS.fullmatch(after):
                raise ValueError(f"{place}: {after!r} makes {part!r} run text; put the program into a file")
            if placeholders([after]) & chosen:
                raise ValueError(f"{place}: a parameter may not choose the file that {part!r} runs")
            if not after.startswith("-"):
                break
