"""The JSON action protocol reads what small models really send, and says what is wrong with the rest."""

from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from kernel.errors import Correctable
from kernel.model.actions import action_schema, as_actions, read_action, read_arguments
from kernel.model.port import Message, ModelRequest, ToolSchema

SEARCH = ToolSchema(
    name="search",
    description="Search.\n\nUse it often.",
    parameters={
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "window": {"$ref": "#/$defs/Window"}},
        "required": ["pattern"],
        "$defs": {"Window": {"type": "object", "properties": {"next": {"$ref": "#/$defs/Window"}}}},
    },
)
NOOP = ToolSchema(name="noop")

READABLE = [
    '{"thought": "look", "action": {"tool": "search", "arguments": {"pattern": "x"}}}',
    '```json\n{"action": {"tool": "search", "arguments": {"pattern": "x"}}}\n```',
    'Sure! {"name": "search", "arguments": {"pattern": "x"}} Let me know.',
    '{"function": "search", "parameters": {"pattern": "x"}}',
    '{"function": {"name": "search", "arguments": "{\\"pattern\\": \\"x\\"}"}}',
    '{"action": "search", "arguments": {"pattern": "x"}}',
    '{"action": {"tool": "search", "arguments": {"pattern": "x",},},}',
    '{"name": "search", "arguments": {"pattern": "x"}}\n{"name": "other", "arguments": {}}',
    '{"action": [{"tool": "search", "arguments": {"pattern": "x"}}, {"tool": "b"}]}',
    'I look for {braces} first: {"tool": "search", "arguments": {"pattern": "x"}}',
    '{"note": 1} {"tool": "search", "arguments": {"pattern": "x"}}',
    '<tool_call>{"name": "search", "arguments": {"pattern": "x"}}</tool_call>',
]


@pytest.mark.parametrize("text", READABLE)
def test_reads(text: str) -> None:
    _, call = read_action(text)
    assert (call.name, call.arguments) == ("search", {"pattern": "x"})


def test_the_thought_and_raw_newlines() -> None:
    thought, call = read_action('{"thought": "先看\n日志", "action": {"tool": "noop"}}')
    assert (thought, call.name, call.arguments) == ("先看\n日志", "noop", {})


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I do not know", "no JSON object"),
        ('{"thought": "hm"}', 'names no "tool"'),
        ('{"action": 5}', "is no object"),
        ('{"tool": "search", "arguments": "oops"}', "'search' are no JSON object"),
        ('{"tool": "search", "arguments": {"pattern": "x"', "no JSON object"),
        ("{" * 50_000, "no JSON object"),
    ],
)
def test_says_what_is_wrong(text: str, why: str) -> None:
    with pytest.raises(Correctable) as caught:
        read_action(text)
    assert why in caught.value.why
    assert "JSON object" in caught.value.next_step


@given(st.text(alphabet='{}[]":,atolc \\n'))
def test_any_text_is_read_or_correctable(text: str) -> None:
    with contextlib.suppress(Correctable):
        assert read_action(text)[1].name


def test_the_schema_holds_good_actions_and_refuses_others() -> None:
    schema = action_schema([SEARCH, NOOP])
    Draft202012Validator.check_schema(schema)
    validator = Draft202012Validator(schema)
    assert "$ref" not in json.dumps(schema)
    assert validator.is_valid({"thought": "", "action": {"tool": "search", "arguments": {"pattern": "x"}}})
    assert validator.is_valid({"thought": "", "action": {"tool": "noop", "arguments": {}}})
    assert not validator.is_valid({"thought": "", "action": {"tool": "rm", "arguments": {}}})
    assert not validator.is_valid({"thought": "", "action": {"tool": "search", "arguments": {}}})


def test_earlier_calls_are_told_in_plain_messages() -> None:
    calls = [{"id": "1", "name": "search", "arguments": {"pattern": "a"}}, {"id": "2", "name": "noop"}]
    messages = [
        Message(role="system", content="You look."),
        Message(role="user", content="why?"),
        Message(role="assistant", content="first", calls=calls),
        Message(role="tool", call_id="1", content="A"),
        Message(role="tool", call_id="2", content="B"),
    ]
    told = as_actions(ModelRequest(messages=messages, tools=[SEARCH]))
    assert [m.role for m in told.messages] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert "search(pattern: string, window?: {next?: {" in told.messages[0].content
    assert read_action(told.messages[2].content)[1].arguments == {"pattern": "a"}
    assert told.messages[5].content == "Result of noop:\nB"
    assert told.tools == []


def test_native_arguments() -> None:
    assert read_arguments("") == {}
    assert read_arguments('{"a": 1}') == {"a": 1}
    assert read_arguments('{"a": ') == '{"a": '
    assert read_arguments("[1]") == "[1]"


def test_arguments_are_told_in_few_tokens() -> None:
    item = {"type": "object", "properties": {"line": {"type": "integer"}}, "required": ["line"]}
    parameters = {
        "type": "object",
        "properties": {
            "level": {"enum": ["ERROR", "WARN"]},
            "evidence": {"type": "array", "items": item},
            "limit": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
        },
        "required": ["level"],
    }
    request = ModelRequest(messages=[], tools=[ToolSchema(name="t", parameters=parameters), NOOP])
    told = as_actions(request).messages[0].content
    assert 't(level: "ERROR"|"WARN", evidence?: [{line: integer}], limit?: integer|null): ' in told
    assert "- noop(): " in told


def test_the_example_of_a_thought_is_no_thought() -> None:
    told = '{"thought": "why, in one sentence", "action": {"tool": "search", "arguments": {}}}'
    assert read_action(told)[0] == ""
    assert read_action(told.replace("why, in one sentence", "the pool"))[0] == "the pool"
