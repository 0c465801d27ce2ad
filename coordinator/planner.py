"""The planner: memories first, then playbooks, the model, an agent's own patterns, or the default playbook."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Collection, Coroutine, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import re2
from pydantic import ValidationError

from coordinator import playbooks
from coordinator.planning import PLAN_SCHEMA, check_plan, plan_question
from coordinator.playbooks import Playbook, Round
from coordinator.routing import Routed, mentioned, route
from coordinator.store import Store
from kernel import logs
from kernel.broker import MEMORY, Doorbell
from kernel.budgets import Spender
from kernel.cards import Cards
from kernel.clock import now
from kernel.contracts import Card, MemoryHit, Plan, PlannedAssignment, Request, SessionTurn, Source
from kernel.control import Control
from kernel.errors import NightdeskError, OverBudget
from kernel.events import MemoryRecalled, StatusChange
from kernel.model.port import Message, Model, ModelRequest, ignore_text
from kernel.records import RunRow
from kernel.settings import Settings
from kernel.sharing import MENTIONED, sources_of
from kernel.states import RunState
from kernel.streams import EventLog

log = logs.get(__name__)

#: A run that no live worker can be asked for yet is planned again by the reconciler until this old.
AGENT_GRACE = timedelta(seconds=20)
_PROMPT = Path(__file__).parent / "prompts" / "plan.md"
_MODEL_SECONDS = 60.0
#: So long a thought goes on after its run was stopped: under the second that a stop may take.
_LOOK_SECONDS = 0.5


@dataclass(kw_only=True)
class Planner:
    """Plans runs and their further rounds."""

    settings: Settings
    store: Store
    books: list[Playbook]
    cards: Cards
    control: Control
    doorbell: Doorbell
    events: EventLog
    model: Model | None

    def playbook(self, name: str) -> Playbook | None:
        """Return a playbook by name."""
        return next((book for book in self.books if book.name == name), None)

    async def plan(self, run: RunRow) -> bool:
        """Recall, plan, insert the first assignments and ring for them; return whether there is more to do now."""
        request = Request.model_validate(run.request)
        cards = await self.cards.live()
        memories, note = await self._recall(run, request)
        try:
            book, plan = await self._choose(run, request, cards, memories)
        except OverBudget as over:
            stopped = {"stop": RunState.failed.value, "stop_reason": over.what}
            await asyncio.to_thread(self.store.swap, run, None, **stopped)
            return True
        found = [] if request.sources else mentioned(request, cards)
        routed = route(plan.assignments, request.sources or found, cards, mention=bool(found))
        if (routed.missing or routed.unreached) and now() - run.created_at < AGENT_GRACE:
            return False  # a worker of its agent, or one that reaches its sources, is still awaited
        return await self._insert(
            run,
            routed,
            state=RunState.working,
            playbook=book.name if book else "",
            planned_by=plan.planned_by,
            memories=[memory.model_dump(mode="json") for memory in memories],
            memory_note=note,
            # the session's next request means the same log
            request=request.model_copy(update={"sources": _chosen(routed) or request.sources}).model_dump(
                mode="json"
            ),
            tell=[
                MemoryRecalled(run_id=run.id, memories=memories, note=note),
                _planned(run, plan.planned_by, routed),
            ],
        )

    async def expand(self, run: RunRow, found: Round, taken: Collection[str]) -> bool:
        """Insert the assignments of a further round and ring for them; return whether there is more to do now.

        `taken` are the keys that the run has already.
        """
        cards, request = await self.cards.live(), Request.model_validate(run.request)
        routed = route(found.assignments, request.sources, cards, taken=taken)
        return await self._insert(run, routed, state=None, rounds=[*run.rounds, found.name])

    async def _insert(self, run: RunRow, routed: Routed, **fields: Any) -> bool:
        ready = await self.events.told(self.store.insert_plan, run, routed, **fields)
        for row in ready or ():
            await asyncio.to_thread(self.doorbell.ring_work, row, priority=run.priority)
        return ready is None or len(ready) < len(routed.assignments)

    async def _recall(self, run: RunRow, request: Request) -> tuple[list[MemoryHit], str]:
        question = {
            "text": request.text,
            "namespace": run.namespace,
            "user": run.user,
            "limit": self.settings.recall_limit,
            "run": run.id,
        }
        try:
            found = await self.control.ask(
                self.doorbell,
                "memory.recall",
                queue_name=MEMORY,
                question=question,
                seconds=self.settings.recall_timeout,
            )
            return [MemoryHit.model_validate(item) for item in found], ""
        except (NightdeskError, ValidationError) as error:  # a newer memory service may say more than we know
            log.warning("recall_failed", reason=str(error))
            return [], str(error)

    async def _choose(
        self, run: RunRow, request: Request, cards: Sequence[Card], memories: Sequence[MemoryHit]
    ) -> tuple[Playbook | None, Plan]:
        book = playbooks.choose(self.books, request)
        if book is not None and book.priority > 0:
            return book, Plan(planned_by=f"playbook:{book.name}", assignments=book.assignments)
        if (
            self.model is not None
            and request.brain != "routine"
            and (plan := await self._held(run, self._ask(run, request, cards, memories)))
        ):
            return book, plan
        card = _handler(request, run, cards)
        if card is not None:
            alone = PlannedAssignment(key=card.agent, agent=card.agent, goal=request.text[:200])
            return None, Plan(planned_by=f"card:{card.agent}", assignments=[alone])
        default = book or self.books[-1]
        return default, Plan(planned_by=f"playbook:{default.name}", assignments=default.assignments)

    async def _held(self, run: RunRow, asking: Coroutine[Any, Any, Plan | None]) -> Plan | None:
        """Hold a run while its plan is thought about, so that it is no silence; cut the thought where it is stopped."""
        task = asyncio.ensure_future(asking)
        try:
            while not task.done():
                if not await asyncio.to_thread(self.store.busy, run.id, self.settings.lease_seconds):
                    return None
                await asyncio.wait({task}, timeout=_LOOK_SECONDS)
            return task.result()
        finally:
            task.cancel()

    async def _ask(
        self, run: RunRow, request: Request, cards: Sequence[Card], memories: Sequence[MemoryHit]
    ) -> Plan | None:
        """Ask the model for a plan; invalid ones go back once with what is wrong."""
        assert self.model is not None
        question = plan_question(
            request.text,
            cards,
            memories,
            summary=run.session_summary,
            turns=[SessionTurn.model_validate(turn) for turn in run.session],
        )
        messages = [
            Message(role="system", content=_PROMPT.read_text("utf-8")),
            Message(role="user", content=question),
        ]
        for _ in range(2):
            try:
                async with asyncio.timeout(_MODEL_SECONDS):
                    reply = await self.model.reply(_asked(run, messages), ignore_text)
            except OverBudget:
                raise
            except (NightdeskError, TimeoutError) as error:
                log.warning("planning_turn_failed", reason=str(error))
                return None
            plan, problems = check_plan(_json(reply.text), cards)
            if plan is not None:
                return plan
            log.warning("plan_invalid", problems=problems)
            messages += [
                Message(role="assistant", content=reply.text),
                Message(
                    role="user", content=f"That plan is invalid: {'; '.join(problems)}. Send a valid one."
                ),
            ]
        return None


def _asked(run: RunRow, messages: list[Message]) -> ModelRequest:
    spender = Spender(run_id=run.id, namespace=run.namespace, name=f"{run.id}/plan")
    return ModelRequest(messages=messages, json_schema=PLAN_SCHEMA, spender=spender)


def _planned(run: RunRow, planned_by: str, routed: Routed) -> StatusChange:
    assignments = [a.model_dump(include={"key", "agent", "needs"}) for a in routed.assignments]
    asked = {a.key: names for a in routed.assignments if (names := sources_of(a.inputs))}
    detail = {"planned_by": planned_by, "assignments": assignments, **({"sources": asked} if asked else {})}
    return StatusChange(run_id=run.id, state=RunState.working.value, detail=detail)


def _chosen(routed: Routed) -> list[Source]:
    """Return the sources that were taken because the request mentions them."""
    names = [name for a in routed.assignments if a.inputs.get(MENTIONED) for name in sources_of(a.inputs)]
    return [Source(name=name) for name in dict.fromkeys(names)]


def _json(text: str) -> Any:
    start, end = text.find("{"), text.rfind("}")
    try:
        return json.loads(text[start : end + 1])
    except ValueError:
        return None


def _handler(request: Request, run: RunRow, cards: Sequence[Card]) -> Card | None:
    """Return the card whose patterns fit the text, or that of the agent the session was with."""
    for card in cards:
        if any(re2.search(f"(?i){pattern}", request.text) for pattern in card.handles):
            return card
    before = run.session[-1]["agents"] if run.session else []
    return next((card for card in cards if card.agent in before and card.handles), None)
