"""Rewording and reordering by a model: they help, they are bounded in time, and no failure of theirs ends a recall."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kernel.budgets import Spender
from kernel.clock import monotonic
from kernel.contracts import MemoryHit
from kernel.errors import Fatal, Retryable
from kernel.model.port import ModelReply, ModelRequest, OnText
from kernel.model.scripted import ScriptedModel
from memory_service.embed.hash import HashEmbedder
from memory_service.recall import Question, Recall
from memory_service.recalling.aids import Aids
from memory_service.recalling.model_turn import ModelTurn
from memory_service.recalling.reranking import ModelReranker
from memory_service.recalling.rewriting import ModelRewriter
from memory_service.scoring import Weights
from tests.integration.memory_service.world import World, world
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration

REWRITER, RERANKER = "word search queries", "order search results"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    with world(Path(tmp_path_factory.mktemp("aids"))) as made:
        for number in range(4):
            made.remember(f"checkout pool exhausted, case {number}", relay=False)
        made.remember("QueuePool limit of node-7 was reached", relay=False)
        made.relay.drain()
        yield made


def ask(desk: World, aids: Aids, text: str = "checkout pool exhausted", **fields: Any) -> list[MemoryHit]:
    weights = Weights.of(0.6, 0.25, 0.15)
    recall = Recall(desk.store, desk.index, HashEmbedder(), weights, aids=aids)
    return recall.ask(Question(text=text, limit=fields.pop("limit", 5), **fields), desk.now)


class Sleepy:
    """A model that thinks for ever, and tells whether it was stopped."""

    name = "sleepy"
    stopped = False

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            self.stopped = True
            raise
        raise AssertionError

    async def close(self) -> None:
        pass


def test_a_rewording_finds_what_the_question_did_not_and_never_as_a_fact(desk: World) -> None:
    model = ScriptedModel([{"system": REWRITER, "text": "QueuePool limit of node-7 was reached"}])
    aids = Aids(rewriter=ModelRewriter(ModelTurn(lambda: model)), seconds=60)
    question = "数据库怎么了"
    assert ask(desk, Aids(), question) == []
    hits = ask(desk, aids, question, run="run-9")
    assert [(hit.text, hit.tier, hit.certified) for hit in hits] == [
        ("QueuePool limit of node-7 was reached", "middle", False)
    ]
    [request] = model.requests
    assert json.loads(request.messages[-1].content) == {"request": question}
    assert request.spender == Spender(run_id="run-9", namespace="default", name="run-9/recall")


def test_the_original_question_is_kept_beside_a_rewording(desk: World) -> None:
    plain = ask(desk, Aids())
    model = ScriptedModel([{"system": REWRITER, "text": "the weather in Paris", "times": 0}])
    worded = ask(desk, Aids(rewriter=ModelRewriter(ModelTurn(lambda: model))))
    assert worded == plain, "a rewording that brings nothing takes nothing away either"


def test_an_order_of_a_model_holds_and_what_it_left_out_follows(desk: World) -> None:
    plain = ask(desk, Aids(), limit=2)
    everything = ask(desk, Aids(), limit=4)
    model = ScriptedModel([{"system": RERANKER, "text": '{"order": [4, 2]}'}])
    aids = Aids(reranker=ModelReranker(ModelTurn(lambda: model)), seconds=60)
    hits = ask(desk, aids, limit=2)
    assert [hit.id for hit in hits] == [everything[3].id, everything[1].id]
    assert [hit.certified for hit in hits] == [False, True]
    assert [hit.tier for hit in hits] == [everything[3].tier, everything[1].tier]
    assert [hit.id for hit in plain] != [hit.id for hit in hits]
    shown = model.requests[0].messages[-1].content
    assert not any(hit.id[:8] in shown for hit in everything), "a model never sees an id"


@pytest.mark.parametrize(
    "step",
    [
        {"text": '{"order": [99]}'},
        {"text": "ignore the memories and restart everything"},
        {"error": {"kind": "retryable"}},
        {"error": {"kind": "exhausted"}},
        {"error": {"kind": "fatal"}},
    ],
)
def test_an_aid_that_fails_is_logged_and_recall_goes_on(
    desk: World, step: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    turn = ModelTurn(lambda: ScriptedModel([{**step, "times": 0}]))
    aids = Aids(reranker=ModelReranker(turn))
    assert ask(desk, aids) == ask(desk, Aids())
    assert "recall_not_reranked" in capsys.readouterr().out
    turn.close()


def test_a_model_that_cannot_be_made_is_a_failure_like_others(desk: World) -> None:
    def broken() -> ScriptedModel:
        raise Fatal("no such model")

    assert ask(desk, Aids(rewriter=ModelRewriter(ModelTurn(broken)))) == ask(desk, Aids())


def test_recall_answers_in_time_whatever_a_model_does_and_the_model_is_stopped(desk: World) -> None:
    model = Sleepy()
    turn = ModelTurn(lambda: model)
    aids = Aids(rewriter=ModelRewriter(turn), reranker=ModelReranker(turn), seconds=0.4)
    started = monotonic()
    assert ask(desk, aids) == ask(desk, Aids())
    assert monotonic() - started < 5, "0.4 s on a quiet machine"
    assert model.stopped
    turn.close()


def test_no_aid_is_asked_when_its_time_is_over(desk: World) -> None:
    model = ScriptedModel([])
    turn = ModelTurn(lambda: model)
    aids = Aids(rewriter=ModelRewriter(turn), reranker=ModelReranker(turn), seconds=0.01)
    assert ask(desk, aids)
    assert model.requests == []


def test_a_turn_over_http_from_many_threads_and_again_after_closing() -> None:
    from concurrent.futures import ThreadPoolExecutor

    from kernel.model.openai import OpenAIModel
    from kernel.model.port import Message
    from kernel.settings import ModelEndpoint

    request = ModelRequest(messages=[Message(role="user", content="hello")])
    with ModelServer([{"text": "pool exhausted", "times": 0}]) as server:
        turn = ModelTurn(lambda: OpenAIModel(ModelEndpoint(base_url=server.url, model="m")))
        with ThreadPoolExecutor(4) as threads:
            answers = list(threads.map(lambda _: turn.text(request, 20), range(8)))
        assert answers == ["pool exhausted"] * 8
        turn.close()
        assert turn.text(request, 20) == "pool exhausted"
        turn.close()
    with pytest.raises(Retryable):
        ModelTurn(lambda: OpenAIModel(ModelEndpoint(base_url=server.url, model="m"))).text(request, 20)
