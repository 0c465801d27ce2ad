"""A desk that a fault point may kill: real doorways, real SQLite and Redis; driven until its run is at its end.

`python -m tests.support.fault_desk` is a server: it imports everything once, then forks for each line of JSON
`{scenario, folder, redis_url, label, occurrence, kind, worker}` and answers how the fork ended.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import update
from sqlmodel import col, select

from agents import tasks as agent_tasks
from coordinator import tasks as coordinator_tasks
from kernel import faults, logs
from kernel.clock import now
from kernel.ledgers import QuestionRow, WorkingRow
from kernel.model.port import ModelReply, ModelRequest, OnText
from kernel.process import Process
from kernel.records import ApprovalRow, CallRow, RunRow
from kernel.settings import Settings
from kernel.states import RUN_ENDED, ApprovalState, QuestionState, RunState
from kernel.working import REQUEST
from tests.support.fault_books import run_budget, run_letters
from tests.support.fault_memory import STORIES, run_memory
from tests.support.fault_world import World, agents, write_actions
from tests.support.little_desk import Desk, make_settings

RUN, OLD_RUN = "run-1", "run-0"
#: A leader of the loop for a dead worker's lease, and how long a scenario may take on a busy machine.
LEASE_SECONDS = 0.4
GIVE_UP_SECONDS = 120.0
#: Between two looks while nothing is rung and nothing ends: looking without a pause takes the cores from the work.
_PACE_SECONDS = 0.02
STUCK, WRONG = 3, 4

PLAN = "[{key: a, agent: worker, goal: use every effect}]"
DELIVER = """[
  {key: act, agent: action_execution, goal: mark the world, inputs: {action: mark_world, parameters: {}}},
  {key: tell, agent: notification, goal: tell the team, needs: [act]}]"""
TELL = "[{key: tell, agent: notification, goal: tell the team}]"
HANG = """[
  {key: a, agent: hanger, goal: hang}, {key: c, agent: gambler, goal: gamble},
  {key: b, agent: worker, goal: wait, needs: [a]}]"""
BREAK = "[{key: a, agent: breaker, goal: break}, {key: b, agent: ghost, goal: be taken and never heard of}]"


class FaultDesk:
    """One process's share of a desk: what is rung is answered through the tasks' own doorways."""

    def __init__(self, folder: Path, redis_url: str, *, plan: str, worker: str, **settings: Any) -> None:
        made = make_settings(
            folder,
            redis_url,
            assignments=plan,
            lease_seconds=LEASE_SECONDS,
            reconcile_seconds=0.2,
            actions_dir=write_actions(folder),
            **settings,
        )
        self.desk = Desk(made, agents(folder))
        self.desk.workers[0].worker = worker
        self._folder = folder
        self._process = Process("faults")
        app = self.desk.celery
        coordinator_tasks.register(app, self._process, self.desk.coordinator, self.desk.reconciler)
        agent_tasks.register(app, self._process, self.desk.workers[0])
        app.tasks.pop("agents.ghost.work")  # it has a card, and a worker that is never seen again
        self._process.run(self.desk.publish_cards())
        self._pool = ThreadPoolExecutor(8)
        self._answered = threading.Event()

    def submit(self, brain: str = "routine") -> None:
        """Deliver the request, as the queue does again and again until it is acknowledged."""
        if self.run is None:
            self._apply("coordinator.submit", kwargs={"text": "do it", "brain": brain}, task_id=RUN)

    def drive(self, act: Callable[[FaultDesk], None], done: Callable[[FaultDesk], bool]) -> None:
        """Answer bells and let the reconciler look, until done; exit STUCK where that does not come."""
        give_up = time.monotonic() + GIVE_UP_SECONDS
        answering = []
        while not done(self):
            bells, self.desk.rung = self.desk.rung, []
            answering += [self._pool.submit(self._answer, task, subject) for task, subject in set(bells)]
            act(self)
            self._apply("maintenance.reconcile")
            if not self.desk.rung:
                self._answered.wait(_PACE_SECONDS)
            self._answered.clear()
            if time.monotonic() > give_up:
                sys.stderr.write(f"stuck: {self.run!r}\n")
                os._exit(STUCK)
        for answer in answering:
            answer.result()

    def _answer(self, task: str, subject: str) -> None:
        if task in self.desk.celery.tasks:
            self._apply(task, args=[subject])
        self._answered.set()

    def _apply(self, task: str, **call: Any) -> None:
        # eager: the body runs here and a bug stays in its result, as it stays in a worker
        self.desk.celery.tasks[task].apply(**call)

    @property
    def run(self) -> RunRow | None:
        snapshot = self.desk.store.snapshot(RUN)
        return snapshot.run if snapshot else None

    def ended(self) -> bool:
        """Tell whether the run has ended and was published, or its request was refused for good."""
        run = self.run
        if run is None:
            return self.desk.celery.AsyncResult(RUN).state == "SUCCESS"
        return RunState(run.state) in RUN_ENDED and run.published

    def approve_all(self) -> None:
        with self.desk.database.reading() as session:
            waiting = session.exec(
                select(ApprovalRow.call_id).where(col(ApprovalRow.state) == ApprovalState.pending.value)
            ).all()
        for call_id in waiting:
            self._said(self.desk.decisions.decide(RUN, call_id, "approved", by="ann"))

    def cancel(self) -> None:
        self._said(self.desk.decisions.cancel(RUN, by="ann"))

    def questions(self) -> list[str]:
        """Return the calls that people are asked about."""
        with self.desk.database.reading() as session:
            is_open = col(QuestionRow.state) == QuestionState.open.value
            return list(session.exec(select(QuestionRow.call_id).where(is_open)).all())

    def resolve_all(self) -> None:
        """Let a person look at the world and say what is there."""
        for call_id in self.questions():
            with self.desk.database.reading() as session:
                key = session.get_one(CallRow, call_id).key
            happened = World(self._folder).happened(key)
            self._said(
                self.desk.decisions.resolve(RUN, call_id, happened=happened, by="ann", reason="I looked")
            )

    def _said(self, word: Any) -> None:
        """Let a person decide; a command that breaks is said again."""
        try:
            self._process.run(word)
        except Exception:  # noqa: BLE001 whatever it is, a person sees it and says it again
            traceback.print_exc()


def _work(folder: Path, redis_url: str, worker: str) -> None:
    desk = FaultDesk(folder, redis_url, plan=PLAN, worker=worker)
    desk.submit()
    desk.drive(FaultDesk.approve_all, FaultDesk.ended)


def _deliver(folder: Path, redis_url: str, worker: str) -> None:
    desk = FaultDesk(folder, redis_url, plan=DELIVER, worker=worker, notify_channels=["console"])
    desk.submit()
    desk.drive(FaultDesk.approve_all, FaultDesk.ended)


def _cancel(folder: Path, redis_url: str, worker: str) -> None:
    desk = FaultDesk(folder, redis_url, plan=HANG, worker=worker)
    world = folder / "world.txt"

    def act(desk: FaultDesk) -> None:
        desk.approve_all()
        run = desk.run
        both = world.exists() and len(world.read_text().splitlines()) > 1
        if both and run is not None and not run.stop:
            desk.cancel()
        desk.resolve_all()

    desk.submit()
    desk.drive(act, lambda desk: desk.ended() and not desk.questions())


def _old(folder: Path, redis_url: str, worker: str) -> None:
    """Go on with a run that an older version accepted, with a planner whose model answers nonsense."""
    desk = FaultDesk(folder, redis_url, plan=TELL, worker=worker, priority=0, notify_channels=["console"])
    desk.desk.coordinator.planner.model = _Nonsense()
    desk.submit(brain="auto")
    with desk.desk.database.writing("test") as session:
        session.execute(update(RunRow).where(col(RunRow.state) == RunState.accepted.value).values(shape=0))
    desk.drive(FaultDesk.approve_all, FaultDesk.ended)


class _Nonsense:
    """A model that plans nothing."""

    name = "nonsense"

    async def reply(self, _request: ModelRequest, _on_text: OnText) -> ModelReply:
        return ModelReply(text="42")

    async def close(self) -> None:
        """Nothing to close."""


def _expire(folder: Path, redis_url: str, worker: str) -> None:
    desk = FaultDesk(folder, redis_url, plan=PLAN, worker=worker, approval_ttl_seconds=0.05)
    _leave_working_memory(desk)
    desk.submit()
    desk.drive(lambda _: None, FaultDesk.ended)


def _leave_working_memory(desk: FaultDesk) -> None:
    """Leave a run that ended two days ago with its slots, for the reconciler to find."""
    long_ago = now() - timedelta(days=2)
    old = RunRow(id=OLD_RUN, state=RunState.succeeded.value, published=True, ended_at=long_ago)
    with desk.desk.database.writing("test") as session:
        session.merge(old)
        session.merge(WorkingRow(run_id=OLD_RUN, slot="what", value="old", source=REQUEST))


def _give_up(folder: Path, redis_url: str, worker: str) -> None:
    """Run out of attempts: a worker took the assignment and was never seen again."""
    from kernel.lease import claim

    desk = FaultDesk(folder, redis_url, plan=BREAK, worker=worker, attempt_limit=1)

    def act(desk: FaultDesk) -> None:
        claim(desk.desk.database, f"{RUN}:b", worker="lost", seconds=0.0)

    desk.submit()
    desk.drive(act, FaultDesk.ended)


#: The later ones are cheaper: a point that several reach is struck in the last of them.
SCENARIOS: dict[str, Callable[[Path, str, str], None]] = {
    "migrate": _work,
    **{name: partial(run_memory, name) for name in STORIES},
    "letters": run_letters,
    "budget": run_budget,
    "old": _old,
    "deliver": _deliver,
    "cancel": _cancel,
    "give_up": _give_up,
    "expire": _expire,
    "work": _work,
}


class Strike:
    """Counts the labels; at the given occurrence of one it kills the process, or raises, once."""

    def __init__(self, label: str, occurrence: int, kind: str, mark: Path) -> None:
        self._mark = mark
        self.seen: Counter[str] = Counter()
        self._label, self._occurrence, self._kind = label, occurrence, kind

    def __call__(self, label: str) -> None:
        self.seen[label] += 1
        if label == self._label and self.seen[label] == self._occurrence:
            self._mark.touch()
            if self._kind == "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            raise faults.InjectedFault(label)


def _child(order: dict[str, Any]) -> None:
    folder = Path(order["folder"])
    strike = Strike(order["label"], order["occurrence"], order["kind"], folder / "struck")
    faults.arm(strike)
    SCENARIOS[order["scenario"]](folder, order["redis_url"], order["worker"])
    (folder / "seen.json").write_text(json.dumps(strike.seen))


def _fork(order: dict[str, Any]) -> int:
    """Return how the fork ended: 0, an exit code, or minus the signal."""
    pid = os.fork()
    if pid == 0:
        code = WRONG
        try:
            log = os.open(Path(order["folder"]) / "child.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
            os.dup2(log, 1)
            os.dup2(log, 2)
            _child(order)
            code = 0
        except BaseException:  # noqa: BLE001 a fork never returns into the server
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def main() -> None:
    """Answer orders until standard input ends."""
    # as a worker logs: by default structlog draws every local variable of a traceback, which costs more than the run
    logs.configure(Settings(log_format="json"), service="faults")
    for line in sys.stdin:
        sys.stdout.write(f"{_fork(json.loads(line))}\n")
        sys.stdout.flush()


@contextmanager
def fault_server() -> Iterator[Callable[[dict[str, Any]], int]]:
    """Start the server; call it with an order to get the exit code of its fork."""
    import subprocess

    with subprocess.Popen(
        [sys.executable, "-m", "tests.support.fault_desk"],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stdin is not None
        assert server.stdout is not None

        def ask(order: dict[str, Any]) -> int:
            server.stdin.write(json.dumps(order) + "\n")
            server.stdin.flush()
            return int(server.stdout.readline())

        yield ask
        server.stdin.close()


if __name__ == "__main__":
    main()
