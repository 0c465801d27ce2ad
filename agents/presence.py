"""A worker's presence: its cards stay up while it lives, it hears when a run is stopped, it ends strays."""

from __future__ import annotations

import asyncio
from collections.abc import Collection

from agents.runtime.children import stop_strays
from agents.service import Agents
from kernel import logs
from kernel.cards import CARD_SECONDS, Cards
from kernel.contracts import Card
from kernel.control import Control
from kernel.errors import NightdeskError, Retryable
from kernel.source_queues import is_source_name, source_queues

log = logs.get(__name__)


class Presence:
    """Publishes the cards of the agents whose queues this worker consumes."""

    def __init__(self, agents: Agents, cards: Cards, control: Control) -> None:
        self._agents = agents
        self._cards = cards
        self._control = control
        self._mine: list[Card] = []

    def source_queues(self, queues: Collection[str]) -> list[str]:
        """Return the queues of the sources that this worker reaches, for the agents whose queues it consumes.

        Looked up once, before this worker takes anything: its cards say what it consumes.
        """
        settings, agents, reached = self._agents.resources.settings, self._agents.agents, self._agents.reached
        for spec in agents.values():
            if spec.queue in queues:
                reached[spec.name] = self._routable(spec.name, spec.sources(settings))
        return [q for name, found in reached.items() for q in source_queues(agents[name].queue, found)]

    def _routable(self, agent: str, sources: list[str]) -> list[str]:
        for name in sources:
            if not is_source_name(name):
                log.warning("source_not_routed", agent=agent, source=name, reason="its name is no word")
        return [name for name in sources if is_source_name(name)]

    async def start(self, queues: list[str]) -> None:
        """Put the cards up and listen for stops, until the process ends."""
        from importlib.metadata import version

        self._mine = [
            Card(
                agent=spec.name,
                purpose=spec.purpose,
                queue=spec.queue,
                worker=self._agents.worker,
                tools=[*self._agents.tools(spec)],
                sources=self._agents.reached.get(spec.name, []),
                queues=[
                    q
                    for q in source_queues(spec.queue, self._agents.reached.get(spec.name, ()))
                    if q in queues
                ],
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
