"""The memory's bench: recall, ingest, rebuild and the nightly pass, beside what one compares them with."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from kernel import logs
from kernel.settings import Settings
from ops.bench import memory_ingest, memory_night, memory_recall, memory_table
from ops.bench.machine import describe

ROOT = Path(__file__).resolve().parents[2]
#: What the issue names, and a size at which all of it works within a quarter of a minute.
_FULL: dict[str, Any] = {
    "sizes": (2_000, 20_000, 50_000, 100_000),
    "questions": 200,
    "rows": 1_000,
    "embedded": 100,
    "rebuilt": 20_000,
    "night": 1_000_000,
}
_QUICK: dict[str, Any] = {
    "sizes": (100, 300),
    "questions": 10,
    "rows": 20,
    "embedded": 5,
    "rebuilt": 100,
    "night": 4_000,
}
PARTS = ("recall", "ingest", "night")


def main() -> int:
    """Measure, print, and write where asked; fails where nothing was measured."""
    parser = argparse.ArgumentParser(description="measure the memory service")
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the tables")
    parser.add_argument("--quick", action="store_true", help="small sizes: whether it works, not how fast")
    parser.add_argument("--only", choices=PARTS, action="append", help="measure this part only (repeatable)")
    parser.add_argument("--write", action="store_true", help="put the figures into docs/performance.md")
    options = parser.parse_args()
    logs.configure(Settings(), service="bench")  # to stderr: what is printed is the figures
    with tempfile.TemporaryDirectory(prefix="nightdesk-bench-memory-") as folder:
        found = bench(Path(folder), _QUICK if options.quick else _FULL, options.only or PARTS)
    if empty := memory_table.empty(found):
        print(f"bench-memory: failed: nothing was measured of {', '.join(empty)}", file=sys.stderr)
        return 1
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else memory_table.render(found))
    if options.write:
        memory_table.write(ROOT / "docs" / "performance.md", found)
    return 0


def bench(folder: Path, size: dict[str, Any], parts: list[str] | tuple[str, ...] = PARTS) -> dict[str, Any]:
    """Measure the parts in turn; each leaves nothing behind that the next would feel."""
    found: dict[str, Any] = {"machine": describe()}
    if "recall" in parts:
        found["recall"] = memory_recall.measure(
            folder / "recall", size["sizes"], size["questions"], os.getpid()
        )
    if "ingest" in parts:
        counts = {name: size[name] for name in ("rows", "embedded", "rebuilt")}
        found["ingest"] = memory_ingest.measure(folder / "ingest", **counts)
    if "night" in parts:
        found["night"] = memory_night.measure(folder / "night", size["night"])
    found["machine"]["load_1m_after"] = round(os.getloadavg()[0], 2)
    return found | {"aims": memory_table.aims(found)}


if __name__ == "__main__":
    sys.exit(main())
