"""What `--log` names: files the desk reads in place, and files that are attached as artifacts."""

from __future__ import annotations

import glob
import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kernel.artifacts import ArtifactStore
from kernel.errors import Correctable, Exhausted

#: A request stays one small message; a folder is one source, however many files it holds.
_MAX_FILES = 200


@dataclass(frozen=True)
class Named:
    """A file or folder that was named, and whether the desk's workers read it in place."""

    path: Path
    in_place: bool


def name_sources(given: list[str], roots: list[Path], *, max_bytes: int) -> list[Named]:
    """Return what was named, globs expanded; raise Correctable before anything is sent or copied."""
    named: dict[Path, Named] = {}
    for text in given:
        for path in _expand(text):
            in_place = any(path.is_relative_to(root) for root in roots)
            files = [path] if in_place or not path.is_dir() else _files_below(path)
            for file in files:
                _check(file, None if in_place else max_bytes)
                named[file] = Named(file, in_place)
    if len(named) > _MAX_FILES:
        raise Correctable(
            f"{len(named)} files were named",
            why=f"a request may name {_MAX_FILES}",
            next_step="Name their folder instead; under an allowed root it counts as one.",
        )
    return list(named.values())


def attach(named: list[Named], store: ArtifactStore) -> list[str | dict[str, Any]]:
    """Copy what is not read in place into the artifact store and return the `sources` of a request."""
    shown = _short_names([n.path for n in named if not n.in_place])
    sources: list[str | dict[str, Any]] = []
    for n in named:
        if n.in_place:
            sources.append(str(n.path))
            continue
        with n.path.open("rb") as file:
            artifact = store.put(file, name=n.path.name)
        sources.append({"name": shown[n.path], "artifact": artifact})
    return sources


def _expand(text: str) -> list[Path]:
    path = Path(text).expanduser()
    found = [path] if path.exists() or path.is_symlink() else []
    if not found and glob.has_magic(text):
        found = [Path(match) for match in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207 Path.glob takes no absolute pattern
    if not found:
        raise Correctable(
            f"{text!r} does not exist",
            why="no file, folder or match of that name was found here, and no worker has a source of that name",
            next_step="Check the path; relative ones start in the working directory. `nightdesk status` lists sources.",
        )
    return [Path(os.path.realpath(match)) for match in found]


def _files_below(folder: Path) -> list[Path]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    if not files:
        raise Correctable(f"{str(folder)!r} holds no file", next_step="Name another folder.")
    return files


def _check(path: Path, max_bytes: int | None) -> None:
    try:
        facts = path.stat()
        if stat.S_ISDIR(facts.st_mode):
            os.scandir(path).close()
            return
        if not stat.S_ISREG(facts.st_mode):
            raise Correctable(
                f"{str(path)!r} is no file", why="it is a device, pipe or socket", next_step="Name a file."
            )
        with path.open("rb") as file:
            file.read(1)
    except OSError as error:
        raise Correctable(
            f"{str(path)!r} cannot be read",
            why=error.strerror or str(error),
            next_step="Check its mode and owner, or run the command as somebody who may read it.",
        ) from error
    if facts.st_size == 0:
        raise Correctable(f"{str(path)!r} is empty", why="it has 0 bytes", next_step="Name another file.")
    if max_bytes is not None and facts.st_size > max_bytes:
        raise Exhausted(
            f"{str(path)!r} is too large to attach",
            why=f"it has {facts.st_size:,} bytes and at most {max_bytes:,} may be attached",
            next_step="Cut it, or start the desk with its folder in NIGHTDESK_LOG_ROOTS.",
        )


def _short_names(paths: list[Path]) -> dict[Path, str]:
    """Return the file name of each path, with as many folders before it as tell it from the others."""
    names = {}
    for path in paths:
        for depth in range(1, len(path.parts)):
            name = "/".join(path.parts[-depth:])
            if sum(other.parts[-depth:] == path.parts[-depth:] for other in paths) == 1:
                names[path] = name
                break
        else:
            names[path] = str(path)
    return names
