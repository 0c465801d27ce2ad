"""What a model may add to a recall, in the time that is left: a rewording before, an order after; never a failure."""

from __future__ import annotations

import uuid
from collections.abc import Callable
from dataclasses import dataclass

from kernel import logs
from kernel.budgets import Spender
from kernel.clock import monotonic
from kernel.contracts import MemoryHit
from kernel.errors import NightdeskError
from memory_service.recalling.reranking import Reranker
from memory_service.recalling.rewriting import Rewriter

log = logs.get(__name__)

#: Of the time for all aids a rewording may take so much: without one there is still something to order.
_REWRITING_SHARE = 0.5
#: No model answers in less.
_LEAST_SECONDS = 0.05
#: Hits that are put in order at once.
_ORDERED = 20


@dataclass(frozen=True, kw_only=True)
class Aids:
    """The aids that are switched on, and the time that one recall has for them."""

    rewriter: Rewriter | None = None
    reranker: Reranker | None = None
    seconds: float = 1.0
    clock: Callable[[], float] = monotonic

    def begin(self, text: str, namespace: str, run_id: str) -> Aid:
        """Return the aid of one question; its time begins now."""
        run = (
            run_id or f"recall-{uuid.uuid4().hex[:12]}"
        )  # a question of no run counts for its namespace and day
        return Aid(self, text, Spender(run_id=run, namespace=namespace, name=f"{run}/recall"))


class Aid:
    """The aids to one question."""

    def __init__(self, aids: Aids, text: str, spender: Spender) -> None:
        self._aids = aids
        self._text = text
        self._spender = spender
        self._until = aids.clock() + aids.seconds

    def wanted(self, limit: int) -> int:
        """Return how many hits to look up: to choose from, an order needs more than are shown."""
        return max(limit, min(2 * limit, _ORDERED)) if self._aids.reranker is not None else limit

    def rewritten(self) -> str:
        """Return the question in other words, "" where there are none."""
        rewriter, seconds = self._aids.rewriter, self._left() * _REWRITING_SHARE
        if rewriter is None or seconds < _LEAST_SECONDS:
            return ""
        try:
            return rewriter.rewrite(self._text, spender=self._spender, seconds=seconds)
        except NightdeskError as error:
            log.warning("recall_not_rewritten", reason=str(error))
            return ""

    def ordered(self, hits: list[MemoryHit]) -> list[MemoryHit]:
        """Return the hits in the order of the reranker; one that was moved is not certified any more."""
        reranker, seconds = self._aids.reranker, self._left()
        some = hits[:_ORDERED]
        if reranker is None or len(some) < 2 or seconds < _LEAST_SECONDS:  # noqa: PLR2004 one hit has one order
            return hits
        try:
            told = reranker.order(
                self._text, [hit.text for hit in some], spender=self._spender, seconds=seconds
            )
        except NightdeskError as error:
            log.warning("recall_not_reranked", reason=str(error))
            return hits
        order = [*told, *(place for place in range(len(some)) if place not in told)]
        moved = [
            some[place] if place == now else some[place].model_copy(update={"certified": False})
            for now, place in enumerate(order)
        ]
        return moved + hits[_ORDERED:]

    def _left(self) -> float:
        return self._until - self._aids.clock()
