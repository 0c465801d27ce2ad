"""Takes times: runs in sequence and by several clients at once, over any function that makes one run."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: Makes one run and returns when its result is there.
OneRun = Callable[[], None]


@dataclass(frozen=True)
class Row:
    """What one measurement came to; times in milliseconds.

    `cpu_ms` is the processor time of its workers and of redis per run; other load hardly changes it.
    """

    what: str
    clients: int
    runs: int
    runs_per_second: float
    p50_ms: float
    p95_ms: float
    cpu_ms: float


def percentile(values: Sequence[float], share: float) -> float:
    """Return the value below which `share` of the values lie (nearest rank)."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def measure(
    what: str, clients: Sequence[OneRun], runs: int, *, cpu: Callable[[], float] = lambda: 0.0
) -> Row:
    """Make `runs` runs, shared among the clients, each of which makes one at a time; `cpu` tells seconds spent."""
    took: list[float] = []
    left = iter(range(runs))
    lock = threading.Lock()

    def work(one_run: OneRun) -> None:
        while True:
            with lock:
                if next(left, None) is None:
                    return
            began = time.perf_counter()
            one_run()
            spent = time.perf_counter() - began
            with lock:
                took.append(spent)

    threads = [threading.Thread(target=work, args=(client,)) for client in clients]
    began, spent_before = time.perf_counter(), cpu()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.perf_counter() - began
    if len(took) != runs:
        raise RuntimeError(f"{what}: {len(took)} of {runs} runs came back")
    return Row(
        what=what,
        clients=len(clients),
        runs=runs,
        runs_per_second=round(runs / seconds, 1),
        p50_ms=round(percentile(took, 0.5) * 1000, 1),
        p95_ms=round(percentile(took, 0.95) * 1000, 1),
        cpu_ms=round((cpu() - spent_before) * 1000 / runs, 1),
    )
