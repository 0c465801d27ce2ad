"""Questions for a rate, and for the beginning and the end, without a model: every number is true of its window."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 28, 10, tzinfo=UTC)


def stamp(seconds: float) -> str:
    return (START + timedelta(seconds=seconds)).isoformat(timespec="milliseconds").replace("+00:00", "Z")


async def answer(desk, log, request: str) -> str:
    return (await desk.analyse(log, request=request)).outcome.answer


async def test_the_peak_of_a_day_and_a_half_is_told_by_the_minute_that_was_asked_for(desk, logs) -> None:
    moments = [3600.0 * n for n in range(36)]
    moments += (
        [7260 + n for n in range(4)] + [90_060 + n for n in range(4)] + [10_800 + 600 * n for n in range(6)]
    )
    rows = [f"{stamp(n)} ERROR api - request failed with code {n:g}" for n in sorted(moments)]
    told = await answer(desk, logs("api.log", "\n".join(rows)), "how many errors per minute?")
    assert told.startswith("50 lines of level error or worse: 0.02 per minute on average; most from ")
    assert f"most from {stamp(7260)} on: 4 in 60 s. As many again from {stamp(90_060)} on." in told
    assert "In parts of 60 min:\n- " in told


async def test_a_log_shorter_than_a_minute_has_no_rate(desk, logs) -> None:
    rows = [f"{stamp(n / 200)} ERROR api - request failed with code {n}" for n in range(21)]
    log = logs("short.log", "\n".join(rows))
    told = await answer(desk, log, "how many errors per minute?")
    assert told.startswith(
        "21 lines of level error or worse: all within 100 ms, too short for a rate per minute."
    )
    assert "60 s" not in told


async def test_lines_out_of_order_began_at_their_earliest_time(desk, logs) -> None:
    rows = [f"{stamp(n)} INFO api - served {n}" for n in range(900)]
    late = [f"{stamp(n)} ERROR api - connection refused by db" for n in (700, 640, 620, 680)]
    log = logs("mixed.log", "\n".join([*rows[450:], *late, *rows[:450]]))
    told = await answer(desk, log, "when did it start?")
    assert told.startswith(f"It began at {stamp(620)}; the first line of trouble is {log}:453.")
    overview = (await desk.analyse(log, request="find the cause")).calls[0].value
    assert overview["onset"] == overview["trouble"]["first"]["time"] == stamp(620)


async def test_two_questions_are_both_answered(desk, logs) -> None:
    rows = [
        f"{stamp(n)} {'ERROR api - connection refused by db' if 600 <= n < 620 else 'INFO api - served'} {n}"
        for n in range(900)
    ]
    log = logs("two.log", "\n".join(rows))
    told = await answer(desk, log, "when did it start? did it recover?")
    assert told.startswith(f"It began at {stamp(600)}; the first line of trouble is ")
    assert f"It stopped: the last line of the trouble came at {stamp(619)}" in told
    assert f"280 events followed without it, until {stamp(899)} (4.67 min later)." in told
    assert "cause (score" in told
    counted = await answer(desk, log, "how many errors are there? did it recover?")
    assert counted.startswith("20 lines of level error or worse")
    assert "It stopped: " in counted


async def test_two_that_have_equally_much_are_a_tie(desk, logs) -> None:
    rows = [f"{stamp(n)} ERROR {'ab'[n % 2] if n < 36 else 'c'}-svc - failed {n}" for n in range(40)]
    told = await answer(desk, logs("tie.log", "\n".join(rows)), "which service has most errors?")
    assert told.startswith("A tie: `a-svc`, `b-svc` have 18 each of the 40 lines of level error or worse")
    even = await answer(desk, logs("even.log", "\n".join(rows[:36])), "which service has most errors?")
    assert even.startswith("None stands out: 2 have 18 each")
