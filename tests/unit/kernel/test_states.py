import pytest

from kernel.errors import Fatal
from kernel.states import (
    ASSIGNMENT_ENDED,
    CALL_ENDED,
    MOVES,
    RUN_ENDED,
    AssignmentState,
    CallState,
    RunState,
    check_move,
)


def test_every_state_has_a_row_in_the_table() -> None:
    for states in (RunState, AssignmentState, CallState):
        assert set(states) == set(MOVES[states])


def test_nothing_leaves_the_end_but_what_was_unknown() -> None:
    for state in [*RUN_ENDED, *ASSIGNMENT_ENDED, *(CALL_ENDED - {CallState.unknown})]:
        assert MOVES[type(state)][state] == frozenset()
    assert MOVES[CallState][CallState.unknown] == {CallState.done, CallState.failed}


def test_every_open_state_can_reach_an_end() -> None:
    for start in (*RunState, *AssignmentState, *CallState):
        seen, frontier = {start}, [start]
        while frontier:
            frontier = [n for s in frontier for n in MOVES[type(s)][s] if n not in seen and not seen.add(n)]
        assert seen & (RUN_ENDED | ASSIGNMENT_ENDED | CALL_ENDED), start


def test_a_move_outside_the_table_is_a_bug() -> None:
    with pytest.raises(Fatal, match="RunState may not go from 'accepted' to 'succeeded'"):
        check_move(RunState.accepted, RunState.succeeded)
    with pytest.raises(Fatal, match="RunState may not go from 'waiting' to 'queued'"):
        check_move(RunState.waiting, AssignmentState.queued)
