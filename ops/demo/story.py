"""One incident of the demo: the service breaks, the desk finds out why, a person agrees, it is mended and told."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from celery.result import AsyncResult

from ops.demo import proof
from ops.demo.load import Load
from ops.demo.restart import deploy, is_healthy, wait_until
from ops.demo.stage import Stage

QUESTION = "why does checkout return 503?"
#: Requests that succeed before the deploy, so that the log has a "before".
BASELINE_REQUESTS = 120
BREAK_SECONDS, RUN_SECONDS, NOTICE_SECONDS, LEARN_SECONDS = 15.0, 60.0, 5.0, 15.0
#: How long a person may take: the approval's own time to live.
PERSON_SECONDS = 900.0
WATCH_SECONDS, GLANCE_SECONDS = 5.0, 1.5
_ENDED = ("SUCCESS", "succeeded", "failed", "cancelled", "expired", "FAILURE")


class DemoFailedError(Exception):
    """The story did not come out as told."""


@dataclass(frozen=True)
class Incident:
    """What one incident left."""

    run_id: str
    report: dict[str, Any]
    learned: frozenset[str]


class Story:
    """Tells incidents on a stage; `decide` answers an approval: None leaves it to somebody else."""

    def __init__(
        self, stage: Stage, say: Callable[[str], None], decide: Callable[[dict[str, Any]], bool | None]
    ) -> None:
        self._stage = stage
        self._say = say
        self._decide = decide
        self._shown = False

    def tell(self, number: int) -> Incident:
        """Break the service and see the run through; raise DemoFailedError where anything is not as it should be."""
        stage = self._stage
        with Load(stage.start_service(number).port) as load:
            self._break(load)
            result = stage.desk.submit(QUESTION, [str(stage.log(number))])
            self._say(f'submitted "{QUESTION}" with plain celery: run {result.id}')
            report = self._see_through(result)
            if not self._shown:
                subprocess.run(stage.desk.argv("show", result.id), check=False, stdin=subprocess.DEVNULL)
            self._check(number, result.id, report)
        return Incident(result.id, report, self._learned(result.id))

    def _break(self, load: Load) -> None:
        place = self._stage.place
        if not load.wait_for(lambda seen: seen[200] >= BASELINE_REQUESTS, BREAK_SECONDS):
            raise DemoFailedError(f"the healthy service did not serve: {dict(load.seen)}")
        if not wait_until(lambda: is_healthy(place), BREAK_SECONDS):
            raise DemoFailedError("the healthy service is not healthy")
        self._say(
            f"checkout serves: {load.seen[200]} orders taken, none failed; now the bad deploy: pool_size=2"
        )
        deploy(place, place.config("bad"))
        if not wait_until(lambda: not is_healthy(place), BREAK_SECONDS):
            raise DemoFailedError("the bad deploy did not break the service")
        self._say(f"checkout fails: {load.seen[503]} orders got 503, /healthz says 503")

    def _see_through(self, result: AsyncResult[dict[str, Any]]) -> dict[str, Any]:
        if not wait_until(lambda: result.state != "PENDING", RUN_SECONDS):
            raise DemoFailedError(f"no coordinator took run {result.id}")
        with self._watching(result):
            reached = self._await(result, "waiting", RUN_SECONDS)
        if reached == "waiting":
            seconds = RUN_SECONDS if self._approve(result.id) else PERSON_SECONDS
            with self._watching(result):
                self._await(result, "", seconds)
        report = result.get(timeout=RUN_SECONDS)
        if report["state"] != "succeeded":
            raise DemoFailedError(f"run {result.id} {report['state']}: {report['reason']}")
        return report

    @contextmanager
    def _watching(self, result: AsyncResult[dict[str, Any]]) -> Iterator[None]:
        """Show the live tree on our own output meanwhile; it resumes where it was left."""
        sys.stdout.flush()
        watch = subprocess.Popen(self._stage.desk.argv("watch", result.id), stdin=subprocess.DEVNULL)
        try:
            yield
        finally:
            # on a terminal it stays while a person is awaited, and the question needs the screen
            stays = str(result.state) == "waiting" and sys.stdout.isatty()
            try:
                self._shown = watch.wait(GLANCE_SECONDS if stays else WATCH_SECONDS) == 0
            except subprocess.TimeoutExpired:
                self._shown = False
                watch.send_signal(signal.SIGINT)  # as Ctrl-C would: it puts the terminal in order
                watch.wait()

    def _await(self, result: AsyncResult[dict[str, Any]], state: str, seconds: float) -> str:
        """Wait until the run has ended or stands in `state`; return the state it has then."""
        if not wait_until(lambda: result.state in (state, *_ENDED), seconds):
            raise DemoFailedError(f"run {result.id} is still {result.state} after {seconds:.0f} s")
        return str(result.state)

    def _approve(self, run_id: str) -> bool:
        """Show the approval and answer it; False leaves it to somebody else."""
        seen = self._stage.desk.ask("watch", run_id, "--after", "0")["events"]
        approval = next(event for event in reversed(seen) if event["type"] == "approval_requested")
        self._say(f"approval needed: {approval['tool']}, risk {approval['risk']}")
        self._say(f"  argv   {json.dumps(approval['argv'])}")
        self._say(f"  digest {approval['digest']}")
        answer = self._decide(approval)
        if answer is None:
            command = self._stage.desk.argv("approve", run_id, approval["call_id"])
            self._say(f"waiting for a person; approve with: {shlex.join(command)}")
        elif answer:
            self._stage.desk.ask("approve", run_id, approval["call_id"])
            self._say("approved")
        else:
            self._stage.desk.ask(
                "deny", run_id, approval["call_id"], "--reason", "denied at the demo's prompt"
            )
            raise DemoFailedError("the action was denied, so nothing was mended")
        return answer is not None

    def _check(self, number: int, run_id: str, report: dict[str, Any]) -> None:
        path = self._stage.log(number)
        lines = path.read_text(encoding="utf-8").splitlines()
        problems = proof.unproven(report, str(path), lines)
        cause = proof.find_cause(report)
        if cause is None:
            problems.append("no finding proves the exhausted pool")
        elif cause.first_line != proof.true_first(lines):
            problems.append(
                f"the pool was exhausted first in line {proof.true_first(lines)}, not {cause.first_line}"
            )
        problems += proof.action_problems(report)
        wait_until(lambda: any(run_id in m["body"] for m in self._stage.received()), NOTICE_SECONDS)
        problems += proof.notice_problems(report, self._stage.received(), run_id)
        if not is_healthy(self._stage.place):
            problems.append("/healthz is still not good")
        if problems:
            raise DemoFailedError("; ".join(problems))
        self._say(f"cause: {cause}")
        self._say(
            f"checked: each quote stands in {path.name}, the action is done, /healthz is good, the webhook came"
        )

    def _learned(self, run_id: str) -> frozenset[str]:
        """Wait until the memory service has learned from the run, and return the ids."""
        found: set[str] = set()

        def learned() -> bool:
            known = self._stage.desk.ask("memory", "list")["memories"]
            found.update(memory["id"] for memory in known if run_id in json.dumps(memory))
            return bool(found)

        if not wait_until(learned, LEARN_SECONDS):
            raise DemoFailedError(f"nothing was learned from run {run_id} within {LEARN_SECONDS:.0f} s")
        self._say(f"learned: memory {', '.join(sorted(found))}")
        return frozenset(found)
