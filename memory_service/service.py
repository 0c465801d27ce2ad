"""The use cases of the memory service: recall, learn, remember, list, forget, reinforce."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any, Literal, Protocol

from pydantic import Field, ValidationError

from kernel import clock, logs
from kernel.contracts import MemoryHit, Value
from kernel.errors import NightdeskError
from memory_service.asking import read
from memory_service.consistency.drift import Drift
from memory_service.decay import Decay, Night
from memory_service.domain import Candidate, Kind, check_name
from memory_service.extraction import lessons
from memory_service.forgetting.copies import Copies
from memory_service.learning.finished import finished_run, unlearnt
from memory_service.learning.gate import Verdict, gate
from memory_service.learning.remembering import TAGS_MAX, Admitted, candidate_of, secrets_hidden, told_before
from memory_service.learning.rivals import rivals
from memory_service.learning.tastes import apart
from memory_service.reading import PAGE_MAX, page
from memory_service.recall import Question, Recall
from memory_service.relay import Relay
from memory_service.store import Lesson, Store
from memory_service.upsert import Written

log = logs.get(__name__)

#: A run whose doorbell was lost is still learnt from within this time.
_SWEEP_DAYS = 2
_SWEEP_MOST = 50
#: What may contradict another fact: it was not known.
_NEWS = ("insert", "supersede")


class Redaction(Protocol):
    """What hides secrets (kernel.redaction.Redactor)."""

    def text(self, text: str) -> str:
        """Return the text without secrets."""
        ...

    def value(self, value: Any) -> Any:
        """Return the value without secrets."""
        ...


class Listing(Value):
    """Which page of memories to list."""

    namespace: str = "default"
    limit: int = Field(default=50, ge=1, le=PAGE_MAX)
    after: int = Field(default=0, ge=0)
    kinds: list[Kind] = []
    #: Only those that have all of these.
    tags: list[str] = Field(default=[], max_length=TAGS_MAX)


class Forgetting(Value):
    """Which memory to forget, and who says so."""

    id: str
    namespace: str = "default"
    by: str = "local"
    reason: str = ""


class MemoryService:
    """All use cases, synchronous: doorways run them in threads."""

    def __init__(
        self,
        *,
        store: Store,
        recall: Recall,
        relay: Relay,
        decay: Decay,
        redaction: Redaction,
        recall_limit: int,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._store = store
        self._copies = Copies(store.database)
        self._recall = recall
        self._relay = relay
        self._decay = decay
        self._redaction = redaction
        self._recall_limit = recall_limit
        self._now = now

    def recall(self, question: dict[str, Any]) -> list[MemoryHit]:
        """Return what is known about a question; see recall.Question for its fields."""
        return self._recall.ask(Question.of(question, limit=self._recall_limit), self._now())

    def learn(self, run_id: str) -> list[Written]:
        """Learn from a run that has ended, once, and note what it cited; ringing twice learns once."""
        found = finished_run(self._store.database, run_id)
        if found is None:
            return []
        run, cited = found
        self._store.cite(run.namespace, cited.ids, cited_by=cited.by, at=self._now())
        taught = lessons(run)
        judged = [self.gated(candidate) for candidate in taught.candidates]
        passed = [(candidate, verdict, why) for candidate, verdict, why in judged if verdict != "drop"]
        lesson = Lesson(run_id=run_id, namespace=run.namespace, passed=passed, setbacks=taught.setbacks)
        # what was forgotten while it ran; before it counts as learnt, for nobody looks again then
        self._copies.blank(run_id, self._now())
        written = self._store.learn(lesson, self._now())
        log.info("learnt", run=run_id, written=len(written), dropped=len(judged) - len(passed))
        self._relay.drain()
        return written

    def remember(self, candidate: Candidate, *, actor: str) -> Written | None:
        """Store one candidate at once; None where the gate dropped it."""
        became = self.admit(candidate, actor=actor)
        return (
            None if became.id is None or became.outcome == "dropped" else Written(became.id, became.outcome)
        )

    def admit(self, candidate: Candidate, *, actor: str) -> Admitted:
        """Store one candidate at once and say what became of it; a source that repeats itself is heard once."""
        check_name("the namespace", candidate.namespace)
        check_name("the user", candidate.user, empty=True)
        became = [self._admit(part, actor) for part in apart(candidate)]
        self._index()
        hidden = secrets_hidden(candidate, self.gated(candidate)[0])
        ids = [part.id for part in became if part.id]
        return became[0].model_copy(update={"hidden": hidden, "kind": candidate.kind, "ids": ids})

    def _index(self) -> None:
        """Bring what is stored into the index; where that cannot be now it waits in the outbox, and is no failure."""
        try:
            self._relay.drain()
        except NightdeskError as error:
            log.warning("indexed_later", reason=str(error))

    def _admit(self, candidate: Candidate, actor: str) -> Admitted:
        candidate, verdict, why = self.gated(candidate)
        if verdict == "drop":
            log.info("not_remembered", reason=why)
            return Admitted(id=None, outcome="dropped", reason=why)
        if known := told_before(self._store.database, candidate, actor):
            outcome: Literal["quarantine", "touch"] = "quarantine" if known.quarantined else "touch"
            return Admitted(id=known.id, outcome=outcome, reason=why or "the same source has said it before")
        written = self._store.write(candidate, verdict, at=self._now(), actor=actor, reason=why)
        return Admitted(id=written.id or None, outcome=written.outcome, reason=written.reason)

    def tell(self, telling: dict[str, Any]) -> dict[str, Any]:
        """Remember what was told over the queue (see remembering.candidate_of): `{"id", "outcome", "reason"}`."""
        candidate = candidate_of(telling)
        became = self.admit(candidate, actor=candidate.source_ref or candidate.source_kind)
        return became.model_dump() | {"beside": self._beside(candidate, became)}

    def _beside(self, candidate: Candidate, became: Admitted) -> list[dict[str, str]]:
        """Return what says otherwise of the same thing than a fact that a person told just now."""
        if candidate.kind != "fact" or candidate.source_kind != "user" or became.outcome not in _NEWS:
            return []
        asked = Question(
            text=candidate.text, namespace=candidate.namespace, user=candidate.user, kinds=["fact"]
        )
        hits = self._recall.ask(asked, self._now())
        others = rivals(candidate.text, (hit for hit in hits if hit.id not in became.ids))
        return [{"id": hit.id, "text": hit.text} for hit in others]

    def page(self, question: dict[str, Any]) -> dict[str, Any]:
        """Return a page: `{"memories": [...], "total": n, "next": cursor or None}`, newest first."""
        asked = read(Listing, question)
        return page(
            self._store.database,
            asked.namespace,
            limit=asked.limit,
            after=asked.after,
            kinds=asked.kinds,
            tags=asked.tags,
            at=self._now(),
        )

    def forget(self, question: dict[str, Any]) -> dict[str, Any]:
        """Erase a memory everywhere: `{"forgotten": its id, or None where the namespace has no such memory}`."""
        asked = read(Forgetting, question)
        gone = self._store.forget(
            asked.namespace,
            asked.id,
            at=self._now(),
            actor=asked.by,
            reason=self._redaction.text(asked.reason),
        )
        self._relay.drain()
        return {"forgotten": gone}

    def reinforce(self) -> int:
        """Apply the citations noted since the last time."""
        strengthened = self._store.reinforce(self._now())
        if strengthened:
            self._relay.drain()
        return strengthened

    def relay(self) -> int:
        """Bring the index up to date, and learn from runs whose doorbell was lost."""
        since = self._now() - timedelta(days=_SWEEP_DAYS)
        for run_id in unlearnt(self._store.database, since=since, limit=_SWEEP_MOST):
            try:
                self.learn(run_id)
            except (NightdeskError, ValidationError) as error:  # it holds up neither the others nor the index
                log.warning("not_learnt", run=run_id, reason=type(error).__name__)
        return self._relay.drain()

    def decay(self) -> Night:
        """Let memories fade: tonight's run of the job."""
        night = self._decay.run(self._now())
        log.info("decay", epoch=night.epoch, ran=night.ran, **night.counts)
        self._relay.drain()
        return night

    def catch_up(self) -> Drift:
        """Do at start what was missed: compare the index with SQL, mend it, and decay after a missed night."""
        drift = self._relay.reconcile()
        self.relay()
        if self._decay.due(self._now()):
            self.decay()
        return drift

    def gated(self, candidate: Candidate) -> tuple[Candidate, Verdict, str]:
        """Return the redacted candidate with the verdict of the gate."""
        hidden = {name: self._redaction.text(getattr(candidate, name)) for name in ("text", "key", "context")}
        clean = {name: text.replace("\0", " ") for name, text in hidden.items()}  # PostgreSQL takes no NUL
        more = {name: self._redaction.value(getattr(candidate, name)) for name in ("slots", "tags")}
        told = candidate.model_copy(update={**clean, **more})
        return told, *gate(told)
