"""One event of a log: its first line, what it says, and what was joined to it; pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from agents.log_analysis.formats.blocks import Block
from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.record import Record
from agents.log_analysis.formats.traces import dies


@dataclass(slots=True)
class Event:
    """One event: its first line, what it says, and the innermost exception of its trace with its line."""

    line: int
    record: Record
    last: int = 0
    lines: int = 1
    root: str = ""
    root_line: int = 0
    open: bool = True
    parts: list[str] = field(default_factory=list)
    size: int = 0
    #: What the next line may be: the `python` exception that ends a trace, calls of `go`, words of a `rust` panic,
    #: more of a `block`.
    waits: str = ""
    block: Block | None = None
    chained: bool = False  # its last line says that another trace belongs to it
    dated: bool = False  # its first line has a time and is not set in: what is set in below it goes on it
    suppressed: bool = False  # a suppressed exception was told of: what is set in below it is no cause
    settled: bool = False  # the root is known, whatever else the trace tells

    def close(self) -> None:
        """Let the lines of a block tell what the event says."""
        if self.block is not None:
            self.block.settle(self.record)
            self.block, self.waits = None, ""

    def continues(self, text: str) -> bool:
        """Tell whether a line that begins a trace goes on the event, and is not the next trouble."""
        if dies(text):
            return self.lines == 1 and self.root_line == 0 and self.level >= Level.error
        if self.lines == 1:
            return self.root_line > 0 or self.level >= Level.warning
        return self.chained or not text.startswith("Traceback")

    @property
    def message(self) -> str:
        """Return what the event says, with the exception that caused it."""
        if not self.root or self.root in self.record.message:
            return self.record.message
        own = self.record.message
        return self.root if self.root.startswith(own.strip()) else f"{own} | {self.root}"

    @property
    def level(self) -> Level:
        """Return the level; an event with a trace and no level of its own is an error."""
        if self.root and not self.record.named:
            return max(Level.error, self.record.level)
        return self.record.level
