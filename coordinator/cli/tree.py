"""A run as a tree for the terminal: assignments, turns, calls with seconds, texts, approvals."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from coordinator.cli.history import short_call
from coordinator.cli.lines import SUMMARY_LENGTH, answered, progressed, recalled
from coordinator.cli.wording import elapsed, one_line
from kernel.clock import now
from kernel.events import (
    ApprovalDecided,
    ApprovalRequested,
    Event,
    FindingFound,
    MemoryRecalled,
    QuestionAnswered,
    StatusChange,
    TextDelta,
    ToolCallProgress,
    ToolCallResult,
    ToolCallStart,
)
from kernel.records import AssignmentRow
from kernel.states import RUN_ENDED

_STYLES = {
    "done": "green",
    "succeeded": "green",
    "approved": "green",
    "running": "cyan",
    "working": "cyan",
    "waiting": "yellow",
    "failed": "red",
    "denied": "red",
    "unknown": "magenta",
    "cancelled": "red",
    "expired": "red",
}
_ARGUMENTS_LENGTH = 70
_TEXT_LENGTH = 600
_CALLS_SHOWN = 12
#: While the run goes on its tree shares a terminal of 24 lines with what comes next.
_LIVE_TEXT_LENGTH = 240
_LIVE_CALLS_SHOWN = 3
_LIVE_LINES_SHOWN = 3
_RUNNING = "running"


@dataclass
class _Call:
    tool: str
    arguments: str
    since: datetime
    state: str = _RUNNING
    summary: str = ""
    seconds: float = 0.0

    def draw(self, at: datetime) -> Text:
        """Return the call as a line; one that runs has a clock."""
        running = self.state == _RUNNING
        spent = elapsed((at - self.since).total_seconds()) if running else f"{self.seconds:.2f} s"
        return _line(self.state, f"{self.tool}({self.arguments})", spent, self.summary)


@dataclass
class _Part:
    """What events say about one assignment."""

    agent: str
    since: datetime | None = None
    state: str = "queued"
    worker: str = ""
    reason: str = ""
    #: What was said in each turn; of a turn that was cut, only what was said again.
    texts: dict[int, str] = field(default_factory=dict)
    calls: dict[str, _Call] = field(default_factory=dict)
    lines: list[str] = field(default_factory=list)


class RunTree:
    """Takes events one by one and draws where the run stands."""

    def __init__(self, run_id: str) -> None:
        self._run_id = run_id
        self._state = "accepted"
        self._since = now()
        self._parts: dict[str, _Part] = {}
        self._notes: list[str] = []
        self._rows: dict[str, AssignmentRow] = {}
        self._waiting: dict[str, ApprovalRequested] = {}

    def plan(self, rows: list[AssignmentRow]) -> None:
        """Learn goals and needs of the assignments from the truth."""
        self._rows = {row.id: row for row in rows}
        for row in rows:
            part = self._part(row.id, row.agent)
            part.worker = row.worker or part.worker

    def take(self, event: Event) -> None:
        """Add an event."""
        self._since = min(self._since, _at(event))
        if isinstance(event, StatusChange):
            self._take_status(event)
        elif isinstance(event, MemoryRecalled):
            self._notes += [f"recalled {recalled(event)}"] if event.memories or event.note else []
        elif isinstance(event, ApprovalRequested):
            self._waiting[event.call_id] = event
        elif isinstance(event, ApprovalDecided):
            self._waiting.pop(event.call_id, None)
            words = f"{event.decision} by {event.by}" + (f": {event.reason}" if event.reason else "")
            self._part(event.assignment_id, event.agent).lines.append(words)
        elif isinstance(event, QuestionAnswered):
            self._part(event.assignment_id, event.agent).lines.append(answered(event))
        elif event.assignment_id:
            self._take_work(event)

    def running(self) -> list[str]:
        """Return which agents work now, each with the call it has open."""
        found = []
        for part in self._parts.values():
            if part.state == _RUNNING:
                calls = [call for call in part.calls.values() if call.state == _RUNNING]
                latest = f": {calls[-1].tool} {calls[-1].summary}".rstrip() if calls else ""
                found.append(f"{part.agent}{latest}")
        return found

    def draw(self, at: datetime, *, live: bool = False) -> RenderableType:
        """Return the tree as it stands; `live` shortens what has passed."""
        spent = "" if self._state in RUN_ENDED else elapsed((at - self._since).total_seconds())
        tree = Tree(_line(self._state, f"run {self._run_id[:13]}", spent))
        for note in self._notes:
            tree.add(Text(note, style="dim"))
        for assignment_id, part in self._parts.items():
            self._draw_part(tree, self._rows.get(assignment_id), part, at, live=live)
        return Group(tree, *(approval_lines(a.run_id, a) for a in self._waiting.values()))

    def _draw_part(
        self, tree: Tree, row: AssignmentRow | None, part: _Part, at: datetime, *, live: bool
    ) -> None:
        title = f"{row.key}: " if row is not None and row.key != part.agent else ""
        running = part.state == _RUNNING and part.since is not None
        spent = elapsed((at - part.since).total_seconds()) if running and part.since else ""
        branch = tree.add(_line(part.state, f"{title}{part.agent}", part.worker, spent, part.reason))
        if row is not None:
            needs = f"  (needs {', '.join(row.needs)})" if row.needs else ""
            goal = one_line(row.goal, _ARGUMENTS_LENGTH) if live else row.goal
            branch.add(Text(f"{goal}{needs}", style="dim"))
        calls, shown = list(part.calls.values()), _LIVE_CALLS_SHOWN if live else _CALLS_SHOWN
        if len(calls) > shown:
            branch.add(Text(f"… {len(calls) - shown} earlier calls", style="dim"))
        for call in calls[-shown:]:
            branch.add(call.draw(at))
        text = "".join(part.texts.values()).strip()
        if text:
            branch.add(Text(" ".join(text.split())[-_LIVE_TEXT_LENGTH:] if live else text[-_TEXT_LENGTH:]))
        for line in part.lines[-_LIVE_LINES_SHOWN:] if live else part.lines:
            branch.add(Text(line))

    def _take_status(self, event: StatusChange) -> None:
        if not event.assignment_id:
            self._state = event.state
            return
        part = self._part(event.assignment_id, event.agent)
        if part.state != event.state:
            part.since = _at(event)
        if lost := event.detail.get("lost_worker"):
            part.lines.append(
                f"worker {lost} was lost; taken over in attempt {event.detail.get('attempt', 2)}"
            )
        part.state, part.reason = event.state, event.reason
        part.worker = str(event.detail.get("worker", part.worker))

    def _take_work(self, event: Event) -> None:
        part = self._part(event.assignment_id, event.agent)
        if isinstance(event, TextDelta):
            said = "" if event.superseded else part.texts.get(event.turn, "") + event.text
            part.texts[event.turn] = said[-4 * _TEXT_LENGTH :]
        elif isinstance(event, ToolCallStart):
            again = f", attempt {event.attempt}" if event.attempt > 1 else ""
            part.calls[event.call_id] = _Call(event.tool, _short(event.arguments) + again, _at(event))
        elif isinstance(event, ToolCallProgress):
            running = part.calls.get(event.call_id)
            if running is not None and running.state == _RUNNING:  # a word may come after the end
                running.summary = progressed(event)
        elif isinstance(event, ToolCallResult):
            call = part.calls.setdefault(event.call_id, _Call(event.tool, "", _at(event)))
            call.state, call.seconds = event.state, event.seconds
            call.summary = one_line(event.summary, SUMMARY_LENGTH)
        elif isinstance(event, FindingFound):
            places = ", ".join(f"{e.source}:{e.line}" for e in event.finding.evidence[:3])
            part.lines.append(f"found: {event.finding.title}  {places}".rstrip())

    def _part(self, assignment_id: str, agent: str) -> _Part:
        return self._parts.setdefault(assignment_id, _Part(agent or "agent"))


def approval_lines(run_id: str, asked: ApprovalRequested) -> Text:
    """Return what a person must see before deciding: the exact argv, what the decision binds to, and how to decide."""
    text = Text()
    text.append(f"\nwaits for approval: {asked.tool} (risk {asked.risk})\n", style="bold yellow")
    # each argument quoted on its own: no two argvs may look alike
    text.append(f"  argv    {asked.argv!r}\n")
    text.append(f"  digest  {asked.digest}\n")
    if asked.why:
        text.append(f"  why     {asked.why}\n")
    text.append(f"  nightdesk approve {run_id} {short_call(asked.call_id)}\n", style="bold")
    text.append(f'  nightdesk deny {run_id} {short_call(asked.call_id)} --reason "…"\n', style="bold")
    return text


def _at(event: Event) -> datetime:
    try:
        moment = datetime.fromisoformat(event.at)
    except ValueError:  # an event that was never logged carries no time
        return now()
    return moment if moment.tzinfo is not None else now()


def _line(state: str, *parts: str) -> Text:
    text = Text()
    text.append(f"{state:<9} ", style=_STYLES.get(state, ""))
    text.append("  ".join(part for part in parts if part))
    return text


def _short(arguments: dict[str, Any]) -> str:
    return one_line(", ".join(f"{name}={value!r}" for name, value in arguments.items()), _ARGUMENTS_LENGTH)
