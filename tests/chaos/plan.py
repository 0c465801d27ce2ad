"""The plan of a chaos run, pure: what is submitted and what the monkey does, all from one seed, before anything starts."""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

#: Ids of runs, and so the keys of all effects, come from the seed.
_SPACE = uuid.UUID("6b1f0c1e-0d2a-4a53-9a39-0c0ffee0cafe")

KILL_SECONDS = 2.0
REDIS_SECONDS = 30.0
ZOMBIE_SECONDS = 15.0
#: Runs whose deadline is not the point of them get this long.
DEADLINE_SECONDS = 90.0
SHORT_DEADLINE_SECONDS = 3.0

#: kind → weight. The steps of the worldly agent are drawn from `_TURNS`.
_KINDS = {
    "steps": 42,
    "unsafe": 8,
    "act-keyed": 9,
    "act-probe": 8,
    "act-unsafe": 5,
    "logs": 10,
    "fan": 8,
    "model": 10,
}
_TURNS = (
    "read",
    "idempotent",
    "keyed",
    "probe",
    "keyed+probe",
    "idempotent+read",
    "stall=1",
    "probe+keyed+idempotent",
)
_CANCELLED, _SHORT = 0.08, 0.05


@dataclass(frozen=True)
class RunSpec:
    """One run: when it is submitted, and what people do about it."""

    id: str
    at: float
    kind: str
    steps: str = ""
    brain: str = "routine"
    deadline: float = DEADLINE_SECONDS
    cancel_after: float | None = None
    #: For runs that ask: what the person says, and how long it takes to think.
    decision: str = "approved"
    decide_after: float = 0.5
    text: str = ""
    namespace: str = "default"

    @property
    def request(self) -> dict[str, Any]:
        """Return what is submitted."""
        return {
            "text": f"chaos {self.kind} {self.text}".strip(),
            "namespace": self.namespace,
            "labels": {"kind": self.kind, "steps": self.steps or "read"},
            "brain": self.brain,
            "deadline_seconds": self.deadline,
        }


@dataclass(frozen=True)
class Act:
    """One thing the monkey does: `kill`, `term`, `zombie`, `rolling`, `redis_kill`, `redis_stop`."""

    at: float
    what: str
    target: str = ""
    seconds: float = 0.0


@dataclass(frozen=True)
class Plan:
    """What is submitted, and what the monkey does meanwhile."""

    seed: int
    seconds: float
    runs: Sequence[RunSpec]
    acts: Sequence[Act] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Return the plan as it is kept."""
        return asdict(self)


def run_id(seed: int, scenario: str, number: int) -> str:
    """Return the id of a run, the same for the same seed."""
    return str(uuid.uuid5(_SPACE, f"{seed}:{scenario}:{number}"))


def mixed_runs(seed: int, scenario: str, count: int, seconds: float, *, calm: bool = False) -> list[RunSpec]:
    """Return a mix of runs spread over the time; `calm`: nobody cancels and no deadline is short."""
    dice = random.Random(f"{seed}:{scenario}:runs")
    return [
        _mixed(dice, run_id(seed, scenario, n), n * seconds / max(count, 1), calm=calm) for n in range(count)
    ]


def _mixed(dice: random.Random, id_: str, at: float, *, calm: bool) -> RunSpec:
    kind = dice.choices(list(_KINDS), list(_KINDS.values()))[0]
    steps = " ".join(dice.choices(_TURNS, k=dice.randint(1, 3)))
    fate = dice.random()
    cancel_after = round(dice.uniform(0.1, 3.0), 2) if fate < _CANCELLED and not calm else None
    short = _CANCELLED <= fate < _CANCELLED + _SHORT and not calm
    kind = "steps" if short else kind
    return RunSpec(
        id=id_,
        at=round(at, 2),
        kind=kind,
        steps="unsafe" if kind == "unsafe" else f"{steps} stall=30" if short else steps,
        brain="model" if kind == "model" else "routine",
        deadline=SHORT_DEADLINE_SECONDS if short else DEADLINE_SECONDS,
        cancel_after=cancel_after,
        decision="denied" if dice.random() < 0.2 else "approved",
        decide_after=round(dice.uniform(0.1, 1.5), 2),
    )


def storm_acts(
    seed: int, seconds: float, workers: Sequence[str], *, rolling: bool = True, longer: float = 1
) -> list[Act]:
    """Return what the monkey does in a storm: kills, zombies, restarts of Redis, and one rolling restart.

    `longer`: how many times the length of the storm it goes on, should the runs take longer.
    """
    end = seconds * longer
    dice = random.Random(f"{seed}:acts")
    acts = [
        Act(round(at, 2), "kill", dice.choice(workers)) for at in _times(KILL_SECONDS, KILL_SECONDS / 2, end)
    ]
    acts += [
        Act(round(at, 2), ("redis_kill", "redis_stop")[number % 2])
        for number, at in enumerate(_times(REDIS_SECONDS, REDIS_SECONDS / 3, end))
    ]
    # stopped for longer than its lease and the reconciler's tick: by then another worker has its work
    acts += [
        Act(round(at, 2), "zombie", dice.choice([w for w in workers if not w.startswith("beat")]), 6.5)
        for at in _times(ZOMBIE_SECONDS, 4.0, end)
    ]
    acts += [Act(round(seconds * 0.6, 2), "rolling")] if rolling else []
    return sorted(acts, key=lambda act: act.at)


def _times(every: float, first: float, seconds: float) -> list[float]:
    return [
        first + n * every
        for n in range(int(max(seconds - first, 0) / every) + 1)
        if first + n * every < seconds
    ]
