"""The scripted model answers by its script, keeps what it was asked and complains about the rest."""

from __future__ import annotations

from pathlib import Path

import pytest

from kernel.errors import Exhausted, Fatal, Retryable
from kernel.model.port import Message, ModelRequest, ignore_text
from kernel.model.scripted import ScriptedModel


def ask(text: str, system: str = "") -> ModelRequest:
    return ModelRequest(messages=[Message(role="system", content=system), Message(role="user", content=text)])


async def test_the_first_step_that_fits_answers() -> None:
    model = ScriptedModel(
        [
            {"system": "notif", "text": "sent"},
            {"when": "503", "calls": [{"tool": "search", "arguments": {"pattern": "503"}}]},
            {"text": "else"},
        ]
    )
    reply = await model.reply(ask("why 503?", "You analyse logs"), ignore_text)
    assert reply.calls[0].arguments == {"pattern": "503"}
    assert (await model.reply(ask("why 503?", "You analyse logs"), ignore_text)).text == "else"
    with pytest.raises(Fatal, match=r"\[1\]"):
        model.check_finished()
    assert (await model.reply(ask("x", "notification"), ignore_text)).text == "sent"
    model.check_finished()
    with pytest.raises(Exhausted, match="no step left"):
        await model.reply(ask("x"), ignore_text)
    assert len(model.requests) == 4


async def test_text_is_streamed_and_errors_are_raised() -> None:
    model = ScriptedModel([{"text": "你好"}, {"error": {"kind": "retryable", "retry_after": 2}}])
    heard: list[str | None] = []

    async def hear(text: str | None) -> None:
        heard.append(text)

    await model.reply(ask("x"), hear)
    with pytest.raises(Retryable) as caught:
        await model.reply(ask("x"), hear)
    assert (heard, caught.value.retry_after) == (["你好"], 2)


async def test_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.yaml"
    path.write_text("- when: 为什么\n  text: 连接池耗尽\n  times: 0\n", "utf-8")
    model = ScriptedModel.load(path)
    for _ in range(3):
        assert (await model.reply(ask("为什么失败"), ignore_text)).text == "连接池耗尽"


@pytest.mark.parametrize("text", ["- [", "- texts: x", "text: x"])
def test_a_bad_file_says_what_to_do(tmp_path: Path, text: str) -> None:
    path = tmp_path / "script.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(Fatal, match="NIGHTDESK_MODEL_SCRIPT"):
        ScriptedModel.load(path)
