"""Reads the lines that a run's findings and answer quote again, now and here, with the lines round each."""

from __future__ import annotations

import re
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
#: A line as an answer quotes it, in a list of its own: "- app.log:12  `ERROR pool exhausted`".
_CITED = re.compile(
    r"^- (?P<source>\S[^`\n]{0,1000}):(?P<line>[1-9]\d{0,11})  `(?P<quote>[^`\n]+)`$", re.MULTILINE
)
#: What stands in a quote for words of the line: where it was cut, and what differs among the lines of its kind.
_LEFT_OUT = re.compile(r"…|<[A-Z_*]{1,20}>")
_OF_ANSWER = "quoted in the answer"


def evidence_rows(report: Report) -> list[dict[str, Any]]:
    """Return each line that proves a finding, or speaks against it, with the finding's title; then the answer's own."""
    rows = [
        {"finding": finding.title, "against": against, **proof.model_dump(mode="json")}
        for finding in report.findings
        for against, proofs in ((False, finding.evidence), (True, finding.against))
        for proof in proofs
    ]
    proven = {(row["source"], row["line"], row["quote"]) for row in rows}
    cited = [
        (found["source"], int(found["line"]), found["quote"]) for found in _CITED.finditer(report.answer)
    ]
    return rows + [
        {
            "finding": _OF_ANSWER,
            "against": False,
            "of_answer": True,
            "source": source,
            "line": line,
            "quote": quote,
        }
        for source, line, quote in dict.fromkeys(cited)
        if (source, line, quote) not in proven
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
    if logs.stands(proof.source, proof.line, proof.quote) or (row.get("of_answer") and _says(around, proof)):
        return {"state": STANDS, "note": "", "context": around}
    return {"state": CHANGED, "note": "the line does not say this any more", "context": around}


def _says(around: Sequence[Mapping[str, Any]], proof: Evidence) -> bool:
    """Tell whether a line says what an answer quotes of it: there a backtick is an apostrophe, and a kind has gaps."""
    line = next((row["quote"] for row in around if row["line"] == proof.line), "").replace("`", "'")
    place = 0
    for piece in filter(None, map(str.strip, _LEFT_OUT.split(proof.quote))):
        found = line.find(piece, place)
        if found < 0:
            return False
        place = found + len(piece)
    return place > 0


def _attached(sources: Sequence[Source], store: ArtifactStore, stack: ExitStack) -> dict[str, Path]:
    """Return paths of attached files by their ids; a store elsewhere is copied."""
    ids = [source.artifact for source in sources if source.artifact is not None]
    return {one: store.local_path(one) or _fetched(one, store, stack) for one in ids}


def _fetched(artifact: str, store: ArtifactStore, stack: ExitStack) -> Path:
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="nightdesk-")))
    with store.open(artifact) as file, (folder / "attached").open("wb") as copy:
        shutil.copyfileobj(file, copy)
    return folder / "attached"
