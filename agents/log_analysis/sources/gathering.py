"""Gathers the logs of a run: files in place, attachments and fetched bodies, each pinned at its first opening."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from agents.log_analysis.sources.arranging import arrange
from agents.log_analysis.sources.fetching import fetch
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.finding import asked_of, files_of
from agents.log_analysis.sources.named import NamedSource, check_zone, named_sources
from agents.log_analysis.sources.pinning import PINS, PinnedFile, Record, pin, unpin
from kernel.artifacts import ArtifactStore
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError
from kernel.settings import Settings


@dataclass(frozen=True)
class Gathering:
    """The logs of one run on this worker."""

    run_id: str
    settings: Settings
    store: ArtifactStore

    @property
    def scratch(self) -> Path:
        """Return the folder for files that live as long as a scan."""
        return self.settings.data / "scratch"

    def gather(self, sources: Sequence[Source]) -> tuple[list[LogFile], list[NightdeskError]]:
        """Return the files of all sources in reading order, and what could not be read, each with its reason."""
        named = named_sources(self.settings)
        check_zone(self.settings.log_zone, "NIGHTDESK_LOG_ZONE")
        files: list[LogFile] = []
        problems: list[NightdeskError] = []
        for source in sources:
            try:
                found, told = self._of(source, named)
            except NightdeskError as error:
                problems.append(error)
                continue
            files += found
            problems += told
        ordered, left_out = arrange(files)
        return ordered, [*problems, *left_out]

    def _of(
        self, source: Source, named: Mapping[str, NamedSource]
    ) -> tuple[list[LogFile], list[NightdeskError]]:
        known, form, zone = asked_of(source, named)
        zone = zone or self.settings.log_zone
        if source.artifact:
            attached = self._local(PinnedFile(name=source.name, artifact=source.artifact))
            return [replace(attached, format=form, zone=zone)], []
        key = f"{self.run_id}\n{source.path or ''}\n{source.name}"
        record = PINS.record(self.store, key, lambda: self._first(source, named))
        problems: list[NightdeskError] = [
            Correctable(what, why=why, next_step=step) for what, why, step in record.problems
        ]
        roots = (*(known.roots if known else ()), *self.settings.roots)
        files: list[LogFile] = []
        for pinned in record.files:
            try:
                file = self._local(pinned) if pinned.artifact else unpin(pinned, roots)
            except NightdeskError as error:
                problems.append(error)
                continue
            files.append(replace(file, format=form, zone=zone))
        return files, problems

    def _first(self, source: Source, named: Mapping[str, NamedSource]) -> Record:
        """Open a source for the first time in its run."""
        known = named.get(source.name) if not source.path else None
        if known is not None and not known.paths:
            artifact, notes = fetch(source.name, known, self.settings, self.store, self.scratch)
            return Record(files=[PinnedFile(name=source.name, artifact=artifact, notes=notes)])
        found, left_out = arrange(files_of(source, tuple(self.settings.roots), {}, named))
        files: list[PinnedFile] = []
        problems: list[NightdeskError] = [*left_out]
        for file in found:
            try:
                files.append(pin(file))
            except NightdeskError as error:
                problems.append(error)
        if not files:
            raise problems[0]
        return Record(files=files, problems=[(p.what, p.why, p.next_step) for p in problems])

    def _local(self, pinned: PinnedFile) -> LogFile:
        """Return a stored body as a file of this machine; a store elsewhere is copied once."""
        path = self.store.local_path(pinned.artifact) or self._copied(pinned.artifact)
        return LogFile(name=pinned.name, path=path, notes=tuple(pinned.notes))

    def _copied(self, artifact: str) -> Path:
        target = self.scratch / f"attached-{artifact}"
        if target.exists():
            return target
        self.scratch.mkdir(parents=True, exist_ok=True)
        with (
            self.store.open(artifact) as file,
            tempfile.NamedTemporaryFile(dir=self.scratch, delete=False) as out,
        ):
            while chunk := file.read(1 << 20):
                out.write(chunk)
        return Path(out.name).replace(target)
