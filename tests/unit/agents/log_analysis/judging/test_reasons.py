"""What speaks for and against a cause, in words whose numbers the tools returned."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.judging.reasons import after_of, against_of, doubts_of, evidence, reasons_of

SPOT = {"source": "a.log", "line": 9, "quote": "INFO fine", "time": "2026-01-01T00:10:00.000Z"}


def row(**more: Any) -> dict[str, Any]:
    first = {"source": "a.log", "line": 5, "quote": "ERROR x", "time": "2026-01-01T00:00:01.000Z"}
    return {"id": 1, "kind": "pool_exhausted", "level": "error", "first": first, **more}


def test_the_earliest_error_that_rose_after_a_change_and_is_blamed() -> None:
    rise = {"time": "2026-01-01T00:00:02.000Z", "direction": "up", "fold": 12.0}
    told = reasons_of(
        [
            row(
                earliest=True,
                rise=rise,
                blamed_by=["web", "app"],
                where="only node-7 (9 of 9 lines; host with 11% of all lines)",
            )
        ],
        {"services": {"db": 1, "web": 2, "app": 3}},
        SPOT,
    )
    assert told == [
        "it is the earliest error of the log, at 2026-01-01T00:00:01.000Z",
        "it rose 12.0-fold at 2026-01-01T00:00:02.000Z",
        "a change came shortly before, at 2026-01-01T00:10:00.000Z (a.log:9)",
        "others name it as failing: `app`, `web`",
        "it comes from only `node-7` (9 of 9 lines; host with 11% of all lines)",
        "it names what is wrong itself, not what follows from it",
    ]


def test_what_was_not_there_before_did_not_rise_but_begin() -> None:
    rise = {"time": "2026-01-01T00:00:01.000Z", "direction": "up", "fold": 556.9}
    told = reasons_of([row(kind="error", rise=rise)], {}, None)
    assert told == ["it began at 2026-01-01T00:00:01.000Z and was not there before"]


def test_who_was_refused_a_connection_does_not_name_what_is_wrong_with_the_other() -> None:
    assert reasons_of([row(kind="connection_refused")], {}, None) == []
    assert reasons_of([row(kind="disk_full")], {}, None) == [
        "it names what is wrong itself, not what follows from it"
    ]


def test_a_rare_line_shortly_before_is_told_once_with_what_it_says() -> None:
    rare = {**SPOT, "line": 4, "message": "cache flushed by admin"}
    assert reasons_of([row(kind="error")], {"before": [rare, {**SPOT, "message": "deployed"}]}, SPOT) == [
        "a change came shortly before, at 2026-01-01T00:10:00.000Z (a.log:9)",
        (
            "shortly before came a line that the log hardly ever has: `cache flushed by admin`,"
            " at 2026-01-01T00:10:00.000Z (a.log:4)"
        ),
    ]


def test_slow_work_by_its_numbers() -> None:
    timing = {
        "measured": 40,
        "low": "5 ms",
        "median": "9 ms",
        "high": "2 s",
        "early": "5 ms",
        "late": "1 s",
        "rose": "2026-01-01T00:05:00Z",
    }
    told = reasons_of([row(kind="slow", level="warning", timing={**timing, "until": "sent `x`"})], {}, None)
    assert told == [
        "it took 5 ms at first and 1 s from 2026-01-01T00:05:00Z on",
        "it took 5 ms to 2 s, 9 ms in the middle, measured 40 times",
        "measured from this line to the next of `sent 'x'`",
    ]


def test_exits_and_typing_errors() -> None:
    told = reasons_of([row(kind="crash", exit_code=137, typo={"said": "wge", "meant": "wget"})], {}, None)
    assert told[0] == "`wge` is no known command: it may be a typing error, and `wget` may be meant"
    assert told[1].startswith("exit code 137: killed by SIGKILL")


def test_traces_that_lead_to_a_frame() -> None:
    trace = {
        "templates": [1],
        "count": 3,
        "exception": "E",
        "frame": "save (store.py:42)",
        "source": "a.log",
        "line": 7,
    }
    told = reasons_of([row(kind="error")], {"traces": [trace]}, None)
    assert told == ["3 stack traces of `E` lead to `save (store.py:42)` (a.log:7)"]


def test_what_speaks_against() -> None:
    rows = [
        row(
            recovered=SPOT,
            quiet={**SPOT, "line": 12, "told": "20 min"},
            chronic=True,
            blames="db",
            doubts=["it is a dump"],
        )
    ]
    assert doubts_of(rows) == [
        "it is there all the time, so it is hardly what changed",
        "it names another service as failing: `db`",
        "it is a dump",
    ]
    assert after_of(rows, {}) == [
        "a line says that it was over at 2026-01-01T00:10:00.000Z (a.log:9)",
        "nothing of the trouble in the last 20 min of the log, in which other lines went on (a.log:12)",
    ]
    assert [e.line for e in against_of(rows)] == [5]
    assert against_of([row()]) == []


def test_a_line_is_cited_once_and_a_blank_one_never() -> None:
    assert [e.line for e in evidence([SPOT, SPOT, {**SPOT, "line": 10, "quote": " "}])] == [9]


def test_what_is_over_is_not_told_where_another_line_of_the_cause_came_later() -> None:
    rows = [
        row(recovered=SPOT, quiet={**SPOT, "told": "20 min"}),
        row(last={**SPOT, "time": "2026-01-01T00:11:00.000Z"}),
    ]
    assert after_of(rows, {}) == []


def test_a_change_soon_after_the_last_line_is_told() -> None:
    change = {**SPOT, "line": 40, "time": "2026-01-01T00:20:19.000Z"}
    told = "a change came 19 s after its last line, at 2026-01-01T00:20:19.000Z (a.log:40)"
    rows = [row(last={**SPOT, "time": "2026-01-01T00:20:00.000Z"})]
    assert after_of(rows, {"changes": [change]}) == [told]
    assert after_of(rows, {"changes": [{**change, "time": "2026-01-01T02:20:19.000Z"}]}) == []


def test_traces_of_which_not_all_were_read_are_told_as_a_least_number() -> None:
    trace = {"templates": [1], "count": 100, "exception": "E", "frame": "f", "source": "a.log", "line": 7}
    told = reasons_of([row(kind="error")], {"traces": [{**trace, "at_least": True}]}, None)
    assert told == ["at least 100 stack traces of `E` lead to `f` (a.log:7)"]
