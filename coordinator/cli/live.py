"""Shows the events of a run as they come: a tree on a terminal, lines elsewhere, or one ticking line."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Self

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.text import Text

from coordinator.cli import screen
from coordinator.cli.following import Followed
from coordinator.cli.lines import event_line
from coordinator.cli.tree import RunTree, approval_lines
from coordinator.cli.wording import elapsed, event_time
from kernel.clock import now
from kernel.events import ApprovalRequested
from kernel.streams import LoggedEvent

_REFRESHES = 8


class Tail:
    """The first line and the last lines of something taller than the screen: what happens is at its end."""

    def __init__(self, shown: RenderableType) -> None:
        self._shown = shown

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Yield as many lines as the screen has, less the one for the cursor."""
        lines = console.render_lines(self._shown, options.update(height=None), pad=False)
        room = max(console.size.height - 1, 3)
        if len(lines) > room:
            mark = [Segment(f"… {len(lines) - room + 1} lines above …")]
            lines = [lines[0], mark, *lines[len(lines) - room + 2 :]]
        for line in lines:
            yield from line
            yield Segment.line()


class Show:
    """Shows events; ends with the final state, printed once."""

    def __init__(self, run_id: str, *, drawn: bool, lines: bool, ticking: bool, after: str) -> None:
        self.events: list[dict[str, Any]] = []
        self.last_id = after
        self._tree = RunTree(run_id)
        self._run_id = run_id
        self._lines = lines
        self._drawn = drawn
        self._ticking = ticking and not drawn
        self._began = now()
        self._followed = Followed()
        self._spinner = Spinner("dots")
        self._live = self._make_live() if drawn or self._ticking else None

    def _make_live(self) -> Live:
        return Live(
            get_renderable=self._draw if self._drawn else self._tick,
            console=screen.out() if self._drawn else screen.err(),
            refresh_per_second=_REFRESHES,
            transient=True,
            vertical_overflow="crop",
            redirect_stdout=self._drawn,
            redirect_stderr=True,
        )

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
        if self._drawn:
            screen.out().print(self._tree.draw(now()))

    def take(self, logged: LoggedEvent, followed: Followed) -> None:
        """Show an event."""
        self.events.append({"id": logged.id, **logged.event.model_dump(mode="json")})
        self.last_id = logged.id
        self._followed = followed
        self._tree.plan(followed.assignments)
        self._tree.take(logged.event)
        line = event_line(logged.event) if self._lines else ""
        if line:
            screen.out().print(f"{event_time(logged.event.at)}  {line}", markup=False)
        if self._ticking and self._live is not None and isinstance(logged.event, ApprovalRequested):
            self._live.console.print(approval_lines(self._run_id, logged.event))

    def _draw(self) -> RenderableType:
        return Tail(self._tree.draw(now(), live=True))

    def _tick(self) -> RenderableType:
        self._spinner.update(text=ticking_line(self._followed, now() - self._began, self._tree.running()))
        return self._spinner


def ticking_line(followed: Followed, spent: timedelta, running: list[str]) -> Text:
    """Return the state of a run with its seconds so far, and what runs, as one line."""
    text = Text(f"{followed.state}  {elapsed(spent.total_seconds())}", no_wrap=True, overflow="ellipsis")
    if running:
        text.append(f"  {', '.join(running)}", style="dim")
    return text
