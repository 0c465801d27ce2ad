"""Gathers the logs of a run: files in place, attachments and fetched bodies, each pinned at its first opening."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from agents.log_analysis.sources.arranging import arrange
from agents.log_analysis.sources.fetching import fetch
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.finding import asked_of, files_of
from agents.log_analysis.sources.named import NamedSource, check_zone, named_sources
from agents.log_analysis.sources.pinning import PINS, PinnedFile, Record, pin, unpin
from kernel.artifacts import ArtifactStore, pin_key
from kernel.clock import now
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError
from kernel.settings import Settings

#: Files of one source whose troubles are told one by one.
_TOLD = 5
_DAY = 86_400


@dataclass(frozen=True)
class Gathering:
    """The logs of one run on this worker."""

    run_id: str
    settings: Settings
    store: ArtifactStore
    #: Who looks: a worker within the desk's roots, or a person with rights of their own.
    roots: tuple[Path, ...]
    #: Paths of attached files by their ids, where somebody has them already.
    attached: Mapping[str, Path] = field(default_factory=dict)
    #: Set once nobody waits any more: what is fetched or waited for then ends within a second, with an error.
    stop: threading.Event | None = None

    @property
    def scratch(self) -> Path:
        """Return the folder for files that live as long as a scan."""
        return self.settings.data / "scratch"

    def gather(self, sources: Sequence[Source]) -> tuple[list[LogFile], list[NightdeskError]]:
        """Return the files of all sources in reading order, and what could not be read, each with its reason."""
        named = self._named(sources)

        def record(source: Source) -> Record:
            return PINS.record(self.store, self._key(source), lambda: self._first(source, named), self.stop)

        return self._all(sources, named, record)

    def again(self, sources: Sequence[Source]) -> tuple[list[LogFile], list[NightdeskError]]:
        """Return what the run has read, for whoever looks later: nothing is fetched and nothing is written down.

        A file that the run has not pinned is read as it is now.
        """
        named = self._named(sources)

        def record(source: Source) -> Record | list[LogFile]:
            return PINS.known(self.store, self._key(source)) or files_of(source, self.roots, {}, named)

        return self._all(sources, named, record)

    def _named(self, sources: Sequence[Source]) -> Mapping[str, NamedSource]:
        """Return the named sources where one may be meant: a broken file keeps nobody from a path."""
        meant = any(not source.path and not source.artifact for source in sources)
        return named_sources(self.settings) if meant else {}

    def _all(
        self,
        sources: Sequence[Source],
        named: Mapping[str, NamedSource],
        record: Callable[[Source], Record | list[LogFile]],
    ) -> tuple[list[LogFile], list[NightdeskError]]:
        check_zone(self.settings.log_zone, "NIGHTDESK_LOG_ZONE")
        files: list[LogFile] = []
        problems: list[NightdeskError] = []
        for source in sources:
            try:
                known, form, zone = asked_of(source, named)
                found, told = self._of(source, known, record)
            except NightdeskError as error:
                problems.append(error)
                continue
            files += [replace(file, format=form, zone=zone or self.settings.log_zone) for file in found]
            problems += told
        ordered, left_out = arrange(files)
        return ordered, [*problems, *left_out]

    def _of(
        self,
        source: Source,
        known: NamedSource | None,
        record: Callable[[Source], Record | list[LogFile]],
    ) -> tuple[list[LogFile], list[NightdeskError]]:
        if source.artifact:
            return [self._local(PinnedFile(name=source.name, artifact=source.artifact))], []
        kept = record(source)
        if not isinstance(kept, Record):
            return kept, []
        problems: list[NightdeskError] = [
            Correctable(what, why=why, next_step=step) for what, why, step in kept.problems
        ]
        roots = (*(known.roots if known else ()), *self.roots)
        files: list[LogFile] = []
        for pinned in kept.files:
            try:
                files.append(self._local(pinned) if pinned.artifact else unpin(pinned, roots))
            except NightdeskError as error:
                problems.append(error)
        return files, problems

    def _key(self, source: Source) -> str:
        return pin_key(self.run_id, source.path or "", source.name)

    def _first(self, source: Source, named: Mapping[str, NamedSource]) -> Record:
        """Open a source for the first time in its run."""
        known = named.get(source.name) if not source.path else None
        if known is not None and not known.paths:
            artifact, notes = fetch(source.name, known, self.settings, self.store, self.scratch, self.stop)
            return Record(files=[PinnedFile(name=source.name, artifact=artifact, notes=notes)])
        found, left_out = arrange(files_of(source, self.roots, {}, named))
        files: list[PinnedFile] = []
        problems: list[NightdeskError] = [*left_out]
        for file in found:
            try:
                files.append(pin(file))
            except NightdeskError as error:
                problems.append(error)
        if not files:
            raise problems[0]
        return Record(files=files, problems=_told(problems))

    def _local(self, pinned: PinnedFile) -> LogFile:
        """Return a stored body as a file of this machine; a store elsewhere is copied once."""
        path = self.attached.get(pinned.artifact) or self.store.local_path(pinned.artifact)
        path = path or self._copied(pinned.artifact)
        return LogFile(name=pinned.name, path=path, notes=tuple(pinned.notes))

    def _copied(self, artifact: str) -> Path:
        target = self.scratch / f"attached-{artifact}"
        if target.exists():
            target.touch()
            return target
        self.scratch.mkdir(parents=True, exist_ok=True)
        self._drop_copies()
        with (
            self.store.open(artifact) as file,
            tempfile.NamedTemporaryFile(dir=self.scratch, delete=False) as out,
        ):
            while chunk := file.read(1 << 20):
                out.write(chunk)
        return Path(out.name).replace(target)

    def _drop_copies(self) -> None:
        """Remove copies that nobody has used for as long as what they were made from is kept."""
        oldest = now().timestamp() - self.settings.artifact_days * _DAY
        for copy in self.scratch.glob("attached-*") if self.settings.artifact_days else ():
            with suppress(OSError):  # another worker of this machine may be quicker
                if copy.stat().st_mtime < oldest:
                    copy.unlink()


def _told(problems: Sequence[NightdeskError]) -> list[tuple[str, str, str]]:
    """Return the first problems, and how many more there are: a folder may hold a hundred empty files."""
    told = [(p.what, p.why, p.next_step) for p in problems[:_TOLD]]
    if len(problems) > _TOLD:
        told.append(
            (f"{len(problems) - _TOLD} more files could not be read", "", "Name the files that matter.")
        )
    return told
