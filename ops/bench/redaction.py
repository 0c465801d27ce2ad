"""The redactor's bench: hits by rule on logs that hold no secret, and its speed beside the bare automaton's."""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from kernel.redaction import Redactor, hits
from kernel.redaction_rules import FINDER

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT.parent / "shared" / "data" / "loghub_2k"
#: The fastest pass counts: the others were disturbed.
_PASSES = 3
_EXAMPLES = 3


def measure(folder: Path) -> dict[str, Any]:
    """Return lines, hits by rule with examples, and CPU seconds per 10 MB over the logs of a folder."""
    lines = [line for path in sorted(folder.rglob("*.log")) for line in path.read_bytes().splitlines()]
    if not lines:
        raise SystemExit(f"{folder} holds no .log file")
    found: dict[str, list[str]] = {}
    for line in lines:
        for rule, _, start, end, _ in hits(line):
            found.setdefault(rule, []).append(line[start:end].decode("utf-8", "replace"))
    texts = [line.decode("utf-8", "surrogateescape") for line in lines]
    redactor, megabytes = Redactor(), sum(map(len, lines)) / 1e6
    ours = _seconds(lambda: [redactor.text(text) for text in texts])
    bare = _seconds(lambda: [FINDER.search(line) for line in lines])
    return {
        "lines": len(lines),
        "hits_per_1000_lines": round(sum(map(len, found.values())) / len(lines) * 1000, 3),
        "by_rule": {rule: len(values) for rule, values in sorted(found.items())},
        "examples": {
            rule: [v for v, _ in Counter(values).most_common(_EXAMPLES)] for rule, values in found.items()
        },
        "megabytes_per_second": round(megabytes / ours, 1),
        "automaton_megabytes_per_second": round(megabytes / bare, 1),
    }


def _seconds(work: Callable[[], object]) -> float:
    best = float("inf")
    for _ in range(_PASSES):
        begin = time.process_time()
        work()
        best = min(best, time.process_time() - begin)
    return best


def main() -> None:
    """Print the figures as JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=_DATA, help="a folder with .log files")
    told = measure(parser.parse_args().data)
    json.dump(told, sys.stdout, indent=1, ensure_ascii=False)
    print()


if __name__ == "__main__":
    main()
