"""The demo: two incidents of a real failing service, worked by a real desk; its last line says how it went."""

from __future__ import annotations

import argparse
import fcntl
import json
import shlex
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ops.demo import proof
from ops.demo.desk import DeskError
from ops.demo.restart import NotStartedError
from ops.demo.stage import Stage
from ops.demo.story import DemoFailedError, Story

ROOT = Path(__file__).resolve().parents[2]
INTERRUPTED = 130  # what a shell answers for SIGINT

Say = Callable[[str], None]
Decide = Callable[[dict[str, Any]], bool | None]
FOLDER = ROOT / ".nightdesk" / "demo"


def main() -> int:
    """Run the demo, or with --stop end what --keep left running."""
    parser = argparse.ArgumentParser(description="the Nightdesk demo")
    parser.add_argument("--yes", action="store_true", help="approve the action without asking")
    parser.add_argument(
        "--with-model", action="store_true", help="let the agents use the model that NIGHTDESK_MODEL_* names"
    )
    parser.add_argument("--keep", action="store_true", help="leave desk, service and sink running at the end")
    parser.add_argument("--stop", action="store_true", help="stop what an earlier demo left running, and end")
    options = parser.parse_args()
    began = time.monotonic()

    def say(text: str) -> None:
        print(f"[{time.monotonic() - began:5.1f} s] {text}", flush=True)

    FOLDER.parent.mkdir(exist_ok=True)
    stage = Stage(ROOT, FOLDER, say, with_model=options.with_model)
    with (FOLDER.parent / "demo.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            print("demo: failed another demo is running in this checkout")
            return 1
        if options.stop:
            stage.strike()
            return 0
        return perform(stage, say, decider(yes=options.yes), keep=options.keep)


def perform(stage: Stage, say: Say, decide: Decide, *, keep: bool) -> int:
    """Play both incidents, stop everything, print the last line and return the exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):  # also where a shell started us with SIGINT ignored
        signal.signal(number, signal.default_int_handler)
    began = time.monotonic()
    reports: list[dict[str, Any]] = []
    line, code = "demo: failed by a bug of its own; the traceback says where", 1
    try:
        reports = play(stage, say, decide)
        code = 0
    except (DemoFailedError, DeskError, NotStartedError, OSError) as error:
        line = f"demo: failed {' '.join(str(error).split())}"
    except KeyboardInterrupt:
        line, code = "demo: failed because it was interrupted", INTERRUPTED
    finally:
        if keep:
            say(f"left running; stop it with: {shlex.join([sys.executable, __file__, '--stop'])}")
        else:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing may be left running
            say("stopping the desk, the service and the sink")
            stage.strike()
        print(proof.last_line(time.monotonic() - began, *reports) if reports else line, flush=True)
    return code


def play(stage: Stage, say: Say, decide: Decide) -> list[dict[str, Any]]:
    """Set the stage, tell the same incident twice, and return both reports."""
    say("starting the desk, the checkout service and a webhook sink")
    stage.set()
    say(f"the desk is up after {stage.ready['ready_seconds']:.1f} s; {flower(stage)}")
    story = Story(stage, say, decide)
    say("first incident")
    first = story.tell(1)
    say("second incident: the same deploy again")
    second = story.tell(2)
    reports = [first.report, second.report]
    result = {"runs": reports, "learned": sorted(first.learned), "flower_url": stage.ready["flower_url"]}
    (stage.folder / "result.json").write_text(
        json.dumps(result, ensure_ascii=False, indent=2), encoding="utf-8"
    )
    if problems := proof.recall_problems(first.report, second.report, set(first.learned)):
        raise DemoFailedError("; ".join(problems))
    say(f"the second run cited {', '.join(sorted(first.learned & proof.cited(second.report)))}")
    say(f"both reports are in {stage.folder / 'result.json'}")
    say(flower(stage))
    return reports


def flower(stage: Stage) -> str:
    """Return the line that says where Flower is and how to get in."""
    ready = stage.ready
    return f"Flower: {ready['flower_url']} (user {ready['flower_user']}, password in {ready['flower_password_file']})"


def decider(*, yes: bool) -> Decide:
    """Return who answers an approval: --yes, the person at the terminal, or somebody elsewhere (None)."""

    def decide(_approval: dict[str, Any]) -> bool | None:
        if yes:
            return True
        if not sys.stdin.isatty():
            return None
        return input("approve? [y/N] ").strip().lower() in ("y", "yes")

    return decide


if __name__ == "__main__":
    sys.exit(main())
