"""The template miner's bench: accuracy and speed on sets in loghub's shape, beside drain3 in the same run."""

from __future__ import annotations

import argparse
import csv
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agents.log_analysis.mining.miner import Miner
from ops.bench import logs_drain
from ops.bench.logs_scores import Scores, corrected, score
from ops.bench.logs_table import render
from ops.bench.machine import describe

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT.parent / "shared" / "data" / "loghub_2k"
#: A set is mined so often and its fastest pass counts: the others were disturbed.
_PASSES = 3


@dataclass(frozen=True)
class LogSet:
    """The messages of a set, without their heads as the public scorers read them, and their true templates."""

    name: str
    messages: list[str]
    truth: list[str]


def ours(messages: Sequence[str], name: str) -> list[str]:
    """Return each message's template by our miner in its only configuration."""
    del name
    miner = Miner()
    found = [miner.add(message) for message in messages]
    miner.settle()
    texts = {one: miner.templates[miner.final(one)].text() for one in set(found)}
    return [texts[one] for one in found]


PARSERS: dict[str, Callable[[Sequence[str], str], list[str]]] = {
    "ours": ours,
    "drain3 published": logs_drain.published,
    "drain3 generic": logs_drain.generic,
}


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 2 where the folder is missing, 1 where it holds no row."""
    parser = argparse.ArgumentParser(description="measure log templates on sets in loghub's shape")
    parser.add_argument("data", type=Path, nargs="?", default=_DATA, help="folder of folders, one a set")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of tables")
    parser.add_argument("--only", action="append", default=[], metavar="SET", help="measure this set alone")
    options = parser.parse_args(argv)
    folder: Path = options.data
    if not folder.is_dir():
        print(f"bench-logs: {folder} is no folder; give DATA=path of loghub_2k's folder", file=sys.stderr)
        return 2
    sets = read(folder, options.only)
    if not sets:
        print(f"bench-logs: failed: no rows of *structured*.csv in {folder}", file=sys.stderr)
        return 1
    found = bench(sets)
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else render(found))
    return 0


def read(folder: Path, only: Sequence[str] = ()) -> list[LogSet]:
    """Read every set that has rows; corrected ground truth goes before the first edition."""
    sets = []
    for place in sorted(path for path in folder.iterdir() if path.is_dir()):
        tables = sorted(place.glob("*structured*.csv"), key=lambda path: "corrected" not in path.name)
        if not tables or (only and place.name not in only):
            continue
        with tables[0].open(encoding="utf-8", errors="replace", newline="") as file:
            rows = [(row["Content"], row["EventTemplate"]) for row in csv.DictReader(file)]
        if rows:
            sets.append(LogSet(place.name, [row[0] for row in rows], [row[1] for row in rows]))
    return sets


def bench(sets: Sequence[LogSet]) -> dict[str, Any]:
    """Run each parser over all sets in a process of its own, so that its memory is its own."""
    found: dict[str, Any] = {
        "machine": describe(),
        "sets": len(sets),
        "lines": sum(len(one.messages) for one in sets),
        "parsers": {},
    }
    for name in PARSERS:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found["parsers"][name] = pool.apply(measure, (name, list(sets)))
    speeds = {name: one["mean"]["lines_per_second"] for name, one in found["parsers"].items()}
    found["ratio_to_generic"] = round(speeds["ours"] / speeds["drain3 generic"], 2)
    found["ratio_to_published"] = round(speeds["ours"] / speeds["drain3 published"], 2)
    found["load_after"] = describe()["load_1m"]
    return found


def measure(name: str, sets: Sequence[LogSet]) -> dict[str, Any]:
    """Return one parser's scores per set and their mean, lines per CPU second, and the process's peak memory."""
    before = _peak_mb()
    rows, seconds = {}, 0.0
    for one in sets:
        spent, texts = min((_timed(PARSERS[name], one) for _ in range(_PASSES)), key=lambda timed: timed[0])
        seconds += spent
        speed = {"lines_per_second": round(len(one.messages) / spent)}
        rows[one.name] = _scores(one.truth, texts) | speed
    mean = {
        key: round(sum(row[key] for row in rows.values()) / len(rows), 4) for key in next(iter(rows.values()))
    }
    lines = sum(len(one.messages) for one in sets)
    return {
        "rows": rows,
        "mean": mean | {"lines_per_second": round(lines / seconds)},
        "lowest_ga": min(row["ga"] for row in rows.values()),
        "peak_rss_mb": _peak_mb(),
        "rss_before_mb": before,
    }


def _timed(parser: Callable[[Sequence[str], str], list[str]], one: LogSet) -> tuple[float, list[str]]:
    began = time.process_time()
    texts = parser(one.messages, one.name)
    return max(time.process_time() - began, 1e-9), texts


def _scores(truth: Sequence[str], texts: Sequence[str]) -> dict[str, float]:
    """Score groups and exact texts as they are, and texts once more after the public post-processing of both sides."""
    exact: Scores = score(truth, texts)
    same = score([corrected(one) for one in truth], [corrected(one) for one in texts])
    figures = asdict(exact) | {"pa": same.pa, "fta": same.fta, "pa_exact": exact.pa, "fta_exact": exact.fta}
    return {key: round(value, 4) for key, value in figures.items()}


def _peak_mb() -> float:
    return round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, 1)


if __name__ == "__main__":
    sys.exit(main())
