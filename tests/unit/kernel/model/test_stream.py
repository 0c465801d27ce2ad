"""Answers are put together from whatever pieces servers send."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from kernel.model.port import Message, ModelRequest, estimate_tokens
from kernel.model.stream import Answer
from kernel.settings import ModelEndpoint

ENDPOINT = ModelEndpoint(base_url="http://x", model="m")
QUESTION = ModelRequest(messages=[Message(role="user", content="why?")])


def piece(index: int | None, identity: str | None, name: str | None, arguments: str | None) -> Any:
    return SimpleNamespace(index=index, id=identity, function=SimpleNamespace(name=name, arguments=arguments))


def chunk(*calls: Any, content: str | None = None, finish: str | None = None) -> Any:
    delta = SimpleNamespace(content=content, tool_calls=list(calls) or None)
    choice = SimpleNamespace(delta=delta, finish_reason=finish)
    return SimpleNamespace(model="m-1", usage=None, choices=[choice])


def read(*chunks: Any) -> list[tuple[str, str, Any]]:
    answer = Answer(started=0.0)
    for number, one in enumerate(chunks):
        answer.add(one, float(number))
    return [(call.id, call.name, call.arguments) for call in answer.reply(ENDPOINT, QUESTION).calls]


def test_pieces_by_index() -> None:
    got = read(
        chunk(piece(0, "a", "f", "")),
        chunk(piece(0, None, None, '{"x"')),
        chunk(piece(1, "b", "g", "{}")),
        chunk(piece(0, None, None, ":1}")),
    )
    assert got == [("a", "f", {"x": 1}), ("b", "g", {})]


def test_servers_that_always_say_index_zero_or_none() -> None:
    zero = read(chunk(piece(0, "a", "f", "{}")), chunk(piece(0, "b", "g", "{}")))
    none = read(
        chunk(piece(None, "a", "f", '{"x"')),
        chunk(piece(None, None, None, ":1}")),
        chunk(piece(None, "b", "g", "{}")),
    )
    assert [name for _, name, _ in zero] == ["f", "g"]
    assert none == [("a", "f", {"x": 1}), ("b", "g", {})]


def test_text_times_and_estimated_usage() -> None:
    answer = Answer(started=1.0)
    answer.add(SimpleNamespace(model="", usage=None, choices=[]), 1.2)
    assert answer.add(chunk(content="你好"), 1.5) == "你好"
    answer.add(chunk(finish="stop"), 2.5)
    answer.ended = 2.5
    reply = answer.reply(ENDPOINT, QUESTION)
    assert (reply.text, reply.finish, reply.model, reply.seconds_to_first_token) == (
        "你好",
        "stop",
        "m-1",
        0.5,
    )
    assert reply.usage.estimated
    assert reply.tokens_per_second == reply.usage.output_tokens == estimate_tokens("你好") == 2
