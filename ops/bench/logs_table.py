"""The figures of the template miner's bench as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COLUMNS = ("ga", "fga", "pa", "fta", "pa_exact", "fta_exact")
#: What the plan asks of ours; shown beside the mean.
AIMS = {"ga": 0.92, "fga": 0.85, "fta": 0.50, "lowest_ga": 0.60, "ratio_to_generic": 2.0}


def render(found: Mapping[str, Any]) -> str:
    """Return the figures as text."""
    machine, parsers = found["machine"], found["parsers"]
    lines = [
        f"Templates: {found['lines']:,} lines of {found['sets']} sets, one configuration of ours for all.",
        (
            f"Machine: {machine['cores']} cores, load {machine['load_1m']} before and {found['load_after']} after, "
            f"{machine['system']}, Python {machine['python']}. Lines/s are per CPU second of one process."
        ),
        "PA and FTA after the public post-processing of both sides; 'exact' compares the texts as they are.",
    ]
    for name, one in parsers.items():
        lines += ["", *_table(name, one)]
    ours = parsers["ours"]
    lines += [
        "",
        *(
            f"- mean {key.upper()}: {ours['mean'][key]:.3f} (aim: {AIMS[key]:.2f})"
            for key in ("ga", "fga", "fta")
        ),
        f"- lowest GA: {ours['lowest_ga']:.3f} (aim: {AIMS['lowest_ga']:.2f})",
        (
            f"- lines/s, ours to drain3 generic: {found['ratio_to_generic']} "
            f"(aim: {AIMS['ratio_to_generic']:g}); to drain3 published: {found['ratio_to_published']}"
        ),
    ]
    return "\n".join(lines)


def _table(name: str, one: Mapping[str, Any]) -> list[str]:
    head = " | ".join(column.replace("_", " ").upper() for column in _COLUMNS)
    rows = [
        f"| {name} | {head} | templates | true | lines/s |",
        f"| --- | {' | '.join('---:' for _ in _COLUMNS)} | ---: | ---: | ---: |",
    ]
    for label, row in [*one["rows"].items(), ("**mean**", one["mean"])]:
        figures = " | ".join(f"{row[column]:.3f}" for column in _COLUMNS)
        counts = f"{row['templates']:g} | {row['true_templates']:g} | {row['lines_per_second']:,}"
        rows.append(f"| {label} | {figures} | {counts} |")
    rows.append(
        f"\nPeak memory of {name}: {one['peak_rss_mb']} MB, {one['rss_before_mb']} MB before it began."
    )
    return rows
