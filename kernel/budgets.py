"""Budgets, pure: what may be spent in which scope, what is asked for, and in what words a limit refuses it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from pydantic import Field

from kernel.contracts import Value

#: Money and time are counted in whole numbers, or the sums of Redis and SQL would drift apart.
_NANODOLLARS, _MILLISECONDS = 10**9, 10**3
#: What is counted, in the order of every vector of counts: its name, its units, its words.
KINDS = (
    ("model_calls", 1, "model calls"),
    ("tool_calls", 1, "tool calls"),
    ("tokens", 1, "tokens"),
    ("cost", _NANODOLLARS, "dollars"),
    ("seconds", _MILLISECONDS, "seconds"),
)

#: Whole numbers of each of KINDS.
Counts = tuple[int, int, int, int, int]
#: The same with None where there is no limit.
Caps = tuple[int | None, int | None, int | None, int | None, int | None]


class Amount(Value):
    """What a request costs, or may cost."""

    model_calls: int = 0
    tool_calls: int = 0
    tokens: int = 0
    #: US dollars.
    cost: float = 0.0
    seconds: float = 0.0

    @property
    def counts(self) -> Counts:
        """Return the whole numbers of KINDS, rounded up."""
        return _vector([math.ceil(round(getattr(self, name) * unit, 3)) for name, unit, _ in KINDS])

    @classmethod
    def of(cls, counts: Counts) -> Amount:
        """Return the amount of whole numbers of KINDS."""
        return cls(**{name: count / unit for (name, unit, _), count in zip(KINDS, counts, strict=True)})


class Budget(Value):
    """What may be spent; None is without limit."""

    model_calls: int | None = Field(default=None, ge=0)
    tool_calls: int | None = Field(default=None, ge=0)
    tokens: int | None = Field(default=None, ge=0)
    #: US dollars.
    cost: float | None = Field(default=None, ge=0)
    #: Of work, summed over assignments that run side by side.
    seconds: float | None = Field(default=None, ge=0)

    @property
    def caps(self) -> Caps:
        """Return the limits as whole numbers of KINDS."""
        given = [(getattr(self, name), unit) for name, unit, _ in KINDS]
        a, b, c, d, e = (None if limit is None else round(limit * unit) for limit, unit in given)
        return (a, b, c, d, e)


class ScopeKind(StrEnum):
    """What a budget is for; namespaces and the whole desk are counted by UTC day."""

    assignment = "assignment"
    run = "run"
    namespace = "namespace"
    day = "day"


class Scope(Value):
    """One budget that a request counts in."""

    kind: ScopeKind
    #: The assignment, run or namespace.
    name: str = ""
    #: UTC, YYYY-MM-DD.
    day: str = ""
    budget: Budget = Budget()

    @property
    def words(self) -> str:
        """Return whose budget it is."""
        if self.kind is ScopeKind.namespace:
            return f"namespace {self.name!r} on {self.day} (UTC)"
        return f"the desk on {self.day} (UTC)" if self.kind is ScopeKind.day else f"this {self.kind.value}"


class Spender(Value):
    """For whom a request is made; `name` tells people which request it was, not which attempt."""

    run_id: str
    assignment_id: str = ""
    namespace: str = "default"
    name: str


class Budgets(Value):
    """All limits of a desk."""

    assignment: Budget = Budget()
    run: Budget = Budget()
    #: Of each namespace and UTC day, unless it is named in `namespaces`.
    namespace: Budget = Budget()
    namespaces: dict[str, Budget] = {}
    #: Of the whole desk and UTC day.
    day: Budget = Budget()

    def scopes(self, spender: Spender, day: str) -> list[Scope]:
        """Return every scope that a request of `spender` counts in, the narrowest first."""
        name = spender.namespace
        scopes = [
            Scope(kind=ScopeKind.run, name=spender.run_id, budget=self.run),
            Scope(
                kind=ScopeKind.namespace,
                name=name,
                day=day,
                budget=self.namespaces.get(name, self.namespace),
            ),
            Scope(kind=ScopeKind.day, day=day, budget=self.day),
        ]
        if not spender.assignment_id:  # the planner's requests
            return scopes
        mine = Scope(kind=ScopeKind.assignment, name=spender.assignment_id, budget=self.assignment)
        return [mine, *scopes]


class Ask(Value):
    """What a request may cost: `fixed`, and `each` for every unit that it is granted, `least` to `units` of them.

    The units are tokens of output for a model, milliseconds for work: less may be granted than was asked for.
    """

    fixed: Amount
    each: Amount = Amount()
    units: int = 0
    least: int = 0

    def amount(self, units: int) -> Amount:
        """Return what it costs at most with so many units."""
        return Amount(
            **{
                name: getattr(self.fixed, name) + units * getattr(self.each, name)
                for name in Amount.model_fields
            }
        )

    def limited_by(self, scope: Scope) -> bool:
        """Tell whether a scope limits anything that this asks for."""
        asked = self.amount(self.units).counts
        return any(cap is not None and count for cap, count in zip(scope.budget.caps, asked, strict=True))


class Verdict(Value):
    """What was granted, or the scope and the kind that refuse; `tight` is the scope that lowered the units."""

    units: int = 0
    tight: int | None = None
    refused: tuple[int, int] | None = None
    #: Of the refusing scope and kind: what was spent before.
    spent: int = 0


def judge(ask: Ask, caps: Sequence[Caps], spent: Sequence[Counts]) -> Verdict:
    """Grant as many units as fit into every scope, or refuse; the script in kernel.budget says the same in Lua."""
    fixed, each = ask.fixed.counts, ask.each.counts
    units, tight = ask.units, None
    for scope, (limits, used) in enumerate(zip(caps, spent, strict=True)):
        for kind, cap in enumerate(limits):
            if cap is None or not (fixed[kind] or each[kind]):
                continue
            room = cap - used[kind] - fixed[kind]
            fits = units if not each[kind] else min(units, room // each[kind])
            if room < 0 or fits < ask.least:
                return Verdict(refused=(scope, kind), spent=used[kind])
            if fits < units:
                units, tight = fits, scope
    return Verdict(units=units, tight=tight)


def refusal(scope: Scope, kind: int, spent: int, ask: Ask) -> str:
    """Return why a request was not made: "budget: 50 of 50 model calls of this run are spent"."""
    cap = scope.budget.caps[kind] or 0
    words = (
        f"budget: {_shown(spent, kind)} of {_shown(cap, kind)} {KINDS[kind][2]} of {scope.words} are spent"
    )
    if spent >= cap:
        return words
    return f"{words}, and the next one may take {_shown(ask.amount(ask.least).counts[kind], kind)}"


def _shown(count: int, kind: int) -> str:
    return f"{count / KINDS[kind][1]:.10g}"


def _vector(counts: Sequence[int]) -> Counts:
    a, b, c, d, e = counts
    return (a, b, c, d, e)
