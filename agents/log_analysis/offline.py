"""Reads a person's own logs without a desk: what the command line asks through the entry point `nightdesk.logs`."""

from __future__ import annotations

import secrets
import tempfile
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from agents.log_analysis.asking.checking import check_asked
from agents.log_analysis.asking.opened import OpenLogs
from agents.log_analysis.formats.text import clean
from agents.log_analysis.reading import Reading, cited
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.finding import resolve
from agents.log_analysis.sources.gathering import Gathering
from agents.log_analysis.sources.named import named_sources
from agents.log_analysis.sources.streams import STDIN, copied, place
from kernel.artifacts import ArtifactStore
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError
from kernel.redaction import make_redactor
from kernel.settings import Settings

#: Told now and then while logs are read: bytes (or what the reader counts) done and in all, and the file.
Progress = Callable[[int, int, str], None]

#: The rights of the shell's user hold, not the desk's roots.
_EVERYWHERE = (Path("/"),)
#: One salt per process: the same value has the same placeholder in all that one command prints.
_SALT = secrets.token_bytes(16)


def open_logs(  # noqa: PLR0913 each is a choice of the command
    paths: Sequence[str | Source],
    *,
    settings: Settings,
    format: str = "",  # noqa: A002 - the name that a source gives it
    zone: str = "",
    artifacts: Mapping[str, Path] | None = None,
    progress: Progress | None = None,
    stop: threading.Event | None = None,
    salt: bytes = b"",
    run: str = "",
    asked: Mapping[str, str] | None = None,
) -> OpenLogs:
    """Read logs, wherever the person may read: files, folders, globs, `-` for standard input, pipes.

    The sources of a run are taken too: `artifacts` are paths of attached files by their ids, and with the run's
    `salt` placeholders are its own. Where the `run` is named, its sources hold the very bytes that it has read, or
    are said to be gone. Once `stop` is set, what was read by then is all there is. Raise where nothing could be read,
    and before anything is read where one of `asked` (arguments of the questions to come, by name) cannot be answered.
    """
    check_asked(**(asked or {}))
    held: dict[str, BinaryIO] = {}
    named = named_sources(settings) if any(map(_bare, paths)) else {}
    tell = None if progress is None else lambda done: progress(done, 0, "standard input")
    given = [
        p
        if isinstance(p, Source)
        else _asked(place(p, lambda f: copied(f, stop, tell), held, named), format, zone)
        for p in paths
    ]
    attached = {**(artifacts or {}), **{name: Path(file.name) for name, file in held.items()}}
    if run:
        files, problems = _again(run, given, settings, attached)
    else:
        files, problems = resolve(given, _EVERYWHERE, attached, named)
    redactor = make_redactor(settings, salt or _SALT)
    scan = _scanned([cited(file, redactor) for file in files], problems, settings, progress, stop)
    told = [redactor.text(clean(str(problem))) for problem in (*problems, *scan.problems)]
    of_each = [{f.path for f in resolve([one], _EVERYWHERE, attached, named)[0]} for one in given]
    return OpenLogs(Reading(scan, redactor, tuple(told)), of_each, list(held.values()))


def _bare(path: str | Source) -> bool:
    """Tell whether an argument may be the name of a source: it is no path of a file."""
    return isinstance(path, str) and "/" not in path and path != STDIN and not Path(path).exists()


def _again(
    run: str, given: Sequence[Source], settings: Settings, attached: Mapping[str, Path]
) -> tuple[list[LogFile], list[NightdeskError]]:
    store = ArtifactStore(settings.artifacts, max_bytes=settings.artifact_max_bytes)
    return Gathering(run, settings, store, _EVERYWHERE, attached).again(given)


def _asked(source: Source, form: str, zone: str) -> Source:
    return source.model_copy(update={"format": form, "zone": zone})


def _scanned(
    files: Sequence[LogFile],
    problems: Sequence[NightdeskError],
    settings: Settings,
    progress: Progress | None,
    stop: threading.Event | None,
) -> Scan:
    if not files:
        raise problems[0] if problems else _nothing()
    scan = Scan(
        Path(tempfile.gettempdir()),
        settings.log_max_bytes,
        settings.log_max_lines,
        readers=settings.log_readers,
        zone=settings.log_zone,
        stop=None if stop is not None and stop.is_set() else stop,  # a copy that was cut short is read whole
    )
    scan.read(files, None if progress is None else lambda now: progress(now.done, now.total, now.file))
    return scan


def _nothing() -> Correctable:
    return Correctable(
        "no log was named", next_step="Name a file, a folder, a glob, or - for standard input."
    )
