"""What is said of logs that cannot be read, or may not be."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from agents.log_analysis.sources.named import NamedSource
from kernel.errors import Correctable, NightdeskError, Refused, Retryable

#: Seconds between two looks at the wish to stop, of whatever waits for something outside.
LOOK_SECONDS = 0.2


def outside(name: str, roots: Sequence[Path]) -> Refused:
    """Return the refusal of a path that lies outside the allowed roots."""
    return Refused(
        f"{name!r} lies outside the allowed log folders",
        why=f"only files under {', '.join(map(str, roots)) or 'no folder'} may be read in place",
        next_step="Attach the file, or add its folder to NIGHTDESK_LOG_ROOTS.",
    )


def unknown_name(name: str, named: Mapping[str, NamedSource]) -> Correctable:
    """Return what is said of a name that is neither a file nor a named source."""
    known = ", ".join(sorted(named)) or "none"
    return Correctable(
        f"no source is named {name!r} here",
        why=f"there is no such file, and sources.yaml of this worker names {known}",
        next_step="Use one of these names, or the path of a log.",
    )


def unreadable(name: str, error: OSError) -> NightdeskError:
    """Return what is said of a file that the system does not open."""
    if isinstance(error, FileNotFoundError):
        return Correctable(
            f"there is no file {name!r}", why="it is gone", next_step="Check the path of the log."
        )
    return Refused(
        f"{name!r} cannot be read",
        why=error.strerror or str(error),
        next_step="Check owner and mode of the file.",
    )


def empty(name: str) -> Correctable:
    """Return what is said of a file without bytes."""
    return Correctable(
        f"{name!r} is empty", why="the file has no bytes", next_step="Name a log with content."
    )


def stopped() -> Retryable:
    """Return what ends a fetch that nobody waits for any more."""
    return Retryable("it was stopped", why="nobody waits for it any more", untouched=True)
