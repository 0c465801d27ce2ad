"""The bench's figures as text, pure but for the one file it may write: docs/performance.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ops.bench.measure import Row

BEGIN, END = "<!-- bench: begin -->", "<!-- bench: end -->"
_AIMS = {"ratio": 3.0, "memory_mb": 900.0, "up_seconds": 12.0}
_HEAD = f"""# Performance

What a run costs, measured by `make bench` (`ops/bench/run.py --write` rewrites the figures below). A run here is one
assignment of a routine with one tool that does nothing; beside it stands a raw Celery chain of the same number of
messages on the same redis, measured in the same command.

{BEGIN}
{END}
"""


def ratios(rows: Sequence[Row]) -> dict[str, float]:
    """Return how many times longer the desk takes: by p50 in sequence, by throughput with several clients."""
    found = {}
    for raw, desk in zip(rows[::2], rows[1::2], strict=True):
        if raw.clients == 1:
            found["sequential_p50"] = round(desk.p50_ms / raw.p50_ms, 2)
        else:
            found["concurrent_throughput"] = round(raw.runs_per_second / desk.runs_per_second, 2)
            if raw.cpu_ms:
                found["concurrent_cpu"] = round(desk.cpu_ms / raw.cpu_ms, 2)
    return found


def render(found: Mapping[str, Any]) -> str:
    """Return the figures as Markdown."""
    machine, up = found["machine"], found["up_seconds"]
    kind = f"{machine['system']}, Python {machine['python']}"
    aims = {name: f"(aim: at most {value:g})" for name, value in _AIMS.items()}
    command = f"the whole command takes {up['command']} s"
    lines = [
        f"Machine: {machine['cores']} cores, load {machine['load_1m']} before, {kind}.",
        "",
        "| what | clients | runs | runs/s | p50 ms | p95 ms | CPU ms/run |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
        *(
            f"| {row['what']} | {row['clients']} | {row['runs']} | {row['runs_per_second']} | {row['p50_ms']} "
            f"| {row['p95_ms']} | {row['cpu_ms']} |"
            for row in found["rows"]
        ),
        "",
        *(
            f"- ratio, {name.replace('_', ' ')}: {value} {aims['ratio']}"
            for name, value in found["ratio"].items()
        ),
        f"- seconds until the desk is up: {up['ready']} {aims['up_seconds']}; {command}",
        f"- MB of the idle desk, all processes: {found['memory_mb_total']} {aims['memory_mb']}",
        "",
        "| process | MB idle | MB after |",
        "| --- | ---: | ---: |",
        *(
            f"| {name} | {idle} | {found['memory_mb_after'].get(name, '')} |"
            for name, idle in found["memory_mb"].items()
        ),
    ]
    return "\n".join(lines)


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Put the figures between the marks of the page; the words around them stay."""
    text = path.read_text(encoding="utf-8") if path.exists() else _HEAD
    if BEGIN not in text or END not in text:
        text = f"{text.rstrip()}\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"{before}{BEGIN}\n\n{render(found)}\n\n{END}{after}", encoding="utf-8")
