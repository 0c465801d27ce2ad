"""MCP tools, pure: what a server says of its tools is untrusted text, made into tools an agent may be offered."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Any

from agents.runtime.tools import Prepared, Tool, ToolContext
from kernel.contracts import Effect
from kernel.errors import Correctable, NightdeskError
from kernel.mcp_servers import McpServer

#: What providers of models accept as a tool's name.
_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]")
#: Every description stands in the prompt of every turn: these keep a server from filling it.
_DESCRIPTION_CHARACTERS = 1000
_NOTE_CHARACTERS = 300
_SCHEMA_BYTES = 8 * 1024
_SCHEMA_DEPTH = 12
TOOLS_MOST = 64
_ERROR_CHARACTERS = 2000
_TYPES = frozenset({"string", "number", "integer", "boolean", "object", "array", "null"})
_PROSE = frozenset({"description", "title", "$comment"})

Call = Callable[[ToolContext, dict[str, Any]], Awaitable[Any]]


@dataclass(frozen=True, kw_only=True)
class Listed:
    """One tool as a server lists it."""

    name: str
    description: str
    schema: dict[str, Any]

    @property
    def fingerprint(self) -> str:
        """Return the hash of all that a model would read of it."""
        told = json.dumps([self.name, self.description, self.schema], sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(told.encode("ascii")).hexdigest()


@dataclass(frozen=True, kw_only=True)
class McpTool(Tool):
    """A tool whose schema a stranger wrote."""

    def check(self, arguments: dict[str, Any]) -> None:
        """Raise Correctable for a missing, unknown or mistyped argument; the server checks what is deeper.

        A whole schema of a stranger could send the validator through references or patterns without end.
        """
        Tool.check(replace(self, parameters=_shallow(self.parameters)), arguments)


def offer(
    server: McpServer, listed: list[Listed], changed: set[str], call: Callable[[Listed], Call]
) -> tuple[list[Tool], list[str]]:
    """Return the tools an agent may be offered, and a note for each that is withheld."""
    tools: dict[str, Tool] = {}
    notes = []
    if len(listed) > TOOLS_MOST:
        notes.append(
            f"{server.name} lists {len(listed)} tools; those after the first {TOOLS_MOST} are left out"
        )
    for one in listed[:TOOLS_MOST]:
        shown = plain(one.name, 80)
        try:
            if one.name in changed:
                raise Correctable("its description changed since it was first seen")
            made = _tool(server, one, call(one))
            if made.name in tools:
                raise Correctable("another tool has the same name")
        except NightdeskError as error:
            notes.append(f"the tool {shown!r} of the MCP server {server.name!r} is withheld: {error.what}")
        else:
            tools[made.name] = made
    return list(tools.values()), notes


def _tool(server: McpServer, listed: Listed, run: Call) -> McpTool:
    name = f"{server.name}__{_NOT_IN_NAMES.sub('_', listed.name)}"
    if not listed.name or not _NAME.fullmatch(name):
        raise Correctable("its name is empty or longer than a model's provider accepts")
    effect, risk = server.rule(listed.name)
    argv = ["mcp", server.name, listed.name]

    async def prepare(_context: ToolContext, arguments: dict[str, Any]) -> Prepared:
        shown = json.dumps(arguments, ensure_ascii=False, sort_keys=True)
        return Prepared(argv=[*argv, shown], target=f"mcp:{server.name}/{listed.name}", risk=risk)

    return McpTool(
        name=name,
        description=f"Tool of the MCP server {server.name!r}, described by that server: "
        + plain(listed.description, _DESCRIPTION_CHARACTERS),
        parameters=_parameters(listed.schema),
        effect=Effect(effect),
        run=run,
        risk=risk,
        timeout=server.timeout,
        external=True,
        prepare=None if risk == "read" else prepare,
    )


def _parameters(schema: dict[str, Any]) -> dict[str, Any]:
    clean: Any = cleaned(schema, prose=_NOTE_CHARACTERS)
    clean = {"type": "object", "properties": {}, **clean}
    if clean["type"] != "object" or not isinstance(clean["properties"], dict):
        raise Correctable("its schema describes no object")
    if len(json.dumps(clean, ensure_ascii=False).encode()) > _SCHEMA_BYTES:
        raise Correctable(f"its schema is larger than {_SCHEMA_BYTES} bytes")
    return dict(clean)


def _shallow(schema: dict[str, Any]) -> dict[str, Any]:
    required = schema.get("required", [])
    return {
        "type": "object",
        "properties": {name: _typed(part) for name, part in schema["properties"].items()},
        "required": [name for name in required if isinstance(name, str)]
        if isinstance(required, list)
        else [],
        "additionalProperties": schema.get("additionalProperties") is not False,
    }


def _typed(part: Any) -> dict[str, Any]:
    told = part.get("type") if isinstance(part, dict) else None
    names = told if isinstance(told, list) else [told]
    known = bool(names) and all(isinstance(name, str) and name in _TYPES for name in names)
    return {"type": told} if known else {}


def plain(text: str, limit: int) -> str:
    """Return text without control, zero-width and direction characters, cut to a number of characters."""
    kept = "".join(c for c in text[: 4 * limit] if c in "\n\t" or unicodedata.category(c)[0] != "C").strip()
    return kept if len(kept) <= limit else f"{kept[:limit]}…"


def cleaned(value: Any, *, prose: int | None = None, depth: int = 0) -> Any:
    """Return JSON without control characters in any text; with `prose`, cut descriptions to that length."""
    if prose is not None and depth > _SCHEMA_DEPTH:
        raise Correctable(f"its schema is nested deeper than {_SCHEMA_DEPTH}")
    if isinstance(value, str):
        return plain(value, len(value))
    if isinstance(value, list):
        return [cleaned(item, prose=prose, depth=depth + 1) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        plain(str(key), 200): plain(item, prose)
        if prose is not None and key in _PROSE and isinstance(item, str)
        else cleaned(item, prose=prose, depth=depth + 1)
        for key, item in value.items()
    }


def failed(name: str, text: str) -> Correctable:
    """Return the error of a call that the server answered with an error."""
    return Correctable(
        f"{name} failed",
        why=plain(text, _ERROR_CHARACTERS) or "the server gave no reason",
        next_step="Mend the arguments, or do without it.",
    )
