"""Steps between shapes, and what readers and writers of rows get."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlmodel import Session, SQLModel, create_engine

from kernel import records, shapes
from kernel.contracts import Outcome, Request
from kernel.records import SHAPE, ApprovalRow, AssignmentRow, CallRow, RunRow, TurnRow
from kernel.shapes import NewerShape, column, lift, present, readable
from tests.support import corpus

ROWS: list[Any] = [
    RunRow(id="r-1", shape=SHAPE + 1),
    AssignmentRow(id="r-1:a", run_id="r-1", key="a", agent="x", queue="q", shape=SHAPE + 1),
    TurnRow(assignment_id="r-1:a", number=2, brain="routine", shape=SHAPE + 1),
    CallRow(
        id="r-1:a.2.1", run_id="r-1", assignment_id="r-1:a", turn=2, position=1, tool="t", effect="read", key="k",
        shape=SHAPE + 1,
    ),
    ApprovalRow(
        call_id="r-1:a.2.1", run_id="r-1", assignment_id="r-1:a", tool="t", digest="d", risk="high", shape=SHAPE + 1
    ),
]  # fmt: skip


def old(**fields: Any) -> RunRow:
    return RunRow(**{"id": "r-1", "shape": 0, "request": {"text": "x", "gone": 1}, **fields})


def test_every_shape_has_its_step() -> None:
    assert len(shapes.STEPS) == SHAPE


def test_all_rows_with_a_shape_are_known() -> None:
    shaped = {row for row in vars(records).values() if "shape" in getattr(row, "model_fields", {})}
    assert set(shapes._JSON) == shaped


def test_a_row_of_the_present_shape_is_not_touched() -> None:
    request = {"text": "x", "unknown": 1}
    row = RunRow(id="r-1", request=request)
    assert present(row) is row
    assert row.request is request


def test_an_older_row_loses_what_is_gone_and_keeps_the_rest() -> None:
    request = {"text": "x", "labels": {"gone": "a label"}, "sources": [{"name": "a", "gone": 1}], "gone": []}
    row = present(old(request=request, memories=[{"id": "m", "text": "t", "slots": {"gone": 1}, "gone": 2}]))
    assert Request.model_validate(row.request).labels == {"gone": "a label"}
    assert row.request["sources"] == [{"name": "a"}]
    assert row.memories == [{"id": "m", "text": "t", "slots": {"gone": 1}}]
    assert (row.shape, row.report, row.rounds) == (SHAPE, None, [])
    assert "gone" in request  # what came in is left alone


def test_a_field_that_was_not_there_yet_gets_its_default() -> None:
    lifted = lift("assignment", {"outcome": {"answer": "a", "findings": []}}, 0)
    assert Outcome.model_validate(lifted["outcome"]).achieved is True


def test_what_a_tool_took_and_gave_is_kept_whole() -> None:
    columns = {"arguments": {"gone": 1}, "result": {"value": {"gone": [{"gone": 1}]}, "gone": 1}}
    assert lift("call", columns, 0) == {
        "arguments": {"gone": 1},
        "result": {"value": {"gone": [{"gone": 1}]}},
    }


@pytest.mark.parametrize(
    ("place", "contract"),
    [
        ("run.request", "Request"),
        ("run.memories", "MemoryHit"),
        ("run.session", "SessionTurn"),
        ("run.report", "Report"),
        ("assignment.outcome", "Outcome"),
        ("turn.outcome", "Outcome"),
        ("turn.usage", "Usage"),
        ("turn.calls", "CallRequest"),
    ],
)
def test_the_first_step_drops_nothing_that_shape_0_had(place: str, contract: str) -> None:
    golden = json.loads((corpus.CORPUS / "shape-0.json").read_text(encoding="utf-8"))[contract]
    table, _, name = place.partition(".")
    assert lost(shapes._SHAPE_1[table][name], golden, golden.get("$defs", {})) == []


def lost(names: dict[str, Any] | None, schema: dict[str, Any], defs: dict[str, Any]) -> list[str]:
    """Return the fields of a schema that are not among the names."""
    if names is None:
        return []
    gone = [field for field in schema["properties"] if field not in names]
    for field, value in schema["properties"].items():
        reference = value.get("$ref") or value.get("items", {}).get("$ref", "")
        below = defs.get(reference.rpartition("/")[2], {})
        if "properties" in below:
            gone += lost(names.get(field), below, defs)
    return gone


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.__tablename__)
def test_a_newer_row_is_refused_by_name(row: Any) -> None:
    assert not readable(row)
    with pytest.raises(
        NewerShape, match=rf"{row.__tablename__} 'r-1.*newer Nightdesk.*Run the newer version"
    ):
        present(row)
    assert row.shape == SHAPE + 1


def test_steps_follow_each_other_from_the_row_s_own_shape() -> None:
    def named(mark: str) -> shapes.Step:
        return lambda table, columns: {name: f"{value}{mark}" for name, value in columns.items()}

    steps = [named("a"), named("b"), named("c")]
    assert [lift("run", {"request": ""}, start, steps)["request"] for start in range(4)] == [
        "abc",
        "bc",
        "c",
        "",
    ]


def test_a_column_read_alone_is_brought_along_too() -> None:
    assert column(RunRow, "request", {"text": "x", "gone": 1}, 0) == {"text": "x"}
    assert column(AssignmentRow, "outcome", None, 0) is None
    with pytest.raises(NewerShape, match="a run is newer"):
        column(RunRow, "request", {}, SHAPE + 1)


def test_a_reader_writes_nothing_and_a_writer_writes_the_row_whole() -> None:
    engine = create_engine("sqlite://")
    SQLModel.metadata.create_all(engine)
    with Session(engine) as session:
        session.add(old())
        session.commit()
    with Session(engine) as session:
        row = present(session.get_one(RunRow, "r-1"))
        assert row.request == {"text": "x"}
        assert not session.dirty
        session.commit()
    with Session(engine) as session:
        assert session.get_one(RunRow, "r-1").shape == 0
        present(session.get_one(RunRow, "r-1"), store=True).reason = "why"
        session.commit()
    with Session(engine) as session:
        row = session.get_one(RunRow, "r-1")
        assert (row.shape, row.request, row.reason) == (SHAPE, {"text": "x"}, "why")
    engine.dispose()
