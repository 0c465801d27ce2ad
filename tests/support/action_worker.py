"""A worker process on a little desk's folder, for tests that kill it: one action, which lingers the first time.

`python -m tests.support.action_worker FOLDER REDIS_URL [LABEL]` takes the assignment of `run-1`; at the fault point
LABEL it kills itself.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import time
from pathlib import Path

from agents.action_execution.tools import build_tools
from agents.runtime.approvals import ApprovalPolicy
from agents.runtime.spec import AgentSpec, CallRequest
from kernel import faults
from kernel.settings import Settings
from tests.support.little_desk import Desk, make_settings, script, spec

ASSIGNMENTS = "[{key: job, agent: worker, goal: do it}]"

#: Looks at a child in a row that find it waiting, before it counts as waiting for us.
_CALM_LOOKS = 15

#: The first use leaves a child in its group that TERM does not reach, tells both pids, and never ends. Every
#: other use tells which of them still live, and ends.
PROGRAM = """
import os, pathlib, signal, subprocess, sys
mode, folder = sys.argv[1], pathlib.Path(sys.argv[2])
if mode == "cannot_tell":
    sys.exit(9)
def lives(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
pids = folder / "pids"
with (folder / "uses").open("a") as uses:
    uses.write("x")
if mode == "once":
    sys.exit(0)
if pids.exists():
    beside = [pid for pid in map(int, pids.read_text().split()) if lives(pid)]
    (folder / "again").write_text(f"{beside}\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen(["/bin/sleep", "300"])
signal.signal(signal.SIGTERM, signal.SIG_DFL)
(folder / "told").write_text(f"{os.getpid()} {child.pid}\\n")
(folder / "told").rename(pids)
signal.pause()
"""


def write_action(folder: Path, mode: str, effect: str) -> None:
    """Put a catalogue with the one action `act` into a desk's folder."""
    actions = folder / "actions"
    actions.mkdir()
    (actions / "program.py").write_text(PROGRAM, encoding="utf-8")
    argv = ["{python}", "-I", "{actions_dir}/program.py"]
    action = {
        "name": "act",
        "description": "A tested action.",
        "argv": [*argv, mode, str(folder)],
        "effect": effect,
        "risk": "low",
        "examples": {"accept": [{}]},
    }
    if effect == "probe":
        action["probe"] = {"argv": [*argv, "cannot_tell", str(folder)], "happened": 0, "not_happened": 1}
    (actions / "tested.yaml").write_text(json.dumps({"actions": [action]}), encoding="utf-8")


def agent(folder: Path) -> AgentSpec:
    """Return the agent that makes the one call."""
    tools = build_tools(Settings(actions_dir=folder / "actions"))
    allowed = ApprovalPolicy(allow=["act"])
    return spec("worker", script([CallRequest(tool="act")], "ok"), *tools, policy=lambda _: allowed)


def make_desk(folder: Path, redis_url: str) -> Desk:
    """Return the desk of a folder; every process makes its own."""
    return Desk(make_settings(folder, redis_url, assignments=ASSIGNMENTS), [agent(folder)])


async def _work(folder: Path, redis_url: str) -> None:
    desk = make_desk(folder, redis_url)
    await desk.workers[0].work("run-1:job", lambda _line: None)
    await desk.close()


def _strike(label: str) -> None:
    """Die at the label, but not before our child has come as far as it can: it waits, or it has ended."""
    if label != sys.argv[3]:
        return
    looks = 0
    while looks < _CALM_LOOKS:
        looks = looks + 1 if all(state in "SZ" for state in _states_of_children()) else 0
        time.sleep(0.03)
    os.kill(os.getpid(), signal.SIGKILL)


def _states_of_children() -> list[str]:
    lines = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            lines.append(path.read_text(errors="replace").rpartition(")")[2].split())
        except OSError:
            continue  # it has ended meanwhile
    return [state for state, parent, *_ in lines if int(parent) == os.getpid()]


if __name__ == "__main__":
    if len(sys.argv) > 3:
        faults.arm(_strike)
    asyncio.run(_work(Path(sys.argv[1]), sys.argv[2]))
