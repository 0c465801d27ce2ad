"""The command `nightdesk artifacts`: what is kept of what runs have read, how big it is, and what may go."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from coordinator.retention import Holding, Swept

_STEP = 1024


@screen.answering
def artifacts(
    *,
    sweep: Annotated[bool, typer.Option("--sweep", help="Remove now what tonight would remove.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only say what would go (so it is without --sweep).")
    ] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Say how much is kept of what runs have read, for how long, and what would go tonight.

    Example: nightdesk artifacts --sweep --dry-run
    """
    from coordinator import retention
    from coordinator.cli import history
    from coordinator.cli.connection import read_settings
    from kernel.artifacts import ArtifactStore
    from kernel.clock import now

    settings, moment = read_settings(data_dir), now()
    store = ArtifactStore(settings.artifacts, max_bytes=settings.artifact_max_bytes)
    days = settings.artifact_days
    with history.reading(settings) as session:
        found = retention.held(session, store, days=days, moment=moment)
        last = retention.last_sweep(store)
    swept = retention.sweep(store, found.due, days=days, moment=moment) if sweep and not dry_run else None
    if as_json:
        kept = {"folder": settings.artifacts, "days": days, "files": found.files, "bytes": found.bytes}
        due = {"files": len(found.due), "bytes": found.due_bytes}
        done = {"swept": {"files": swept.files, "bytes": swept.bytes, "left": swept.left}} if swept else {}
        screen.print_json({**kept, "due": due, "last_sweep": last, **done})
        return
    told = f"kept {days} days after a run's end" if days else "kept for good (NIGHTDESK_ARTIFACT_DAYS=0)"
    lines = [f"{files(found.files)}, {size(found.bytes)} in {settings.artifacts}; {told}"]
    lines += _removed(swept) if swept is not None else _due(found, last)
    screen.out().print("\n".join(lines), markup=False, soft_wrap=True)


def _removed(swept: Swept) -> list[str]:
    left = f"; {swept.left:,} are left for the next time" if swept.left else ""
    return [f"removed {files(swept.files)}, {size(swept.bytes)}{left}"]


def _due(found: Holding, last: dict[str, Any] | None) -> list[str]:
    lines = [f"tonight would go: {files(len(found.due))}, {size(found.due_bytes)}"]
    if last:
        lines.append(f"last sweep: {last['at'][:10]}, {files(last['files'])}, {size(last['bytes'])}")
    return lines


def files(count: int) -> str:
    """Return how many files, as people say it."""
    return "1 file" if count == 1 else f"{count:,} files"


def size(count: int) -> str:
    """Return bytes as people read them."""
    told = float(count)
    for unit in ("bytes", "kB", "MB", "GB"):
        if told < _STEP:
            return f"{told:,.0f} {unit}" if unit == "bytes" else f"{told:,.1f} {unit}"
        told /= _STEP
    return f"{told:,.1f} TB"
