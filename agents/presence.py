"""A worker's presence: its cards stay up while it lives, it hears when a run is stopped, it ends strays."""

from __future__ import annotations

import asyncio

from agents.runtime.children import stop_strays
from agents.service import Agents
from kernel import logs
from kernel.cards import CARD_SECONDS, Cards
from kernel.contracts import Card
from kernel.control import Control
from kernel.errors import NightdeskError, Retryable

log = logs.get(__name__)


class Presence:
    """Publishes the cards of the agents whose queues this worker consumes."""

    def __init__(self, agents: Agents, cards: Cards, control: Control) -> None:
        self._agents = agents
        self._cards = cards
        self._control = control
        self._mine: list[Card] = []

    async def start(self, queues: list[str]) -> None:
        """Put the cards up and listen for stops, until the process ends."""
        from importlib.metadata import version

        settings = self._agents.resources.settings
        self._mine = [
            Card(
                agent=spec.name,
                purpose=spec.purpose,
                queue=spec.queue,
                worker=self._agents.worker,
                tools=[*self._agents.tools(spec)],
                sources=spec.sources(settings),
                handles=list(spec.handles),
                version=version("nightdesk"),
            )
            for spec in self._agents.agents.values()
            if spec.queue in queues
        ]
        await asyncio.gather(self._refresh(), self._sweep(), self._control.listen(self._agents.stop))

    async def leave(self) -> None:
        """Take the cards down and let running work end or go back to the queue."""
        mine, self._mine = self._mine, []
        try:
            for card in mine:
                await self._cards.withdraw(card)
        except Retryable as error:
            log.warning("cards_not_withdrawn", reason=str(error))
        await self._agents.drain()

    async def _refresh(self) -> None:
        while True:
            try:
                for card in self._mine:
                    await self._cards.publish(card)
            except Retryable as error:
                log.warning("cards_not_published", reason=str(error))
            await asyncio.sleep(CARD_SECONDS)

    async def _sweep(self) -> None:
        while True:
            try:
                await stop_strays(self._agents.resources.database)
            except NightdeskError as error:
                log.warning("strays_not_looked_for", reason=str(error))
            await asyncio.sleep(CARD_SECONDS)
