"""The JSON action protocol for models without native tool calls: one object per turn, held by a schema."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from kernel.errors import Correctable
from kernel.model.port import Message, ModelCall, ModelRequest, ToolSchema

_THOUGHT = "why, in one sentence"
_SHAPE = f'{{"thought": "{_THOUGHT}", "action": {{"tool": "<name>", "arguments": {{…}}}}}}'
_NEXT_STEP = f"Answer with one JSON object and nothing else: {_SHAPE}"
_TOOL_KEYS = ("tool", "name", "function", "tool_name")
_ARGUMENT_KEYS = ("arguments", "parameters", "args", "input")
#: References inside references; pydantic's schemas of tool arguments go three deep.
_MAX_REFERENCES = 8
#: Objects tried in one answer: small models put one or two before the right one.
_MAX_CANDIDATES = 20

_TRAILING_COMMA = re.compile(r",(\s*[}\]])")


def action_schema(tools: Sequence[ToolSchema]) -> dict[str, Any]:
    """Return the schema of one action object, for response_format."""
    actions = [
        {
            "type": "object",
            "properties": {"tool": {"const": tool.name}, "arguments": _inline(tool.parameters)},
            "required": ["tool", "arguments"],
            "additionalProperties": False,
        }
        for tool in tools
    ]
    return {
        "type": "object",
        "properties": {"thought": {"type": "string"}, "action": {"anyOf": actions}},
        "required": ["thought", "action"],
        "additionalProperties": False,
    }


def as_actions(request: ModelRequest) -> ModelRequest:
    """Return the request with its tools and earlier calls told in text, and the action schema set."""
    if not request.tools:
        return request.model_copy(update={"messages": list(_told(request.messages))})
    listing = "\n".join(f"- {_tool_line(tool)}" for tool in request.tools)
    rules = f"In each turn answer with one JSON object and nothing else:\n{_SHAPE}\nThe tools:\n{listing}"
    messages = list(_told(request.messages))
    if messages and messages[0].role == "system":
        messages[0] = Message(role="system", content=f"{messages[0].content}\n\n{rules}")
    else:
        messages.insert(0, Message(role="system", content=rules))
    schema = action_schema(request.tools)
    return request.model_copy(update={"messages": messages, "tools": [], "json_schema": schema})


def read_action(text: str) -> tuple[str, ModelCall]:
    """Return the thought and the call of an answer; raise Correctable naming what is wrong with it.

    Small models put a fence or prose round the object, say `name`/`arguments` or `function`/`parameters`,
    leave out the outer object, send several (the first counts) or leave a comma behind.
    """
    problem = "there is no JSON object in it"
    for candidate in objects(text):
        try:
            return _action(candidate)
        except Correctable as error:
            problem = error.why
    raise Correctable("the answer is no action", why=problem, next_step=_NEXT_STEP)


def _action(found: dict[str, Any]) -> tuple[str, ModelCall]:
    thought = found.get("thought") or found.get("thoughts") or ""
    action = found.get("action", found)
    if isinstance(action, list) and action:
        action = action[0]
    if isinstance(action, str):
        action = {**found, "tool": action}
    if not isinstance(action, dict):
        raise Correctable("no action", why='"action" is no object')
    tool = next((action[key] for key in _TOOL_KEYS if key in action), None)
    if isinstance(tool, dict):  # {"function": {"name": …, "arguments": …}}
        action, tool = tool, tool.get("name")
    if not isinstance(tool, str) or not tool:
        raise Correctable("no tool", why='"action" names no "tool"')
    arguments: Any = next((action[key] for key in _ARGUMENT_KEYS if key in action), {})
    if isinstance(arguments, str):
        arguments = _loads(arguments) if arguments.strip() else {}
    if not isinstance(arguments, dict):
        raise Correctable("no arguments", why=f'the "arguments" of {tool!r} are no JSON object')
    said = "" if thought == _THOUGHT else str(thought)  # small models copy the example
    return said, ModelCall(id="action", name=tool.strip(), arguments=arguments)


def objects(text: str) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of a text, outermost first, in order of appearance."""
    decoder = json.JSONDecoder(strict=False)
    text = _TRAILING_COMMA.sub(r"\1", text)
    position = text.find("{")
    for _ in range(_MAX_CANDIDATES):
        if position < 0:
            return
        try:
            found, end = decoder.raw_decode(text, position)
        except (ValueError, RecursionError):
            end = position + 1
        else:
            if isinstance(found, dict):
                yield found
        position = text.find("{", end)


def _loads(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except ValueError:
        return None


def read_arguments(text: str) -> dict[str, Any] | str:
    """Return the arguments of a native call, or the text as it is where it is no JSON object."""
    if not text.strip():
        return {}
    found = _loads(text)
    return found if isinstance(found, dict) else text


def _told(messages: Sequence[Message]) -> Iterator[Message]:
    """Tell native calls and their results in plain messages, each call right before its result."""
    asked: dict[str, tuple[str, ModelCall]] = {}
    for message in messages:
        if message.role == "assistant" and message.calls:
            for call in message.calls:
                asked[call.id] = (message.content, call)
        elif message.role == "tool":
            thought, call = asked.get(message.call_id, ("", ModelCall(id="", name=message.name or "tool")))
            action = {"thought": thought, "action": {"tool": call.name, "arguments": call.arguments}}
            yield Message(role="assistant", content=json.dumps(action, ensure_ascii=False))
            yield Message(role="user", content=f"Result of {call.name}:\n{message.content}")
        else:
            yield message


def _tool_line(tool: ToolSchema) -> str:
    arguments = _shape(_inline(tool.parameters), 0).removeprefix("{").removesuffix("}")
    return f"{tool.name}({arguments}): {' '.join(tool.description.split())}"


def _shape(schema: dict[str, Any], depth: int) -> str:
    """Return a schema in few tokens: `{pattern: string, lines?: [integer]}`."""
    if "enum" in schema or "const" in schema:
        return "|".join(json.dumps(value) for value in schema.get("enum", [schema.get("const")]))
    if "anyOf" in schema:
        return "|".join(_shape(option, depth + 1) for option in schema["anyOf"])
    if depth < _MAX_REFERENCES and isinstance(schema.get("items"), dict):
        return f"[{_shape(schema['items'], depth + 1)}]"
    properties = schema.get("properties")
    if not isinstance(properties, dict) or depth >= _MAX_REFERENCES:
        return "" if depth == 0 else str(schema.get("type", "any"))
    required = set(schema.get("required", ()))
    fields = (f"{k}{'' if k in required else '?'}: {_shape(v, depth + 1)}" for k, v in properties.items())
    return f"{{{', '.join(fields)}}}"


def _inline(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema without $defs: it becomes a part of another one, where `#/$defs` points nowhere."""
    definitions = schema.get("$defs", {})

    def walk(node: Any, depth: int) -> Any:
        if isinstance(node, list):
            return [walk(item, depth) for item in node]
        if not isinstance(node, dict):
            return node
        reference = node.get("$ref", "")
        if isinstance(reference, str) and reference.startswith("#/$defs/"):
            target = definitions.get(reference.removeprefix("#/$defs/"), {})
            return walk(target, depth + 1) if depth < _MAX_REFERENCES else {}
        return {key: walk(value, depth) for key, value in node.items() if key != "$defs"}

    inlined: dict[str, Any] = walk(schema, 0)
    return inlined or {"type": "object"}
