from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from agents.runtime.mcp_tools import TOOLS_MOST, Listed, offer, plain
from agents.runtime.tools import Tool
from kernel.errors import Correctable
from kernel.mcp_servers import McpServer
from kernel.settings import Settings

OBJECT: dict[str, Any] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def server(**fields: Any) -> McpServer:
    return McpServer.model_validate({"name": "stub", "command": ["x"], "agents": ["*"], **fields})


def listed(name: str = "t", description: str = "", schema: dict[str, Any] | None = None) -> Listed:
    return Listed(name=name, description=description, schema=OBJECT if schema is None else schema)


def offered(*tools: Listed, changed: set[str] | None = None, **fields: Any) -> tuple[list[Tool], list[str]]:
    async def call(_context: Any, _arguments: dict[str, Any]) -> None:
        return None

    return offer(server(**fields), list(tools), changed or set(), lambda _: call)


def test_arguments_are_checked_by_presence_and_type() -> None:
    (tool,) = offered(listed())[0]
    tool.check({"text": "x", "more": 1})
    for wrong, told in (({}, "'text' is a required property"), ({"text": 1}, "is not of type 'string'")):
        with pytest.raises(Correctable, match=told):
            tool.check(wrong)
    (closed,) = offered(listed(schema={**OBJECT, "additionalProperties": False}))[0]
    with pytest.raises(Correctable, match="'more' was unexpected"):
        closed.check({"text": "x", "more": 1})


@pytest.mark.parametrize(
    "part",
    [
        {"$ref": "#/properties/text"},
        {"$ref": "http://127.0.0.1:9/schema"},
        {"type": "string", "pattern": "^(a+)+$"},
        {"type": ["no such type"]},
        {"type": {"deep": 1}},
        "not a schema",
    ],
)
def test_a_hostile_schema_neither_hangs_nor_breaks_the_check(part: Any) -> None:
    (tool,) = offered(listed(schema={"type": "object", "properties": {"text": part}}))[0]
    tool.check({"text": "a" * 40 + "!"})


def test_what_cannot_be_offered_is_withheld_with_its_reason() -> None:
    deep: dict[str, Any] = {}
    for _ in range(40):
        deep = {"type": "object", "properties": {"a": deep}}
    tools, notes = offered(
        listed("changed"),
        listed("deep", schema=deep),
        listed("large", schema={"type": "object", "properties": {f"p{i}": {} for i in range(2000)}}),
        listed("array", schema={"type": "array"}),
        listed("", schema={}),
        listed("good", schema={}),
        changed={"changed"},
    )
    assert [t.name for t in tools] == ["stub__good"]
    assert [note.rpartition(": ")[2] for note in notes] == [
        "its description changed since it was first seen",
        "its schema is nested deeper than 12",
        "its schema is larger than 8192 bytes",
        "its schema describes no object",
        "its name is empty or longer than a model's provider accepts",
    ]


def test_a_list_without_end_is_cut_and_said() -> None:
    tools, notes = offered(*(listed(f"t{i}") for i in range(TOOLS_MOST + 1)))
    assert len(tools) == TOOLS_MOST
    assert notes == ["stub lists 65 tools; those after the first 64 are left out"]


def test_the_fingerprint_covers_all_that_a_model_reads() -> None:
    marks = {
        listed().fingerprint,
        listed(description="other").fingerprint,
        listed(schema={"type": "object"}).fingerprint,
        listed("u").fingerprint,
    }
    assert len(marks) == 4
    assert listed(schema={"b": 1, "a": 2}).fingerprint == listed(schema={"a": 2, "b": 1}).fingerprint


def test_plain_text_keeps_any_script_and_drops_what_cannot_be_seen() -> None:
    assert plain("日志\u202e\u200b\x1b[1m ok\n\tnext\ud800", 50) == "日志[1m ok\n\tnext"
    assert plain("日" * 60, 50) == "日" * 50 + "…"


@pytest.mark.parametrize(
    "wrong",
    [
        {"command": [], "url": None},
        {"url": "http://127.0.0.1/mcp"},
        {"name": "a__b"},
        {"tools": {"t": {"effect": "unsafe", "risk": "read"}}},
        {"tools": {"t": {"effect": "probe"}}},
        {"timeout": 0},
    ],
)
def test_settings_that_would_open_a_hole_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        server(**wrong)


def test_headers_and_environment_are_secrets() -> None:
    configured = server(env={"TOKEN": "sesame-42"}, headers={"Authorization": "Bearer sesame-43"})
    settings = Settings(mcp_servers=[configured])
    assert settings.secrets() == ["Bearer sesame-43", "sesame-42"]
    assert "sesame" not in repr(settings)
