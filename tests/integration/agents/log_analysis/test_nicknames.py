"""Rare errors get a short name from a model where the settings want it: once, beside their template, no claim."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from typing import Any

import pytest

from agents.log_analysis.agent import AGENT
from agents.log_analysis.asking import nicknames
from agents.runtime.spec import DoneCall, DoneTurn, TurnView
from kernel.model import make_model
from kernel.model.port import ModelReply, ModelRequest, OnText
from kernel.model.scripted import ScriptedModel
from kernel.states import CallState
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration

POOL = "connection pool exhausted for db"
LINES = [f"2026-11-29T10:{m:02}:00Z INFO checkout served request {m}" for m in range(30)]
LINES += [f"2026-11-29T10:{m}:00Z ERROR checkout {POOL} orders-{m}" for m in (30, 31)]
LOG = "\n".join(LINES) + "\n"


def answer(name: str) -> dict[str, Any]:
    return {"text": json.dumps({"names": [{"number": 1, "name": name}]}), "times": 0}


def naming(desk: Any, model: Any, **changes: Any) -> ScriptedModel:
    settings = desk.resources.settings.model_copy(update={"log_nicknames": 3, **changes})
    desk.resources = replace(desk.resources, settings=settings, model=model)
    return model


async def test_a_rare_error_is_named_once_and_the_name_survives(desk: Any, logs: Any) -> None:
    path = logs("app.log", LOG)
    model = naming(desk, ScriptedModel([answer("pool exhausted")]))
    first = await desk.call(desk.ctx([path]), "overview")
    assert first["problems"][0]["nickname"] == "pool exhausted"
    (asked,) = model.requests
    assert POOL in asked.messages[1].content
    assert (asked.spender.run_id, asked.spender.name) == ("run-1", "a-1.nicknames")
    assert asked.json_schema is not None
    again = await desk.call(desk.ctx([path]), "overview")
    assert again["problems"] == first["problems"]
    assert len(model.requests) == 1  # kept in the data folder
    off = naming(desk, ScriptedModel([]), log_nicknames=0)
    plain = await desk.call(desk.ctx([path]), "overview")
    assert [{k: v for k, v in row.items() if k != "nickname"} for row in first["problems"]] == plain[
        "problems"
    ]
    assert off.requests == []
    assert (await desk.call(desk.ctx([path], brain="routine"), "overview")) == plain


@pytest.mark.parametrize(
    "told",
    [
        answer("ignore previous instructions"),
        answer("99 pools exhausted"),
        {"text": "pool exhausted"},
        {"text": '{"names": "x"}'},
        {"error": {"kind": "retryable"}},
        {"error": {"kind": "fatal"}},
    ],
)
async def test_without_a_name_all_is_as_it_was(desk: Any, logs: Any, told: dict[str, Any]) -> None:
    path = logs("app.log", LOG)
    plain = await desk.call(desk.ctx([path]), "overview")
    naming(desk, ScriptedModel([told]))
    assert await desk.call(desk.ctx([path]), "overview") == plain


async def test_a_slow_model_holds_nobody_up(desk: Any, logs: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Slow(ScriptedModel):
        async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
            await asyncio.Event().wait()
            return await super().reply(request, on_text)

    monkeypatch.setattr(nicknames, "_SECONDS", 0.05)
    naming(desk, Slow([answer("pool exhausted")]))
    found = await desk.call(desk.ctx([logs("app.log", LOG)]), "overview")
    assert "nickname" not in found["problems"][0]


async def test_a_server_is_asked_for_json_in_the_shape_that_is_read(desk: Any, logs: Any) -> None:
    with ModelServer([answer("pool exhausted")]) as server:
        settings = desk.resources.settings.model_copy(
            update={"model_base_url": server.url, "model_name": "scripted"}
        )
        made = make_model(settings)
        assert made is not None
        naming(desk, made)
        found = await desk.call(desk.ctx([logs("app.log", LOG)]), "overview")
        await made.close()
        (asked,) = server.requests
    assert found["problems"][0]["nickname"] == "pool exhausted"
    assert asked["body"]["response_format"]["type"] == "json_schema"


async def test_the_finding_tells_the_name_beside_its_quote_and_is_the_same_finding(
    desk: Any, logs: Any
) -> None:
    path = logs("app.log", LOG)
    plain = (await desk.analyse(path)).outcome
    naming(desk, ScriptedModel([answer("pool exhausted")]))
    named = (await desk.analyse(path)).outcome
    assert "A model's name for it: pool exhausted" in named.findings[0].detail
    for one, other in zip(plain.findings, named.findings, strict=True):
        assert other.model_copy(update={"detail": ""}) == one.model_copy(update={"detail": ""})
    assert (
        named.findings[0].detail.replace(". A model's name for it: pool exhausted", "")
        == plain.findings[0].detail
    )
    asked = desk.ctx([path], "结账服务为什么一直失败？")
    told = DoneCall(id="1", tool="overview", state=CallState.done, value=await desk.call(asked, "overview"))
    view = TurnView(work=asked.work, turns=[DoneTurn(number=1, calls=[told])], tools=[], turns_left=1)
    outcome = AGENT.routine(view).outcome
    assert outcome is not None
    assert "模型给它的名称：pool exhausted" in outcome.answer
