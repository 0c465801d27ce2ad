"""Finds the files behind a run's sources, under the allowed roots only."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agents.log_analysis.formats.detection import form_named
from agents.log_analysis.formats.text import cut
from agents.log_analysis.sources.arranging import arrange
from agents.log_analysis.sources.containers import container_name
from agents.log_analysis.sources.files import LogFile
from agents.log_analysis.sources.named import NamedSource, check_zone
from agents.log_analysis.sources.patterns import is_pattern, matches, root_of, under
from agents.log_analysis.sources.refusals import outside, unknown_name, unreadable
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError, Refused

#: Characters of a source's name that an error quotes.
_NAME = 120


def resolve(
    sources: Sequence[Source],
    roots: Sequence[Path],
    artifacts: Mapping[str, Path],
    named: Mapping[str, NamedSource] | None = None,
) -> tuple[list[LogFile], list[NightdeskError]]:
    """Return the files of all sources in reading order, and what could not be found, each with its reason.

    `artifacts` maps artifact ids to paths on this machine; `named` are the sources of the operator's file.
    """
    files: list[LogFile] = []
    problems: list[NightdeskError] = []
    for source in sources:
        try:
            files += files_of(source, tuple(roots), artifacts, named or {})
        except NightdeskError as error:
            problems.append(error)
    ordered, left_out = arrange(files)
    return ordered, [*problems, *left_out]


def files_of(
    source: Source, roots: tuple[Path, ...], artifacts: Mapping[str, Path], named: Mapping[str, NamedSource]
) -> list[LogFile]:
    """Return the files of one source; raise where there is none that may be read."""
    known, form, zone = asked_of(source, named)
    try:
        found = _found(source, known, roots, artifacts, named)
    except OSError as error:  # a name too long for the system
        raise unreadable(cut(source.name, _NAME), error) from error
    except RuntimeError as error:  # of `~somebody`, whom this machine does not know
        raise Correctable(
            f"{cut(source.name, _NAME)!r} names no home here", next_step="Use its full path."
        ) from error
    return [replace(file, format=form, zone=zone) for file in found]


def asked_of(source: Source, named: Mapping[str, NamedSource]) -> tuple[NamedSource | None, str, str]:
    """Return the named source that a source means, and the format and zone to read it by; both may be empty."""
    known = named.get(source.name) if not source.artifact and not source.path else None
    form = form_named(source.format or (known.format if known else ""))
    zone = source.zone or (known.zone if known else "")
    check_zone(zone, source.name)
    return known, form, zone


def _found(
    source: Source,
    known: NamedSource | None,
    roots: tuple[Path, ...],
    artifacts: Mapping[str, Path],
    named: Mapping[str, NamedSource],
) -> list[LogFile]:
    if source.artifact:
        if source.artifact not in artifacts:
            raise Correctable(f"the attached file {source.name!r} is gone", next_step="Attach it again.")
        return [LogFile(name=source.name, path=artifacts[source.artifact])]
    if known is not None:
        return _of_set(source.name, known, roots)
    given = source.path or source.name
    if "\0" in given:
        raise Correctable("a path holds a NUL character", next_step="Name the log file without it.")
    if not source.path and "/" not in given and not Path(given).exists():
        raise unknown_name(given, named)
    found = matches(given)
    if found == [Path(given).expanduser()]:
        return [_file(found[0], source.name, roots, aliases=(given,))]
    return _allowed(found, source.name, roots)


def _of_set(name: str, known: NamedSource, roots: tuple[Path, ...]) -> list[LogFile]:
    """Return the files of a named set of paths; evidence cites them by the set's name."""
    if not known.paths:
        raise Correctable(
            f"{name!r} is not read from files",
            next_step="Submit the question to the desk: its worker fetches it.",
        )
    allowed = (*known.roots, *roots)
    files: list[LogFile] = []
    for pattern in known.paths:
        found = [p for p in matches(pattern) if p.is_file()]
        single = not is_pattern(pattern) and found == [Path(pattern)] and len(known.paths) == 1
        if single:
            return [_file(found[0], name, allowed, aliases=(pattern,))]
        files += _allowed(found, name, allowed, (name, root_of(pattern))) if found else []
    if not files:
        raise Correctable(
            f"no file found for {name!r}",
            why=f"nothing matches {', '.join(known.paths)} on this machine",
            next_step="Check the paths in sources.yaml, or ask the worker of the machine that has them.",
        )
    return files


def _allowed(
    found: Iterable[Path],
    name: str,
    roots: tuple[Path, ...],
    within: tuple[str, Path] | None = None,
) -> list[LogFile]:
    """Keep what lies under the roots; a link in a folder that leads outside is left out, not an error."""
    files: list[LogFile] = []
    refused = False
    for path in found:
        cited, service = container_name(path) or ("", "")
        if within and not cited:
            cited = str(path.relative_to(within[1]))
        cited = f"{within[0]}/{cited}" if within else cited or str(path.absolute())
        try:
            files.append(_file(path, cited, roots, service=service))
        except Refused:
            refused = True
    if refused and not files:
        raise outside(name, roots)
    if not files:
        raise Correctable(
            f"no file found for {name!r}",
            why="the folder or pattern is empty",
            next_step="Check the path.",
        )
    return files


def _file(
    path: Path, name: str, roots: tuple[Path, ...], *, service: str = "", aliases: tuple[str, ...] = ()
) -> LogFile:
    real = Path(os.path.realpath(path))
    # asked before existence: a refusal must not tell what exists outside the roots
    if not under(real, roots):
        raise outside(name, roots)
    if not real.exists():
        raise Correctable(
            f"there is no file {name!r}",
            why="nothing exists at that path",
            next_step="Check the path of the log.",
        )
    place = str(path.absolute())
    return LogFile(
        name=name, path=real, roots=roots, aliases=(place, *aliases, str(real)), place=place, service=service
    )
