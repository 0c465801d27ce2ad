"""The matrix of faults: every fault point of the code, struck by kill -9 and by an exception, and what is wrong then."""

from __future__ import annotations

import ast
import itertools
import json
import re
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from queue import SimpleQueue

import pytest
from redis import Redis
from sqlmodel import select

from kernel.database import Database
from kernel.events import EVENT, Event, ReportReady, ToolCallResult, ToolCallStart
from kernel.ledgers import WorkingRow
from kernel.records import AssignmentRow, CallRow, RunRow
from kernel.schema import migrate
from kernel.states import ASSIGNMENT_ENDED, RUN_ENDED
from tests.support.fault_books import budget_problems, letter_problems
from tests.support.fault_desk import OLD_RUN, RUN, WRONG, fault_server
from tests.support.fault_memory import STORIES, memory_problems
from tests.support.fault_world import World
from tests.support.ram import ram_folder
from tests.support.redis_server import redis_server

ROOT = Path(__file__).parents[2]
PACKAGES = ("kernel", "coordinator", "agents", "memory_service")
#: Calls whose literal argument names a fault point: a commit, a send, a ring or an effect.
NAMING = {"writing", "write", "change_row", "around", "told", "to_thread"}
NAME = re.compile(r"[a-z_]+(\.[a-z_]+)+")
KILLED = -9
#: Databases that Redis has by default: one for each case under way.
_LANES = 2


def names_in(source: str) -> set[str]:
    """Return the names of fault points in a module: dotted literals given to what makes them."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call):
            called = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            literals = [
                a.value for a in node.args if isinstance(a, ast.Constant) and isinstance(a.value, str)
            ]
            if called in NAMING and literals and NAME.fullmatch(literals[0]):
                found.add(literals[0])
    return found


def labels() -> list[str]:
    """Return every fault point of the product."""
    sources = [p for package in PACKAGES for p in (ROOT / package).rglob("*.py")]
    names = set().union(*(names_in(path.read_text(encoding="utf-8")) for path in sources))
    return sorted(f"{name}:{side}" for name in names for side in ("before", "after"))


#: A fault point, and how it is struck.
Case = tuple[str, str]

CASES: list[Case] = [(label, kind) for label in labels() for kind in ("kill", "raise")]
#: Those of the memory have stories of their own, so that both halves can run side by side.
OF_MEMORY = [case for case in CASES if case[0].startswith("memory.")]
OF_RUNS = [case for case in CASES if case not in OF_MEMORY]


@dataclass(frozen=True)
class Verdict:
    """What came of one case: whether the point was struck, and what is wrong afterwards."""

    struck: bool
    problems: list[str]


class Matrix:
    """Runs cases side by side; each has a folder and a Redis database of its own."""

    def __init__(
        self,
        folder: Path,
        redis_url: str,
        stack: ExitStack,
        cases: Collection[Case],
        scenarios: Collection[str],
    ) -> None:
        self._folder = folder
        self._redis_url = redis_url
        self._migrated = folder / "migrated.db"
        template = Database(f"sqlite:///{self._migrated}")
        migrate(template)
        template.close()  # what is still in its WAL would not be copied
        self._lanes: SimpleQueue[int] = SimpleQueue()
        self._ask = [stack.enter_context(fault_server()) for _ in range(_LANES)]
        self._pool = stack.enter_context(ThreadPoolExecutor(_LANES))
        self._numbers = itertools.count()
        for lane in range(_LANES):
            self._lanes.put(lane)
        traced = dict(zip(scenarios, self._pool.map(self._trace, scenarios), strict=True))
        self.reached: dict[str, tuple[str, int]] = {
            label: (scenario, count) for scenario, counts in traced.items() for label, count in counts.items()
        }
        self.verdicts: dict[Case, Future[Verdict]] = {
            case: self._pool.submit(self._case, *case) for case in cases if case[0] in self.reached
        }

    def _trace(self, scenario: str) -> Counter[str]:
        folder, code, _ = self._run(scenario, "", 0, "kill", rescue=False)
        assert code == 0, (folder / "child.log").read_text()[-3000:]
        return Counter(json.loads((folder / "seen.json").read_text()))

    def _case(self, label: str, kind: str) -> Verdict:
        scenario, count = self.reached[label]
        # not always the first time: which one is the label's own, so that a failure repeats
        occurrence = 1 + zlib.crc32(f"{label} {kind}".encode()) % min(count, 6)
        struck, problems = self._struck(scenario, label, occurrence, kind)
        for _ in range(3):  # what is polled for, or comes by the clock, comes more or less often
            if struck or problems:
                break
            struck, problems = self._struck(scenario, label, 1, kind)
        return Verdict(struck, problems)

    def _struck(self, scenario: str, label: str, occurrence: int, kind: str) -> tuple[bool, list[str]]:
        folder, _, problems = self._run(scenario, label, occurrence, kind, rescue=True)
        struck = (folder / "struck").exists()
        if not problems:
            shutil.rmtree(folder)
        return struck, problems

    def _run(
        self, scenario: str, label: str, occurrence: int, kind: str, *, rescue: bool
    ) -> tuple[Path, int, list[str]]:
        lane = self._lanes.get()
        folder = self._folder / f"{next(self._numbers)}-{scenario}-{label.replace(':', '-')}-{kind}"
        folder.mkdir()
        if scenario != "migrate":  # 0.15 s each
            shutil.copy(self._migrated, folder / "nightdesk.db")
        url = f"{self._redis_url.rsplit('/', 1)[0]}/{lane}"
        try:
            with Redis.from_url(url, decode_responses=True) as redis:
                redis.flushdb()
                order = {"scenario": scenario, "folder": str(folder), "redis_url": url, "kind": kind}
                code = self._ask[lane]({**order, "label": label, "occurrence": occurrence, "worker": "w1"})
                last = code
                # an exception outside any task ends the process, as a kill does
                if rescue and code in (KILLED, WRONG):
                    last = self._ask[lane]({**order, "label": "", "occurrence": 0, "worker": "w2"})
                if last:
                    return folder, code, [(folder / "child.log").read_text()[-3000:]]
                return folder, code, PROBLEMS.get(scenario, problems)(folder, redis)
        finally:
            self._lanes.put(lane)


def problems(folder: Path, redis: Redis) -> list[str]:
    """Return which promises are broken after a run was struck and went on."""
    database = Database(f"sqlite:///{folder / 'nightdesk.db'}")
    with database.reading() as session:
        run = session.get(RunRow, RUN)
        calls = session.exec(select(CallRow)).all()
        parts = session.exec(select(AssignmentRow)).all()
        slots = session.exec(select(WorkingRow.slot).where(WorkingRow.run_id == OLD_RUN)).all()
    database.close()
    effects = World(folder).lines()
    if run is None:  # refused for good, and whoever waits was told
        return [f"effects of a refused request: {effects}"] if effects else []
    entries = redis.xrange(f"nightdesk:events:2:{RUN}")
    numbered = [(id_, EVENT.validate_json(fields["event"])) for id_, fields in entries if id_.endswith("-0")]
    return [
        *([] if run.state in RUN_ENDED and run.published else [f"not ended: {run.state}, {run.published}"]),
        *(f"a day old and not forgotten: {slot}" for slot in slots),
        *(f"left {part.state}: {part.id}" for part in parts if part.state not in ASSIGNMENT_ENDED),
        *(f"{count} times: {effect}" for effect, count in Counter(effects).items() if count > 1),
        *_untrue(calls, {key for _, key in effects}),
        *_wrong_ids([id_ for id_, _ in numbered], run.event_seq),
        *_wrong_events([event for _, event in numbered], calls),
        *([] if redis.exists(f"celery-task-meta-{RUN}") else ["no stored result"]),
    ]


def _untrue(calls: list[CallRow], seen: set[str]) -> list[str]:
    """Return calls whose state does not tell what the world saw."""
    ours = [
        call
        for call in calls
        if call.tool in ("order", "turn", "pay", "hang", "gamble", "assure", "mark_world")
    ]
    return [f"said {c.state}, not seen: {c.id}" for c in ours if c.state == "done" and c.key not in seen] + [
        f"seen, said {c.state}: {c.id}" for c in ours if c.key in seen and c.state not in ("done", "unknown")
    ]


def _wrong_ids(ids: list[str], last: int) -> list[str]:
    wanted = [f"{number}-0" for number in range(1, last + 1)]
    return [] if ids == wanted else [f"event ids {ids}, wanted 1 to {last}"]


def _wrong_events(events: list[Event], calls: list[CallRow]) -> list[str]:
    results = Counter(e.call_id for e in events if isinstance(e, ToolCallResult))
    starts = Counter((e.call_id, e.attempt) for e in events if isinstance(e, ToolCallStart))
    reports = [n for n, e in enumerate(events, start=1) if isinstance(e, ReportReady)]
    ended = {call.id for call in calls if call.state in ("done", "failed", "denied")}
    return [
        *(f"{n} results of {call_id}" for call_id, n in results.items() if n > 1),
        *(f"begun twice: {attempt}" for attempt, n in starts.items() if n > 1),
        *(f"no result of {call_id}" for call_id in ended - set(results)),
        *([] if reports == [len(events)] else [f"reports at {reports} of {len(events)}"]),
    ]


#: What is looked at after scenarios that are no runs.
PROBLEMS: dict[str, Callable[[Path, Redis], list[str]]] = {
    **{name: partial(memory_problems, name) for name in STORIES},
    "letters": letter_problems,
    "budget": budget_problems,
}


@contextmanager
def matrix_of(
    request: pytest.FixtureRequest, among: Collection[Case], scenarios: Collection[str]
) -> Iterator[Matrix]:
    """Yield the matrix of those cases that are asked for."""
    asked = {item.name for item in request.session.items}
    cases = [case for case in among if any("-".join(case) in name for name in asked)]
    with ram_folder() as folder, ExitStack() as stack:
        server = stack.enter_context(redis_server(folder / "redis"))
        yield Matrix(folder, server.url, stack, cases, scenarios)


def unreached(matrix: Matrix, among: Collection[Case]) -> list[str]:
    """Return the fault points that no scenario comes to."""
    return sorted({label for label, _ in among if label not in matrix.reached})
