"""The chat model of the memory service, as the settings have it, and the aids to recall that are switched on."""

from __future__ import annotations

from kernel.database import Database
from kernel.errors import Fatal
from kernel.model.port import Model
from kernel.settings import Settings
from memory_service.aids import Aids
from memory_service.model_turn import ModelTurn

#: Of the time that a run waits for a recall, so much is for models: the rest is for the queue and the search.
_SHARE = 0.7


def turn_of(settings: Settings, database: Database) -> ModelTurn | None:
    """Return what asks the configured model, or None where there is none; what it costs counts in all budgets."""
    if settings.model_script is None and not settings.endpoints:
        return None

    def made() -> Model:
        from kernel.budget import Purse
        from kernel.control import connect
        from kernel.model import make_model

        model = make_model(settings, Purse(database, connect(settings.redis_url), settings.budgets))
        if model is None:
            raise Fatal("no model is configured any more")
        return model

    return ModelTurn(made)


def aids_of(settings: Settings, turn: ModelTurn | None) -> Aids:
    """Return the aids to recall that are switched on; without a model there are none."""
    from memory_service.reranking import ModelReranker
    from memory_service.rewriting import ModelRewriter

    if turn is None:
        return Aids()
    return Aids(
        rewriter=ModelRewriter(turn) if settings.recall_rewrite else None,
        reranker=ModelReranker(turn) if settings.recall_rerank else None,
        seconds=_SHARE * settings.recall_timeout,
    )
