"""The alarms' bench: lines of a labelled log, and ranks of the faulty service in minutes of injected faults."""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.alarms import alarms
from agents.log_analysis.judging.services import rank_services, row_side
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.summary import summarise
from agents.log_analysis.sources.files import LogFile
from ops.bench.machine import describe

_ROOT = Path(__file__).parents[2]
_DATA = _ROOT.parent / "shared" / "data"
#: More than any set that is measured; the product's limit guards a worker, and this is no worker.
_MAX_BYTES = 8 << 30
#: `fault_2023-01-29_09_34_log.csv.gz`: a minute of faults. A pod's name without what Kubernetes adds.
_MINUTE = re.compile(r"^fault_(\d{4}-\d\d-\d\d)_(\d\d)_(\d\d)_log\.csv(?:\.gz)?$")
_POD = re.compile(r"-[0-9a-f]{6,10}-[a-z0-9]{5}$")
#: The fault is right where its service is among so many.
TOP = 3


@dataclass
class Confusion:
    """Lines by verdict and label; `templates` are rows of (template, alarm, level, lines, labelled, against)."""

    hits: int = 0
    false: int = 0
    missed: int = 0
    lines: int = 0
    templates: list[dict[str, Any]] = field(default_factory=list)

    @property
    def scores(self) -> dict[str, float]:
        """Return precision, recall and F1."""
        precision = self.hits / max(1, self.hits + self.false)
        recall = self.hits / max(1, self.hits + self.missed)
        f1 = 2 * precision * recall / max(1e-9, precision + recall)
        return {"precision": round(precision, 3), "recall": round(recall, 3), "f1": round(f1, 3)}


def read(*paths: Path) -> Scan:
    """Return a scan of files in a scratch folder that is gone with the process."""
    scan = Scan(Path(tempfile.gettempdir()), _MAX_BYTES)
    scan.read([LogFile(name=path.name, path=path) for path in paths])
    return scan


def strip_labels(path: Path, target: Path) -> list[bool]:
    """Write a log without its first column and return which lines that column labels (`-` is normal)."""
    labels = []
    with path.open("rb") as source, target.open("wb") as out:
        for line in source:
            label, _, rest = line.partition(b" ")
            labels.append(label != b"-")
            out.write(rest)
    return labels


def alarmed(scan: Scan) -> set[int]:
    """Return the lines of a scan's events that are alarms."""
    raised = {a.template for a in alarms(scan, summarise(scan)) if a.raised}
    return {row.line for row in scan.table if scan.miner.final(row.template) in raised}


def confusion(path: Path) -> tuple[Confusion, Confusion]:
    """Return what our alarms and the level alone make of a labelled log; the label column is never read by either."""
    with tempfile.TemporaryDirectory() as folder:
        bare = Path(folder) / "bare.log"
        labels = strip_labels(path, bare)
        scan = read(bare)
        lines = alarmed(scan)
        verdicts = {a.template: a for a in alarms(scan, summarise(scan))}
        ours, level = Confusion(), Confusion()
        per: dict[int, list[int]] = {}
        for row in scan.table:
            label = labels[row.line - 1]
            _count(ours, alarm=row.line in lines, label=label)
            _count(level, alarm=row.level >= Level.fatal, label=label)
            per.setdefault(scan.miner.final(row.template), [0, 0])[label] += 1
        for template, (normal, labelled) in per.items():
            verdict = verdicts.get(template)
            if verdict is None and not labelled:
                continue
            ours.templates.append(
                {
                    "template": scan.miner.templates[template].text()[:100],
                    "alarm": bool(verdict and verdict.raised),
                    "level": verdict.level.name if verdict else "",
                    "lines": normal + labelled,
                    "labelled": labelled,
                    "against": list(verdict.against) if verdict else [],
                }
            )
        return ours, level


def _count(found: Confusion, *, alarm: bool, label: bool) -> None:
    found.lines += 1
    found.hits += alarm and label
    found.false += alarm and not label
    found.missed += label and not alarm


def minutes(folder: Path) -> list[dict[str, Any]]:
    """Return for each minute of faults what was injected, and where its service ranks against the fault-free window."""
    free = next(iter(sorted(folder.glob("fault_free_*"))), None)
    if free is None:
        return []
    rows = []
    for path in sorted(folder.iterdir()):
        if found := _MINUTE.match(path.name):
            scan = read(free, path)
            ranked = rank_services(scan, row_side({0}, {1}))
            names = [scan.services[s.service] for s in ranked]
            fault = _fault(folder, found[1], f"{found[2]}:{found[3]}")
            service = _POD.sub("", fault["inject_pod"]) if fault else ""
            rows.append(
                {
                    "minute": f"{found[1]} {found[2]}:{found[3]}",
                    "injected": f"{service} {fault['inject_type']} at {fault['inject_time']}"
                    if fault
                    else "",
                    "rank": names.index(service) + 1 if service in names else 0,
                    "ranked": [
                        {"service": n, "score": round(s.score, 1), "reasons": [r for r, _ in s.reasons[:3]]}
                        for n, s in zip(names, ranked, strict=True)
                    ][:5],
                }
            )
    return rows


def _fault(folder: Path, day: str, minute: str) -> dict[str, str] | None:
    """Return the last fault injected up to the end of a minute, as the list of the day names it."""
    listed = folder / f"{day}-fault_list.json"
    if not listed.exists():
        return None
    faults = [f for hour in json.loads(listed.read_text(encoding="utf-8")).values() for f in hour]
    before = [f for f in faults if f["inject_time"] <= f"{day} {minute}:59"]
    return max(before, key=lambda f: f["inject_time"], default=None)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and print; 2 where the folder is missing, 1 where it holds neither labels nor minutes of faults."""
    parser = argparse.ArgumentParser(description="measure alarms on a labelled log and on minutes of faults")
    parser.add_argument("data", type=Path, nargs="?", default=_DATA, help="folder with loghub_2k and nezha")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args(argv)
    if not options.data.is_dir():
        print(
            f"bench-alarms: {options.data} is no folder; give DATA=path of the data folder", file=sys.stderr
        )
        return 2
    found: dict[str, Any] = {"machine": describe(), "labelled": {}, "minutes": []}
    labelled = options.data / "loghub_2k" / "BGL" / "BGL_2k.log"
    if labelled.exists():
        ours, level = confusion(labelled)
        found["labelled"] = {
            "lines": ours.lines,
            "ours": ours.scores | {"hits": ours.hits, "false": ours.false, "missed": ours.missed},
            "level alone": level.scores,
            "templates": sorted(ours.templates, key=lambda row: -row["lines"]),
        }
    if (options.data / "nezha").is_dir():
        found["minutes"] = minutes(options.data / "nezha")
    if not found["labelled"] and not found["minutes"]:
        print(f"bench-alarms: failed: nothing to measure in {options.data}", file=sys.stderr)
        return 1
    print(json.dumps(found, ensure_ascii=False, indent=2) if options.json else render(found))
    return 0


def render(found: dict[str, Any]) -> str:
    """Return the tables as text."""
    lines = []
    if one := found["labelled"]:
        lines += [
            f"labelled lines: {one['lines']}",
            f"  ours         {one['ours']}",
            f"  level alone  {one['level alone']}",
        ]
        lines += [_row(row) for row in one["templates"]]
    for row in found["minutes"]:
        lines.append(
            f"minute {row['minute']}: injected {row['injected'] or '-'}: rank {row['rank'] or 'none'}"
        )
        lines += [
            f"  {n}. {s['service']} {s['score']}: {'; '.join(s['reasons'])}"
            for n, s in enumerate(row["ranked"], 1)
        ]
    return "\n".join(lines)


def _row(row: dict[str, Any]) -> str:
    verdict = "ALARM" if row["alarm"] else "-"
    why = f"  <- {'; '.join(row['against'])}" if row["against"] else ""
    return f"  {verdict:5} {row['lines']:5} lines {row['labelled']:5} labelled  {row['level']:7} {row['template']}{why}"


if __name__ == "__main__":
    sys.exit(main())
