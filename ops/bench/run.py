"""The bench: what a run costs beside a raw Celery chain on the same redis; memory and start-up of the desk."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

from celery import Celery

from ops.bench import chain, table
from ops.bench.machine import cpu_seconds, describe, memory_mb
from ops.bench.measure import OneRun, Row, measure
from ops.demo.desk import Desk

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
#: As many clients as keep two cores busy without a queue that only measures itself.
CLIENTS = 8
RESULT_SECONDS = 60.0
#: The options of the desk's own workers (coordinator/cli), so that both sides have the same pool.
WORKER = ("--pool", "threads", "-c", "16", "--without-gossip", "--without-mingle", "-E", "-l", "WARNING")


def main() -> int:
    """Measure, print, and write where asked."""
    parser = argparse.ArgumentParser(description="measure the desk beside a raw Celery chain")
    parser.add_argument(
        "--runs", type=int, default=200, help="runs per concurrent measurement; a third in sequence"
    )
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the table")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/performance.md")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="nightdesk-bench-") as folder:
        found = bench(Path(folder), runs=options.runs, clients=options.clients)
    if not found["rows"] or any(row["runs"] == 0 for row in found["rows"]):
        print("bench: failed: no run was measured", file=sys.stderr)
        return 1
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else table.render(found))
    if options.write:
        table.write(ROOT / "docs" / "performance.md", found)
    return 0


def bench(folder: Path, *, runs: int, clients: int) -> dict[str, Any]:
    """Start a desk with the bench's agent and the raw workers, measure both, and stop everything."""
    machine = describe()
    desk = Desk(folder / "desk", {"PLAYBOOKS_DIR": str(HERE / "playbooks")})
    with ExitStack() as stack:
        stack.callback(desk.down)
        began = time.monotonic()
        ready = desk.up()
        up_seconds = time.monotonic() - began
        memory = memory_of(desk)
        desk.ask("worker", "--agent-folder", str(HERE / "noop"))
        raw_pids = stack.enter_context(raw_workers(folder, ready["broker_url"]))
        pids = pids_of(desk)
        sides = (
            Side("raw chain", raw_run, [*raw_pids, pids["redis"]]),
            Side("desk", desk_run, list(pids.values())),
        )
        rows = measure_both(sides, ready["broker_url"], runs=runs, clients=clients)
        after = memory_of(desk)
    return {
        "machine": machine,
        "up_seconds": {"ready": ready["ready_seconds"], "command": round(up_seconds, 2)},
        "memory_mb": memory,
        "memory_mb_total": round(sum(memory.values()), 1),
        "memory_mb_after": after,
        "rows": [asdict(row) for row in rows],
        "ratio": table.ratios(rows),
    }


@dataclass(frozen=True)
class Side:
    """One of the two that are compared: what makes a run of it, and the processes that work on it."""

    what: str
    client: Callable[[str], OneRun]
    pids: list[int]


def measure_both(sides: Sequence[Side], url: str, *, runs: int, clients: int) -> list[Row]:
    """Warm both up, then measure each in sequence and with several clients."""
    rows = []
    for count, share in ((1, max(runs // 3, 1)), (clients, runs)):
        for side in sides:
            makers = [side.client(url) for _ in range(count)]
            measure(side.what, makers, max(share // 10, count))
            rows.append(measure(side.what, makers, share, cpu=partial(cpu_seconds, side.pids)))
    return rows


def raw_run(url: str) -> OneRun:
    """Return what makes one raw chain, with a client of its own."""
    client = Celery(broker=url, backend=url)

    def one_run() -> None:
        run_id = str(uuid.uuid4())
        sent = client.send_task("bench.hop", args=[0, run_id], queue=chain.HOPS[0], task_id=run_id)
        if sent.get(timeout=RESULT_SECONDS) != {"run_id": run_id}:
            raise RuntimeError("a raw chain came back with another result than its own")

    return one_run


def desk_run(url: str) -> OneRun:
    """Return what makes one run, with a client of its own."""
    client = Celery(broker=url, backend=url)

    def one_run() -> None:
        sent = client.send_task(
            "coordinator.submit", kwargs={"text": "bench", "sources": []}, queue="coordinator"
        )
        report = sent.get(timeout=RESULT_SECONDS)
        if report["state"] != "succeeded" or report["usage"]["calls"] != 1:
            raise RuntimeError(f"a run did not do its one call: {report['state']} {report['reason']}")

    return one_run


def pids_of(desk: Desk) -> dict[str, int]:
    """Return the processes of the desk by name, its supervisor included."""
    status = desk.ask("status")
    pids = {process["name"]: int(process["pid"]) for process in status["processes"] if process["pid"]}
    return pids | {"supervisord": int(status["supervisor_pid"])}


def memory_of(desk: Desk) -> dict[str, float]:
    """Return the memory of each process of the desk."""
    return {name: memory_mb(pid) for name, pid in pids_of(desk).items()}


@contextmanager
def raw_workers(folder: Path, url: str) -> Iterator[list[int]]:
    """Run the workers of the raw chain; yields their pids when all have answered."""
    pids = []
    with ExitStack() as stack:
        for queue in sorted(set(chain.HOPS)):
            argv = [
                sys.executable,
                "-m",
                "celery",
                "-A",
                "ops.bench.chain",
                "-b",
                url,
                "--result-backend",
                url,
            ]
            argv += ["worker", "-Q", queue, "-n", f"{queue}@%h", *WORKER]
            log = stack.enter_context((folder / f"{queue}.log").open("wb"))
            child = stack.enter_context(
                subprocess.Popen(argv, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            )
            stack.callback(child.terminate)
            pids.append(child.pid)
        raw_run(url)()  # goes through all queues, so all are there
        yield pids


if __name__ == "__main__":
    sys.exit(main())
