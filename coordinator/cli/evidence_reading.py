"""Reads the lines that prove a run's findings again, now and here, with the lines round each."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kernel.contracts import Evidence, Source
from kernel.errors import NightdeskError

if TYPE_CHECKING:
    from coordinator.cli.logs_reader import Logs, Open
    from kernel.artifacts import ArtifactStore
    from kernel.reports import Report
    from kernel.settings import Settings

#: What became of a line since the run has read it.
STANDS, CHANGED, GONE, OUT_OF_REACH = "stands", "changed", "gone", "not reachable"


def evidence_rows(report: Report) -> list[dict[str, Any]]:
    """Return each line that proves a finding, or speaks against it, with the finding's title."""
    return [
        {"finding": finding.title, "against": against, **proof.model_dump(mode="json")}
        for finding in report.findings
        for against, proofs in ((False, finding.evidence), (True, finding.against))
        for proof in proofs
    ]


def read_again(
    report: Report,
    sources: Sequence[Source],
    *,
    read: Open,
    settings: Settings,
    store: ArtifactStore,
    context: int,
    gone: str = "",
) -> list[dict[str, Any]]:
    """Return the rows of all evidence with `state`, `note` and the lines round each as they are now.

    `gone` says when what the run has read was removed, where it was: then no line that differs is held against it.
    """
    rows = evidence_rows(report)
    if not rows:
        return []
    with ExitStack() as stack:
        logs, why = None, "the run's request names no source"
        try:
            if sources:
                attached = _attached(sources, store, stack)
                salt = report.run_id.encode()
                logs = read(sources, settings=settings, artifacts=attached, salt=salt, run=report.run_id)
        except NightdeskError as error:
            why = error.what + (f": {error.why}" if error.why else "")
        found = [{**row, **_now(row, logs, why, context)} for row in rows]
    removed = {"state": OUT_OF_REACH, "note": gone, "context": []}
    return [{**row, **removed} if gone and row["state"] != STANDS else row for row in found]


def all_stand(rows: Sequence[Mapping[str, Any]]) -> bool:
    """Tell whether each line that was read again still says what was cited; one that cannot be read proves nothing."""
    return all(row["state"] == STANDS for row in rows)


def _now(row: Mapping[str, Any], logs: Logs | None, why: str, context: int) -> dict[str, Any]:
    """Return what became of one line; the stored quote stands where it cannot be read."""
    proof = Evidence(source=row["source"], line=row["line"], quote=row["quote"])
    if logs is None:
        return {"state": OUT_OF_REACH, "note": why, "context": []}
    if not logs.has(proof.source):
        note = next(
            (n for n in logs.notes if repr(proof.source) in n), "no source of the run has this name here"
        )
        return {"state": OUT_OF_REACH, "note": note, "context": []}
    around = logs.context(proof.source, proof.line, context)
    if not around:
        return {"state": GONE, "note": "the source has no such line now", "context": []}
    if logs.stands(proof.source, proof.line, proof.quote):
        return {"state": STANDS, "note": "", "context": around}
    return {"state": CHANGED, "note": "the line does not say this any more", "context": around}


def _attached(sources: Sequence[Source], store: ArtifactStore, stack: ExitStack) -> dict[str, Path]:
    """Return paths of attached files by their ids; a store elsewhere is copied."""
    ids = [source.artifact for source in sources if source.artifact is not None]
    return {one: store.local_path(one) or _fetched(one, store, stack) for one in ids}


def _fetched(artifact: str, store: ArtifactStore, stack: ExitStack) -> Path:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nightdesk-")))
    with store.open(artifact) as file, (folder / "attached").open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return folder / "attached"
