"""What the commands `nightdesk logs` ask of the reader that another service offers, as protocols."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from kernel.contracts import Source
    from kernel.settings import Settings

Progress = Callable[[int, int, str], None]


class Hits(Protocol):
    """Lines that fit, one at a time."""

    total: int
    shown: int

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Yield a row per line; once through, `total` counts all that fit."""


class Logs(Protocol):
    """Logs that were read once; each answer is cleaned and redacted."""

    @property
    def notes(self) -> list[str]:
        """Return what was cut, skipped or assumed."""

    @property
    def sources(self) -> list[str]:
        """Return the names of the files in reading order."""

    @property
    def window(self) -> tuple[str, str]:
        """Return the first and the last time of all lines; empty where there are none."""

    def overview(self, source: str = "", *, since: str = "", until: str = "") -> dict[str, Any]:
        """Return the first look, of a window judged beside the whole log where one is named."""

    def timeline(
        self, source: str = "", *, since: str = "", until: str = "", parts: int = 60
    ) -> dict[str, Any]:
        """Return counts per part of the window and level."""

    def templates(
        self, *, pattern: str = "", source: str = "", level: str = "", sort: str = "count", limit: int = 0
    ) -> dict[str, Any]:
        """Return templates with totals."""

    def line_templates(self) -> Iterator[tuple[str, str]]:
        """Yield id and template of each physical line."""

    def compare(
        self,
        *,
        source: str = "",
        split_at: str = "",
        before: str = "",
        after: str = "",
        baseline: str = "",
        limit: int = 0,
    ) -> dict[str, Any]:
        """Compare two windows both ways; a baseline lets the log choose them. A limit of 0 means all rows."""

    def compare_given(self, *, limit: int = 0) -> dict[str, Any]:
        """Compare what the first argument named with what the second one named."""

    def changes(self) -> dict[str, Any]:
        """Return change points, restarts and silences."""

    def found(
        self,
        pattern: str = "",
        *,
        source: str = "",
        level: str = "",
        since: str = "",
        until: str = "",
        limit: int = 50,
        context: int = 0,
        newest_first: bool = False,
    ) -> Hits:
        """Return lines that fit, as they are found."""

    def histogram(
        self,
        *,
        bucket: str = "auto",
        level: str = "",
        pattern: str = "",
        source: str = "",
        since: str = "",
        until: str = "",
    ) -> dict[str, Any]:
        """Return counts over time."""

    def entities(
        self,
        by: str = "auto",
        *,
        pattern: str = "",
        level: str = "",
        source: str = "",
        since: str = "",
        until: str = "",
        limit: int = 0,
    ) -> dict[str, Any]:
        """Return how lines spread over hosts, services, pods, users …; a limit of 0 means all."""

    def follow(
        self, wanted: str = "", *, source: str = "", since: str = "", until: str = "", limit: int = 0
    ) -> dict[str, Any]:
        """Return the lines of one id in the order of time, or ids worth following; a limit of 0 means all."""

    def context(self, source: str, line: int, around: int) -> list[dict[str, Any]]:
        """Return the lines round one line; nothing where there is no such line."""

    def has(self, source: str) -> bool:
        """Tell whether a source of this name was read."""

    def stands(self, source: str, line: int, quote: str) -> bool:
        """Tell whether a line says what a quote says, as the checker of evidence reads it."""


class Open(Protocol):
    """Reads logs, wherever the person may read."""

    def __call__(  # noqa: PLR0913 each is a choice of the command
        self,
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
    ) -> Logs:
        """Return the logs; raise where nothing at all could be read, and before that where `asked` is wrong."""
