"""The figures of a chaos run: percentiles, one table, and the last line."""

from __future__ import annotations

from collections.abc import Sequence

from tests.chaos.checker import Verdict, merge, percentile

_COLUMNS = (
    "scenario",
    "runs",
    "ended",
    "lost",
    "dup",
    "repeat",
    "unknown",
    "effects",
    "kills",
    "term",
    "zombie",
    "redis",
    "s",
    "promises",
)
#: Of broken promises of one scenario that are printed; the evidence holds all.
_SHOWN = 12


def table(verdicts: Sequence[Verdict]) -> str:
    """Return the table, and below it each figure and each broken promise."""
    rows = [_COLUMNS, *(_row(verdict) for verdict in verdicts)]
    widths = [max(len(str(row[at])) for row in rows) for at in range(len(_COLUMNS))]
    lines = [
        "  ".join(str(cell).ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
    for verdict in verdicts:
        lines += [f"  {verdict.scenario}: {text}" for text in _figures(verdict)]
    for verdict in verdicts:
        wrong = [*verdict.lost, *verdict.duplicates, *verdict.broken]
        wrong += [f"unexplained: {row}" for row in verdict.unknown if not row["why"]]
        lines += [f"BROKEN {verdict.scenario}: {text}" for text in wrong[:_SHOWN]]
        lines += [f"BROKEN {verdict.scenario}: and {len(wrong) - _SHOWN} more"] if len(wrong) > _SHOWN else []
    return "\n".join(lines)


def _row(verdict: Verdict) -> tuple[str | int | float, ...]:
    return (
        verdict.scenario,
        verdict.runs,
        verdict.ended,
        len(verdict.lost),
        len(verdict.duplicates),
        verdict.repeats,
        len(verdict.unknown),
        verdict.effects,
        verdict.kills,
        verdict.terms,
        verdict.zombies,
        verdict.redis_restarts,
        verdict.seconds,
        "kept" if verdict.good else "BROKEN",
    )


def _figures(verdict: Verdict) -> list[str]:
    said = (
        [", ".join(f"{state} {n}" for state, n in sorted(verdict.states.items()))] if verdict.states else []
    )
    for name, values, unit, factor in (
        ("recovery", verdict.recovery, "s", 1.0),
        ("cancel to the run's end", verdict.cancel_end, "ms", 1000.0),
        ("cancel to the model's closed socket", verdict.cancel_socket, "ms", 1000.0),
        ("cancel to the end of the process group", verdict.cancel_child, "s", 1.0),
    ):
        if values:
            p50, p95 = (percentile(values, share) * factor for share in (0.5, 0.95))
            said.append(
                f"{name}: n={len(values)} p50={p50:.2f}{unit} p95={p95:.2f}{unit} max={max(values) * factor:.2f}{unit}"
            )
    if verdict.outage_seconds:
        said.append(f"{verdict.outage_seconds} s without SQL, Redis, a coordinator or a reconciler")
    return [*said, *verdict.notes]


def last_line(verdicts: Sequence[Verdict]) -> str:
    """Return the line that scripts read."""
    total = merge(verdicts)
    explained = "each explained" if all(row["why"] for row in total.unknown) else "NOT ALL EXPLAINED"
    # to the model's socket where that was measured, else to the run's end
    cancels = total.cancel_socket or total.cancel_end
    return (
        f"chaos: runs={total.runs} ended={total.ended} lost={len(total.lost)} duplicates={len(total.duplicates)} "
        f"unknown={len(total.unknown)} ({explained}) kills={total.kills} redis_restarts={total.redis_restarts} "
        f"recovery_p95={percentile(total.recovery, 0.95):.1f}s cancel_p95={percentile(cancels, 0.95) * 1000:.0f}ms "
        f"budget_over={total.budget_over}"
    )
