"""Resolution, pure: from an action and parameters to the exact argument vectors, target and way back."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from jsonschema import Draft202012Validator

from agents.action_execution.action import Action
from agents.action_execution.argv import Filling, fill, fill_argv, plain
from agents.action_execution.inventory import Inventory
from agents.action_execution.rules import FROM_INVENTORY
from kernel.contracts import Value
from kernel.errors import Correctable

#: All arguments of a use together: with the kept output they fit a result that is shown whole (16 KiB).
ARGV_MAX_BYTES = 8 * 1024


class Resolved(Value):
    """What one use of an action comes to; every argv begins with an absolute path."""

    argv: list[str]
    parameters: dict[str, Any]
    target: str = ""
    undo: str = ""
    dry_run: list[str] = []
    verify_argv: list[str] = []
    verify_url: str = ""
    probe: list[str] = []
    env: dict[str, str] = {}


@dataclass(frozen=True, kw_only=True)
class Resolver:
    """What resolving needs: the inventory, the built-in placeholders, and where the programs are."""

    inventory: Inventory
    builtins: dict[str, str]
    programs: dict[str, str]

    def schema(self, action: Action) -> dict[str, Any]:
        """Return the JSON schema of an action's parameters as a caller sees it: enums filled, closed."""
        properties = {}
        for name, schema in action.properties.items():
            group = schema.get(FROM_INVENTORY)
            kept = {key: value for key, value in schema.items() if key != FROM_INVENTORY}
            names = {"type": "string", "enum": self.inventory.names(group)} if group else {}
            properties[name] = kept | names
        return {
            "type": "object",
            "properties": properties,
            "required": list(action.parameters.get("required", [])),
            "additionalProperties": False,
        }

    def resolve(self, action: Action, parameters: dict[str, Any], *, key: str = "none") -> Resolved:
        """Return what a use comes to; raise Correctable where a parameter may not be what it is."""
        schema = self.schema(action)
        chosen = _with_defaults(schema, parameters)
        _check(action.name, schema, chosen)
        texts = {name: plain(name, value, schema["properties"][name]) for name, value in chosen.items()}
        values: dict[str, Filling] = {**self.builtins, "key": key, **texts, **self._fields(action, texts)}
        verify, probe = action.verify, action.probe
        return Resolved(
            argv=self._argv(action.argv, values),
            parameters=chosen,
            target=fill(action.target, values),
            undo=_undo(action, texts),
            dry_run=self._argv(action.dry_run, values),
            verify_argv=self._argv(verify.argv, values) if verify else [],
            verify_url=fill(verify.http, values) if verify else "",
            probe=self._argv(probe.argv, values) if probe else [],
            env={name: fill(text, self.builtins) for name, text in action.env.items()},
        )

    def _fields(self, action: Action, texts: dict[str, str]) -> dict[str, Filling]:
        return {
            f"{name}.{field}": value
            for name, schema in action.properties.items()
            if FROM_INVENTORY in schema and name in texts
            for field, value in self.inventory.groups[schema[FROM_INVENTORY]][texts[name]].items()
        }

    def _argv(self, templates: list[str], values: dict[str, Filling]) -> list[str]:
        if not templates:
            return []
        argv = fill_argv(templates, values)
        if sum(len(part.encode()) + 1 for part in argv) > ARGV_MAX_BYTES:
            raise Correctable(
                "the arguments are too long", why=f"more than {ARGV_MAX_BYTES:,} bytes together"
            )
        return [self.programs[argv[0]], *argv[1:]]


def _with_defaults(schema: dict[str, Any], parameters: dict[str, Any]) -> dict[str, Any]:
    defaults = {name: sub["default"] for name, sub in schema["properties"].items() if "default" in sub}
    return defaults | parameters


def _check(name: str, schema: dict[str, Any], parameters: dict[str, Any]) -> None:
    found = [
        f"{'.'.join(map(str, error.absolute_path)) or 'parameters'}: {error.message}"
        for error in Draft202012Validator(schema).iter_errors(parameters)
    ]
    if found:
        raise Correctable(
            f"bad parameters for {name!r}",
            why="; ".join(found)[:1000],
            next_step="Call it again with parameters that fit its schema.",
        )


def _undo(action: Action, texts: dict[str, str]) -> str:
    if action.rollback is None:
        return "" if action.risk == "read" else "none: there is no action that undoes this"
    filled = {
        name: fill(value, texts) if isinstance(value, str) else value
        for name, value in action.rollback.parameters.items()
    }
    return f"{action.rollback.action} {json.dumps(filled, ensure_ascii=False, sort_keys=True)}"
