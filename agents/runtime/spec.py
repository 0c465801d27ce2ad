"""What an agent is: its specification, the turns its brain takes, and the view a brain gets."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from agents.runtime.approvals import ApprovalPolicy
from agents.runtime.tools import Tool, ToolContext
from kernel.contracts import Outcome, Usage, Value, Work
from kernel.settings import Settings
from kernel.states import CallState


class CallRequest(Value):
    """A call that a brain wants made."""

    tool: str
    arguments: dict[str, Any] = {}


class Turn(Value):
    """One answer of a brain: calls to make, or an outcome that ends the assignment."""

    text: str = ""
    calls: list[CallRequest] = []
    outcome: Outcome | None = None
    usage: Usage = Usage()
    brain: str = "routine"
    note: str = ""


class DoneCall(Value):
    """A journaled call: `value` is what the tool returned, `error` a `{code, message, suggestion}`."""

    id: str
    tool: str
    arguments: dict[str, Any] = {}
    state: CallState
    #: The name of its effect, and who began it under which fence (0: nobody yet).
    key: str = ""
    fence: int = 0
    effect: str = ""
    worker: str = ""
    attempts: int = 0
    value: Any = None
    error: dict[str, str] | None = None
    #: For a call that is taken over: what is known of the program an earlier attempt started, and that it
    #: runs on here, could not be stopped, and nothing may be made beside it.
    earlier: str = ""
    runs_on: bool = False


class DoneTurn(Value):
    """A journaled turn with its calls, in the order they were asked for."""

    number: int
    text: str = ""
    calls: list[DoneCall] = []
    note: str = ""
    brain: str = "routine"
    outcome: Outcome | None = None
    usage: Usage = Usage()


class TurnView(Value):
    """All that a brain may look at to decide the next turn.

    `tools` is empty when tools were withdrawn: the brain must then answer. `nudge` is a remark of the
    loop (a rejected finding, a loop that was noticed).
    """

    work: Work
    turns: list[DoneTurn] = []
    tools: list[str] = []
    turns_left: int = 8
    nudge: str = ""

    def calls(self, tool: str | None = None) -> list[DoneCall]:
        """Return the journaled calls, of one tool or of all, oldest first."""
        return [c for t in self.turns for c in t.calls if tool is None or c.tool == tool]


#: A deterministic brain: a pure function of the journal, so that a worker that takes over gets the same turn.
Routine = Callable[[TurnView], Turn]

#: Facts of an outcome that come from the journal and never from a model (actions, notifications).
Collect = Callable[[Work, list[DoneTurn]], Outcome]

#: Returns the redacted text of one line of a source (lines count from 1), or None where there is none.
ReadLine = Callable[[ToolContext, str, int], Awaitable[str | None]]


@dataclass(frozen=True, kw_only=True)
class AgentSpec:
    """One agent. `tools` is called once per process; `read_line` lets the evidence checker re-read lines."""

    name: str
    purpose: str
    prompt: str
    routine: Routine
    tools: Callable[[Settings], list[Tool]]
    collect: Collect | None = None
    read_line: ReadLine | None = None
    sources: Callable[[Settings], list[str]] = lambda _: []
    policy: Callable[[Settings], ApprovalPolicy] = lambda _: ApprovalPolicy()
    max_turns: int | None = None
    #: The tools that a model with a small window is offered; empty: all of them.
    first_tools: tuple[str, ...] = ()
    #: RE2 patterns over the request text, for agents that no playbook names.
    handles: tuple[str, ...] = ()
    #: Its routine recalls and remembers: it gets those tools also where no model is configured.
    memory: bool = False

    @property
    def queue(self) -> str:
        """Return the queue this agent's workers listen on."""
        return f"agents.{self.name}"
