"""No secret passes the door in front of a model."""

from __future__ import annotations

from pathlib import Path

from pydantic import SecretStr

from kernel.model import make_model
from kernel.model.fallback import FallbackModel
from kernel.model.port import Message, ModelRequest, ignore_text
from kernel.model.redacted import RedactedModel
from kernel.model.scripted import ScriptedModel
from kernel.redaction import Redactor
from kernel.settings import ModelEndpoint, Settings


async def test_messages_and_calls_are_redacted() -> None:
    inner = ScriptedModel([{"text": "ok"}])
    model = RedactedModel(inner, Redactor(["plain-secret-1"]))
    call = {"id": "1", "name": "search", "arguments": {"pattern": "13800138000", "password": "zz"}}
    messages = [
        Message(role="user", content="password=hunter2 plain-secret-1"),
        Message(role="assistant", calls=[call]),
        Message(role="tool", call_id="1", content="ops@example.com"),
    ]
    await model.reply(ModelRequest(messages=messages), ignore_text)
    sent = inner.requests[0].model_dump_json()
    for secret in ("hunter2", "plain-secret-1", "13800138000", "zz", "ops@example.com"):
        assert secret not in sent


async def test_make_model(tmp_path: Path) -> None:
    assert make_model(Settings(_env_file=None)) is None
    path = tmp_path / "s.yaml"
    path.write_text("- text: hi", "utf-8")
    scripted = make_model(Settings(model_script=path))
    assert isinstance(scripted, RedactedModel)
    assert (await scripted.reply(ModelRequest(messages=[Message(role="user")]), ignore_text)).text == "hi"
    second = ModelEndpoint(base_url="http://b/v1", model="b")
    model = make_model(
        Settings(
            model_base_url="http://a/v1",
            model_name="a",
            model_api_key=SecretStr("key-1"),
            model_fallbacks=[second],
        )
    )
    assert isinstance(model, RedactedModel)
    assert isinstance(model.model, FallbackModel)
    assert ([m.name for m in model.model.models], model.name) == (["a", "b"], "a")
