"""The aids to recall by a chat model, as the settings have them."""

from __future__ import annotations

from kernel.settings import Settings
from memory_service.recalling.aids import Aids
from memory_service.recalling.model_turn import ModelTurn

#: Of the time that a run waits for a recall, so much is for models: the rest is for the queue and the search.
_SHARE = 0.7


def aids_of(settings: Settings, turn: ModelTurn | None) -> Aids:
    """Return the aids to recall that are switched on; without a model there are none."""
    from memory_service.recalling.reranking import ModelReranker
    from memory_service.recalling.rewriting import ModelRewriter

    if turn is None:
        return Aids()
    return Aids(
        rewriter=ModelRewriter(turn) if settings.recall_rewrite else None,
        reranker=ModelReranker(turn) if settings.recall_rerank else None,
        seconds=_SHARE * settings.recall_timeout,
    )
