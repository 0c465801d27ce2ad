"""Every request that reaches an endpoint was reserved before: retries, adjusted questions, cuts and refusals."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from kernel.budget import Purse
from kernel.budgets import Spender
from kernel.control import connect
from kernel.database import Database
from kernel.errors import Exhausted, Fatal, OverBudget, Retryable
from kernel.ledgers import SpendRow
from kernel.model import make_model
from kernel.model.port import Message, Model, ModelRequest, ignore_text
from kernel.schema import migrate
from kernel.settings import Settings
from tests.support.model_server import ModelServer
from tests.support.redis_server import free_port

pytestmark = pytest.mark.integration

QUESTION = ModelRequest(
    messages=[Message(role="user", content="why?")],
    max_output_tokens=1000,
    spender=Spender(run_id="r", assignment_id="r:a", name="r:a.1"),
)
BUSY = {"status": 503, "message": "busy"}
Make = Callable[..., Model]


@pytest.fixture
def database(tmp_path: Path) -> Any:
    made = Database(f"sqlite:///{tmp_path / 'desk.db'}")
    migrate(made)
    yield made
    made.close()


@pytest.fixture
async def make(redis_url: str, database: Database) -> AsyncIterator[Make]:
    async with AsyncExitStack() as stack:

        def made(url: str, **fields: Any) -> Model:
            settings = Settings(model_base_url=url, model_name="m", model_timeout=5, **fields)
            redis = connect(redis_url)
            stack.push_async_callback(redis.aclose)
            model = make_model(settings, Purse(database, redis, settings.budgets))
            assert model is not None
            stack.push_async_callback(model.close)
            return model

        yield made


def spent(database: Database) -> list[tuple[bool, int, int]]:
    with database.reading() as session:
        rows = session.exec(select(SpendRow).order_by(SpendRow.created_at))  # type: ignore[arg-type] # a column
        return [(row.settled, row.model_calls, row.tokens) for row in rows]


async def test_each_retry_is_a_request_of_its_own(make: Make, database: Database) -> None:
    with ModelServer([BUSY, BUSY, {"text": "ok"}]) as server:
        model = make(server.url, run_budget={"model_calls": 2})
        with pytest.raises(OverBudget, match="2 of 2 model calls of this run"):
            await model.reply(QUESTION, ignore_text)
        assert len(server.requests) == 2
    # the provider did no work for them, but it was asked
    assert spent(database) == [(True, 1, 0), (True, 1, 0)]


async def test_no_other_endpoint_is_asked_instead(make: Make) -> None:
    with ModelServer([{"text": "ok", "times": 0}]) as server, ModelServer([{"text": "ok"}]) as other:
        model = make(
            server.url, run_budget={"model_calls": 1}, model_fallbacks=[{"base_url": other.url, "model": "o"}]
        )
        await model.reply(QUESTION, ignore_text)
        for _ in range(7):  # nor does a breaker open
            with pytest.raises(OverBudget):
                await model.reply(QUESTION, ignore_text)
        assert (len(server.requests), len(other.requests)) == (1, 0)


async def test_a_question_asked_again_in_another_form_counts_twice(make: Make) -> None:
    refusal = {"status": 400, "message": "Unrecognized request argument: stream_options"}
    with ModelServer([refusal, {"text": "ok", "times": 0}]) as server:
        with pytest.raises(OverBudget):
            await make(server.url, run_budget={"model_calls": 1}).reply(QUESTION, ignore_text)
        assert len(server.requests) == 1


async def test_real_usage_takes_the_place_of_the_estimate(make: Make, database: Database) -> None:
    with ModelServer([{"text": "ok", "usage": [100, 20]}]) as server:
        model = make(server.url, model_input_price=1.0, model_output_price=10.0, day_budget={"cost": 1.0})
        await model.reply(QUESTION, ignore_text)
    with database.reading() as session:
        (row,) = session.exec(select(SpendRow)).all()
    assert (row.settled, row.tokens, row.cost) == (True, 120, pytest.approx(0.0003))


async def test_a_tight_budget_shortens_the_answer(make: Make) -> None:
    with ModelServer([{"text": "ok", "usage": [100, 20], "times": 0}]) as server:
        model = make(server.url, run_budget={"tokens": 600})
        await model.reply(QUESTION, ignore_text)
        await model.reply(QUESTION, ignore_text)
        with pytest.raises(
            OverBudget, match="240 of 600 tokens of this run are spent, and the next one may take"
        ):
            await model.reply(
                QUESTION.model_copy(update={"messages": [Message(role="user", content="x" * 1000)]}),
                ignore_text,
            )
        asked = [request["body"]["max_tokens"] for request in server.requests]
        assert 256 <= asked[1] < asked[0] < 600
        assert asked[0] - asked[1] == 120


async def test_a_cut_answer_stays_at_what_it_may_have_cost(make: Make, database: Database) -> None:
    slow = {"text": "a very slow answer " * 50, "delay": 0.2}
    with ModelServer([slow]) as server:
        asking = asyncio.create_task(make(server.url).reply(QUESTION, ignore_text))
        await server.until(lambda: server.requests)
        asking.cancel()
        await asyncio.gather(asking, return_exceptions=True)
    ((settled, calls, tokens),) = spent(database)
    assert (settled, calls) == (False, 1)
    assert tokens > 1000


async def test_what_was_never_sent_costs_nothing(make: Make, database: Database) -> None:
    with pytest.raises(Retryable):
        await make(f"http://127.0.0.1:{free_port()}/v1").reply(QUESTION, ignore_text)
    assert spent(database) == [(True, 0, 0)] * 3


async def test_the_script_of_a_dry_run_counts_too(make: Make, tmp_path: Path) -> None:
    script = tmp_path / "script.yaml"
    script.write_text("- {text: ok, times: 0}\n")
    model = make("http://unused", model_script=script, run_budget={"model_calls": 1})
    assert (await model.reply(QUESTION, ignore_text)).text == "ok"
    with pytest.raises(Exhausted, match="budget: 1 of 1"):
        await model.reply(QUESTION, ignore_text)


async def test_nobody_asks_without_a_budget(make: Make) -> None:
    with ModelServer([{"text": "ok"}]) as server:
        with pytest.raises(Fatal, match="for nobody"):
            await make(server.url).reply(QUESTION.model_copy(update={"spender": None}), ignore_text)
        assert server.requests == []
