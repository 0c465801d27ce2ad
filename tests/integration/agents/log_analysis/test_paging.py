"""Each tool's answer fits its budget on a nasty log, says its totals, and pages reach every row."""

from __future__ import annotations

import json
import random
from pathlib import Path
from time import process_time

import pytest

from agents.log_analysis.agent import AGENT
from agents.log_analysis.reading import ANSWER_BYTES
from kernel.errors import Correctable
from kernel.settings import Settings

#: What the answer's own keys may add after it was cut to fit: a cursor, places to go on.
SLACK = 400
LINES = 1_200
#: Of processor time, for all calls: 3 here; it was 35 when each of a thousand services was sought in each line.
_SECONDS = 15
NAMES = {tool.name for tool in AGENT.tools(Settings())}


@pytest.fixture
def nasty(desk, logs) -> Path:
    """Thousands of templates, long lines, CJK, quotes, backslashes, emoji, many services and ids."""
    rng = random.Random(7)
    words = [
        "连接超时",
        "磁盘已满",
        "пул",
        '\\"quoted\\"',
        "\\\\back\\slash",
        "💥",
        "timeout",
        "refused",
        "a" * 300,
    ]
    rows = []
    for n in range(LINES):
        level = rng.choice(["INFO", "WARN", "ERROR", "FATAL"])
        kind = "".join(rng.choices("abcdefghijklmnopqrstuvwxyz", k=9))
        text = " ".join(rng.choices(words, k=rng.randint(1, 5)))
        tail = "页" * rng.choice([0, 0, 0, 900])
        rows.append(
            f"2026-11-29T10:{n // 24:02d}:{n % 60:02d}Z {level} [svc-{kind[:3]}] {kind} {text} trace_id={n // 4:032x} "
            f"user=用户{n % 97} host=node-{n % 50} {tail}"
        )
    return logs("nasty.log", "\n".join(rows))


def size(answer: dict) -> int:
    return len(json.dumps(answer, ensure_ascii=False).encode())


CALLS: list[tuple[str, dict]] = [
    ("overview", {}),
    *[("templates", {"sort": sort, "limit": 100}) for sort in ("count", "rare", "first", "new")],
    ("templates", {"level": "error", "pattern": "超时"}),
    *[("search", {"limit": 50, "newest_first": newest}) for newest in (False, True)],
    ("search", {"pattern": "页页", "limit": 50}),
    ("search", {"pattern": ".", "level": "fatal", "limit": 50}),
    ("context", {"source": "nasty.log", "line": 600, "before": 40, "after": 40}),
    ("histogram", {"bucket": "auto", "level": "error"}),
    ("compare", {"split_at": "2026-11-29T10:25:00Z"}),
    ("compare", {"split_at": "line 600"}),
    ("compare", {"baseline": "auto"}),
    ("changes", {}),
    ("entities", {"by": "auto"}),
    ("entities", {"by": "host", "limit": 50}),
    ("entities", {"by": "user", "limit": 50}),
    ("follow", {}),
    ("follow", {"id": f"{150:032x}"}),
]


async def test_every_answer_fits_its_budget_and_pages_reach_every_row(desk, nasty: Path) -> None:
    ctx = desk.ctx([nasty])  # one test: the log is read once
    began = process_time()
    assert {name for name, _ in CALLS} == NAMES
    for name, arguments in CALLS:
        given = {**arguments, "source": str(nasty)} if "source" in arguments else arguments
        answer = await desk.call(ctx, name, **given)
        assert size(answer) <= ANSWER_BYTES + SLACK, (name, arguments, size(answer))
    for name, rows, total, arguments in PAGED:
        await _reaches_every_row(desk, ctx, name, rows, total, arguments)
    await _keeps_the_asked_line(desk, ctx, str(nasty))
    assert process_time() - began < _SECONDS


PAGED: list[tuple[str, str, str, dict]] = [
    ("templates", "templates", "total", {"limit": 100, "level": "fatal"}),
    ("search", "hits", "total", {"limit": 50, "pattern": "页页", "level": "error"}),
    ("search", "hits", "total", {"limit": 50, "level": "fatal", "newest_first": True, "until": "2026-11-29T10:10:00Z"}),
    ("entities", "entities", "entities_total", {"by": "user", "limit": 20}),
]  # fmt: skip


async def _reaches_every_row(desk, ctx, name: str, rows: str, total: str, arguments: dict) -> None:
    seen: list[str] = []
    cursor = ""
    for _ in range(300):
        answer = await desk.call(ctx, name, **arguments, cursor=cursor)
        assert answer[rows], answer
        seen += [json.dumps(row, sort_keys=True) for row in answer[rows]]
        cursor = answer.get("cursor", "")
        if not cursor:
            break
    assert len(seen) == answer[total] > 20
    assert len(set(seen)) == len(seen)


async def _keeps_the_asked_line(desk, ctx, source: str) -> None:
    answer = await desk.call(ctx, "context", source=source, line=600, before=40, after=40)
    lines = [row["line"] for row in answer["lines"]]
    assert 600 in lines
    assert lines == list(range(lines[0], lines[-1] + 1))
    assert answer["last_line"] == LINES
    assert answer["earlier"] == lines[0] - 1
    assert answer["later"] == lines[-1] + 1
    edge = await desk.call(ctx, "context", source=source, line=1, before=5, after=0)
    assert [row["line"] for row in edge["lines"]] == [1]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("templates", {"sort": "size"}),
        ("templates", {"level": "loud"}),
        ("templates", {"pattern": "(?<=a)b"}),
        ("templates", {"cursor": "next"}),
        ("search", {"cursor": "-1"}),
        ("search", {"cursor": "９"}),
        ("search", {"pattern": "("}),
        ("search", {"since": "yesterday"}),
        ("context", {"source": "", "line": 1}),
        ("context", {"source": "{log}", "line": 10**9}),
        ("histogram", {"bucket": "often"}),
        ("compare", {}),
        ("compare", {"before": "a..b", "after": "c..d"}),
        ("compare", {"baseline": "yesterday"}),
        ("changes", {"level": "loud"}),
        ("entities", {"by": "colour of the moon"}),
        ("follow", {"id": "no such id"}),
        ("overview", {"source": "other.log"}),
    ],
)
async def test_wrong_arguments_say_what_to_do(desk, logs, name: str, arguments: dict) -> None:
    path = logs("small.log", "2026-11-29T10:00:00Z INFO a\n2026-11-29T10:00:01Z ERROR b\n")
    given = {
        key: value.format(log=path) if isinstance(value, str) else value for key, value in arguments.items()
    }
    with pytest.raises(Correctable) as caught:
        await desk.call(desk.ctx([path]), name, **given)
    assert caught.value.next_step


async def test_a_parameter_with_one_value_only_is_told(desk, logs) -> None:
    rows = [
        f"2026-11-29T10:{n:02d}:00Z WARN disk of node-7 is full, try {'abcdefgh'[n % 8]}{n}x"
        for n in range(40)
    ]
    answer = await desk.call(desk.ctx([logs("disk.log", "\n".join(rows))]), "templates")
    notes = [p["note"] for row in answer["templates"] for p in row.get("parameters", [])]
    assert "one value only: node-7" in notes
