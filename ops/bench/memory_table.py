"""The figures of the memory's bench as text, their aims, and their place in docs/performance.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- bench-memory: begin -->", "<!-- bench-memory: end -->"
#: The aims of the issue, which are for these sizes; at others there is nothing to meet.
_RECALL_AT, _RECALL_MS = 50_000, 15.0
_NIGHT_AT, _NIGHT_SECONDS, _NIGHT_MB = 1_000_000, 2.0, 100.0
_RETIER_SHARE = 0.6


def empty(found: Mapping[str, Any]) -> list[str]:
    """Return the parts that measured nothing."""
    named = [name for name in ("recall", "ingest", "night") if name in found]
    counts = {
        "recall": lambda rows: rows and all(row["questions"] for row in rows),
        "ingest": lambda rows: rows and all(row["rows"] for row in rows),
        "night": lambda night: night["night"]["moved"] and night["retier"]["moved"],
    }
    return [name for name in named if not counts[name](found[name])] or ([] if named else ["everything"])


def aims(found: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return each aim with what was measured and whether it is met."""
    told = [
        _aim(f"recall p95 at {_RECALL_AT:,} without embedding, ms", row["p95_ms"], below=_RECALL_MS)
        for row in found.get("recall", [])
        if (row["what"], row["memories"]) == ("recall", _RECALL_AT)
    ]
    part = found.get("night")
    if part and part["memories"] == _NIGHT_AT:
        night = part["night"]
        told.append(
            _aim("night over 1,000,000 memories, 5 % due, seconds", night["seconds"], below=_NIGHT_SECONDS)
        )
        told.append(_aim("extra memory of the night, MB", night["extra_mb"], below=_NIGHT_MB))
        told.append(
            _aim("re-tier of all, share of the plain UPDATE", part["retier_share"], least=_RETIER_SHARE)
        )
    return told


def _aim(
    what: str, value: float, *, below: float | None = None, least: float | None = None
) -> dict[str, Any]:
    met = value < below if below is not None else value >= (least or 0.0)
    words = f"under {below:g}" if below is not None else f"at least {least:g}"
    return {"what": what, "value": value, "aim": words, "met": met}


def render(found: Mapping[str, Any]) -> str:
    """Return the figures as Markdown."""
    machine = found["machine"]
    kind = f"{machine['system']}, Python {machine['python']}"
    load = f"load {machine['load_1m']} before and {machine['load_1m_after']} after"
    lines = [f"Machine: {machine['cores']} cores, {load}, {kind}."]
    lines += ["", *_recall(found["recall"])] if "recall" in found else []
    lines += ["", *_ingest(found["ingest"])] if "ingest" in found else []
    lines += ["", *_night(found["night"])] if "night" in found else []
    told = [
        f"- {'met' if a['met'] else 'missed'}: {a['what']}: {a['value']:g} (aim: {a['aim']})"
        for a in found["aims"]
    ]
    return "\n".join([*lines, "", *told] if told else lines)


def _recall(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    own = {row["memories"]: row for row in rows if row["what"] == "recall"}
    lines = [
        "| recall | memories | questions | p50 ms | p95 ms | CPU ms | p50, times recall's | MB of the process |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        ratio = row["p50_ms"] / own[row["memories"]]["p50_ms"]
        cells = [
            row["what"],
            f"{row['memories']:,}",
            row["questions"],
            row["p50_ms"],
            row["p95_ms"],
            row["cpu_ms"],
            "" if row["what"] == "recall" else f"{ratio:.2f}",
            row.get("rss_mb", ""),
        ]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return lines


def _ingest(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = ["| memories in | rows | seconds | rows/s | CPU ms a row | of it writing | of it the relay |"]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in rows:
        parts = f"{row.get('write_rows_s', '')} | {row.get('relay_rows_s', '')}"
        figures = f"{row['rows']:,} | {row['seconds']} | {row['rows_s']:,} | {row['cpu_ms']}"
        lines.append(f"| {row['what']} | {figures} | {parts} |")
    return lines


def _night(found: Mapping[str, Any]) -> list[str]:
    lines = [
        f"| {found['memories']:,} memories | rows moved | archived | seconds | rows/s | CPU s | extra MB |"
    ]
    lines.append("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    named = {"night": "the night", "retier": "re-tier of all", "update": "plain UPDATE of the same rows"}
    for name, what in named.items():
        row = found[name]
        rest = " | ".join(str(row.get(key, "")) for key in ("cpu_seconds", "extra_mb"))
        cells = (
            f"{row['moved']:,} | {row.get('archived', '')} | {row['seconds']} | {row['rows_s']:,} | {rest}"
        )
        lines.append(f"| {what} | {cells} |")
    return lines


def write(path: Path, found: Mapping[str, Any]) -> None:
    """Put the figures between the marks of the page; the words around them stay."""
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        text = f"{text.rstrip()}\n\n## Memory\n\n{BEGIN}\n{END}\n"
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    path.write_text(f"{before}{BEGIN}\n\n{render(found)}\n\n{END}{after}", encoding="utf-8")
