"""The model of the memory service as settings have it: budgeted, and asked only for what is switched on."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import SQLModel, select

from kernel.budget import Purse
from kernel.budgets import Spender
from kernel.control import connect
from kernel.database import Database
from kernel.ledgers import SpendRow
from kernel.model import make_model
from kernel.process import Process
from kernel.settings import Settings
from memory_service.recalling.model_turn import ModelTurn
from memory_service.recalling.models import aids_of
from tests.support.model_server import ModelServer

pytestmark = pytest.mark.integration


def test_without_a_model_there_are_no_aids() -> None:
    settings = Settings(recall_rewrite=True, recall_rerank=True)
    aids = aids_of(settings, None)
    assert (aids.rewriter, aids.reranker) == (None, None)


def test_the_aids_that_are_switched_on_ask_the_model_and_what_it_costs_is_counted(
    tmp_path: Path, redis_url: str
) -> None:
    database = Database(f"sqlite:///{tmp_path / 'nightdesk.db'}")
    SQLModel.metadata.create_all(database.engine)
    spender = Spender(run_id="run-1", namespace="team", name="run-1/recall")
    with ModelServer(
        [{"system": "word search queries", "text": "pool exhausted", "usage": [50, 7]}]
    ) as server:
        settings = Settings(
            model_base_url=server.url,
            model_name="m",
            redis_url=redis_url,
            recall_rewrite=True,
            recall_timeout=40,
        )
        process = Process("test")
        redis = connect(redis_url)
        model = make_model(settings, Purse(database, redis, settings.budgets))
        assert model is not None
        turn = ModelTurn(lambda: model, loop=lambda: process.loop)
        aids = aids_of(settings, turn)
        assert aids.reranker is None
        assert aids.rewriter is not None
        assert aids.seconds == pytest.approx(28)
        assert aids.rewriter.rewrite("why 503?", spender=spender, seconds=20) == "pool exhausted"
        turn.close()
        process.run(model.close())
        process.run(redis.aclose())
        process.close()
    with database.reading() as session:
        [row] = session.exec(select(SpendRow).where(SpendRow.run_id == "run-1")).all()
    assert (row.namespace, row.model_calls, row.tokens, row.settled) == ("team", 1, 57, True)
    database.close()
