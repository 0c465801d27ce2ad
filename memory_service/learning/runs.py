"""A finished run as learning sees it, and what learning makes of it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from datetime import datetime

from kernel.reports import Report
from memory_service.domain import Candidate


@dataclass(frozen=True, kw_only=True)
class FinishedRun:
    """All that extraction may look at."""

    run_id: str
    namespace: str
    user: str
    request: str
    #: When it was asked: what it states is as old as that, however late it is learnt. None: now.
    told_at: datetime | None = None
    #: The session it belongs to, "" where there is none.
    session: str = ""
    labels: dict[str, str] = field(default_factory=dict)
    report: Report
    #: States of the journaled calls by id: what the report says of an action must be in the journal.
    calls: dict[str, str] = field(default_factory=dict)
    #: Texts of the memories that were served to the run: they are never learnt again.
    served: Collection[str] = ()

    @property
    def by_alert(self) -> bool:
        """Return whether an alert asked, in words that anybody may have written."""
        return "alertname" in self.labels


@dataclass(frozen=True)
class Lessons:
    """Candidates, and the keys of procedures whose remedy was tried again and did not help."""

    candidates: list[Candidate]
    setbacks: list[str]
