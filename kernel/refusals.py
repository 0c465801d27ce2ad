"""Why the memory worker last refused to start, kept in the data folder so that `nightdesk status` can say it."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

#: A worker that cannot start is started again within seconds, and says it again; what is older was mended, or is a
#: second worker that nobody starts any more.
_FRESH = timedelta(minutes=2)


def note_refusal(data: Path, why: str) -> None:
    """Note why the memory was not opened, or with "" that it was."""
    path = _path(data)
    if why:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(why, encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def last_refusal(data: Path, at: datetime) -> str:
    """Return why the memory was not opened, or "" where it was or nobody tried of late."""
    with suppress(OSError):
        path = _path(data)
        if at - datetime.fromtimestamp(path.stat().st_mtime, tz=UTC) < _FRESH:
            return f"a memory worker did not start: {path.read_text(encoding='utf-8')}"
    return ""


def _path(data: Path) -> Path:
    return data / "memory" / "not-opened"
