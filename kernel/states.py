"""The states of runs, assignments, calls and approvals, and the only table of moves between them."""

from __future__ import annotations

from enum import StrEnum

from kernel.errors import Fatal


class RunState(StrEnum):
    """Where the handling of one request stands."""

    accepted = "accepted"
    planning = "planning"
    working = "working"
    waiting = "waiting"
    answering = "answering"
    succeeded = "succeeded"
    failed = "failed"
    cancelled = "cancelled"
    expired = "expired"


class AssignmentState(StrEnum):
    """Where one agent's part of a run stands."""

    pending = "pending"
    queued = "queued"
    running = "running"
    waiting = "waiting"
    done = "done"
    failed = "failed"
    cancelled = "cancelled"
    expired = "expired"


class CallState(StrEnum):
    """Where one use of one tool stands."""

    waiting = "waiting"
    claimed = "claimed"
    running = "running"
    done = "done"
    failed = "failed"
    denied = "denied"
    unknown = "unknown"


class ApprovalState(StrEnum):
    """What people said about a call."""

    pending = "pending"
    approved = "approved"
    denied = "denied"
    expired = "expired"


class QuestionState(StrEnum):
    """What people found out about a call whose outcome the desk could not know."""

    open = "open"
    happened = "happened"
    not_happened = "not_happened"


class DeadLetterState(StrEnum):
    """What became of work that could not be done."""

    kept = "kept"
    replayed = "replayed"
    dropped = "dropped"


RUN_ENDED = frozenset({RunState.succeeded, RunState.failed, RunState.cancelled, RunState.expired})
ASSIGNMENT_ENDED = frozenset(
    {
        AssignmentState.done,
        AssignmentState.failed,
        AssignmentState.cancelled,
        AssignmentState.expired,
    }
)
CALL_ENDED = frozenset({CallState.done, CallState.failed, CallState.denied, CallState.unknown})

_R, _A, _C, _P = RunState, AssignmentState, CallState, ApprovalState
_Q, _D = QuestionState, DeadLetterState
_RUN_STOPS = {_R.failed, _R.cancelled, _R.expired}
_ASSIGNMENT_STOPS = {_A.failed, _A.cancelled, _A.expired}

#: One table each, since members of different enumerations that share a word are equal as keys.
MOVES: dict[type[StrEnum], dict[str, frozenset[StrEnum]]] = {
    RunState: {
        _R.accepted: frozenset({_R.planning, *_RUN_STOPS}),
        _R.planning: frozenset({_R.working, _R.answering, *_RUN_STOPS}),
        _R.working: frozenset({_R.waiting, _R.answering, *_RUN_STOPS}),
        _R.waiting: frozenset({_R.working, _R.answering, *_RUN_STOPS}),
        _R.answering: frozenset({_R.succeeded, *_RUN_STOPS}),
        **{ended: frozenset() for ended in RUN_ENDED},
    },
    AssignmentState: {
        _A.pending: frozenset({_A.queued, *_ASSIGNMENT_STOPS}),
        _A.queued: frozenset({_A.running, *_ASSIGNMENT_STOPS}),
        # running -> queued: a lease ran out, or the worker drained and handed the work back
        _A.running: frozenset({_A.waiting, _A.done, _A.queued, *_ASSIGNMENT_STOPS}),
        _A.waiting: frozenset({_A.queued, *_ASSIGNMENT_STOPS}),
        **{ended: frozenset() for ended in ASSIGNMENT_ENDED},
    },
    CallState: {
        _C.waiting: frozenset({_C.claimed, _C.denied}),
        # claimed -> claimed: taken over by a newer fence under the rules of the effect ledger
        _C.claimed: frozenset({_C.claimed, _C.running, _C.done, _C.failed, _C.unknown}),
        _C.running: frozenset({_C.claimed, _C.done, _C.failed, _C.unknown}),
        # unknown -> done/failed: a person, or a probe of the world, found out
        _C.unknown: frozenset({_C.done, _C.failed}),
        _C.done: frozenset(),
        _C.failed: frozenset(),
        _C.denied: frozenset(),
    },
    ApprovalState: {
        _P.pending: frozenset({_P.approved, _P.denied, _P.expired}),
        _P.approved: frozenset(),
        _P.denied: frozenset(),
        _P.expired: frozenset(),
    },
    QuestionState: {
        _Q.open: frozenset({_Q.happened, _Q.not_happened}),
        _Q.happened: frozenset(),
        _Q.not_happened: frozenset(),
    },
    DeadLetterState: {
        _D.kept: frozenset({_D.replayed, _D.dropped}),
        _D.replayed: frozenset({_D.replayed, _D.dropped}),
        _D.dropped: frozenset(),
    },
}


def check_move(old: StrEnum, new: StrEnum) -> None:
    """Raise Fatal unless the table allows the move from `old` to `new`."""
    kind = type(old)
    if type(new) is not kind or new not in MOVES[kind][old]:
        raise Fatal(f"{kind.__name__} may not go from {old.value!r} to {new.value!r}")
