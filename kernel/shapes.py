"""The shapes of what rows hold: JSON that an older version wrote is brought to the present shape where it is read."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from sqlalchemy import JSON
from sqlalchemy.orm.attributes import set_committed_value
from sqlmodel import SQLModel

from kernel.errors import Fatal
from kernel.records import SHAPE, ApprovalRow, AssignmentRow, CallRow, RunRow, TurnRow

Shaped = RunRow | AssignmentRow | TurnRow | CallRow | ApprovalRow
Row = TypeVar("Row", RunRow, AssignmentRow, TurnRow, CallRow, ApprovalRow)

#: JSON columns by name: those of a row, or the few of them that were read.
Columns = dict[str, Any]
#: Brings the JSON of one table's row from one shape to the next; columns that were not read are not there.
Step = Callable[[str, Columns], Columns]

#: The names that a shape knows at a place; None where anything may stand.
Names = dict[str, Any]


class NewerShape(Fatal):
    """A newer version wrote the row: whoever cannot read it leaves it to its workers, as it is."""

    code = "newer_shape"


def present(row: Row, *, store: bool = False) -> Row:
    """Return the row with its JSON in the present shape; raise NewerShape where a newer version wrote it.

    A reader's row changes in memory only. `store` is for whoever writes to the row inside a transaction: old and
    new JSON never stand side by side in one row, so all of it is written with the change.
    """
    if row.shape != SHAPE:
        _bring(row, store=store)
    return row


def column(kind: type[Shaped], name: str, value: Any, shape: int) -> Any:
    """Return one JSON column in the present shape, where its row was not read whole."""
    if shape == SHAPE:
        return value
    _check(kind, "", shape)
    return lift(_table(kind), {name: value}, shape)[name]


def readable(row: Shaped) -> bool:
    """Tell whether this version can read the row."""
    return row.shape <= SHAPE


def lift(table: str, columns: Columns, shape: int, steps: Sequence[Step] | None = None) -> Columns:
    """Return the columns after every step that follows `shape`; the ones that came in are left alone."""
    for step in (STEPS if steps is None else steps)[shape:]:
        columns = step(table, columns)
    return columns


def _bring(row: Shaped, *, store: bool) -> None:
    kind = type(row)
    _check(kind, _name(row), row.shape)
    put = setattr if store else set_committed_value  # the latter leaves nothing for a session to write
    lifted = lift(_table(kind), {name: getattr(row, name) for name in _JSON[kind]}, row.shape)
    for name, value in {**lifted, "shape": SHAPE}.items():
        put(row, name, value)


def _check(kind: type[Shaped], name: str, shape: int) -> None:
    if shape > SHAPE:
        raise NewerShape(
            f"{_table(kind)} {name!r} cannot be read by this version"
            if name
            else f"a {_table(kind)} is newer",
            why=f"a newer Nightdesk wrote it (shape {shape}, and this version knows {SHAPE})",
            next_step="Run the newer version; this one leaves the row as it is.",
        )


def _name(row: Shaped) -> str:
    if isinstance(row, TurnRow):
        return f"{row.assignment_id}.{row.number}"
    return row.call_id if isinstance(row, ApprovalRow) else row.id


def _table(kind: type[Shaped]) -> str:
    return str(kind.__tablename__)


def _fields(names: str, **below: Names) -> Names:
    return {**dict.fromkeys(names.split()), **below}


# What shape 1 knows, as it was when it came: later shapes do not change these.
_EVIDENCE = _fields("source line quote")
_FINDING = _fields("title severity score detail key", evidence=_EVIDENCE)
_ACTION = _fields("name argv state verified detail call_id parameters")
_NOTIFICATION = _fields("channel state detail")
_NOT_DONE = _fields("what why")
_USAGE = _fields("turns calls input_tokens output_tokens cost")
_TOLD = {
    "findings": _FINDING,
    "actions": _ACTION,
    "notifications": _NOTIFICATION,
    "not_done": _NOT_DONE,
    "usage": _USAGE,
}
_OUTCOME = _fields("answer not_found cited_memories facts brain achieved partial", **_TOLD)
_REPORT = _fields(
    "version run_id state reason request answer not_found planned_by timings",
    memories=_fields("id text cited"),
    assignments=_fields("key agent state worker brain attempts reason"),
    **_TOLD,
)
_REQUEST = _fields(
    "text labels namespace user session_id priority deadline_seconds brain",
    sources=_fields("name path artifact"),
)
_SHAPE_1: dict[str, Names] = {
    "run": {
        "request": _REQUEST,
        "memories": _fields("id kind text tier score age_days source slots explain certified"),
        "session": _fields("run_id text answer agents facts"),
        "report": _REPORT,
    },
    "assignment": {"outcome": _OUTCOME},
    "turn": {"calls": _fields("tool arguments"), "outcome": _OUTCOME, "usage": _USAGE},
    "call": {"result": _fields("value error")},
    "approval": {"shown": _fields("target dry_run undo")},
}


def _to_1(table: str, columns: Columns) -> Columns:
    """Drop what shape 1 has no name for: shape 0 is all that was written before shapes were counted."""
    return {name: _only(value, _SHAPE_1[table].get(name)) for name, value in columns.items()}


def _only(value: Any, names: Names | None) -> Any:
    """Return a value, or each value of a list, with the named fields alone."""
    if names is None:
        return value
    if isinstance(value, list):
        return [_only(item, names) for item in value]
    if isinstance(value, dict):
        return {name: _only(item, names[name]) for name, item in value.items() if name in names}
    return value


def _to_2(_table: str, columns: Columns) -> Columns:
    """Return what shape 1 held: shape 2 only adds, to reports, in which language and at what length they were asked."""
    return columns


def _to_3(_table: str, columns: Columns) -> Columns:
    """Return what shape 2 held: shape 3 only adds a source's format and zone, and what a finding rests on."""
    return columns


#: The step at index n brings shape n to n + 1. Add one with every new SHAPE; a step is never changed again.
STEPS: tuple[Step, ...] = (_to_1, _to_2, _to_3)

_JSON: dict[type[Shaped], tuple[str, ...]] = {
    kind: tuple(c.name for c in SQLModel.metadata.tables[_table(kind)].columns if isinstance(c.type, JSON))
    for kind in (RunRow, AssignmentRow, TurnRow, CallRow, ApprovalRow)
}
