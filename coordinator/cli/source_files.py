"""Whether a file of named sources can be used: asked of the agent that reads it, and never by importing it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from typing import Any

from kernel.settings import Settings

_GROUP = "nightdesk.sources"

Check = Callable[[Settings], Mapping[str, Any]]


def check(settings: Settings, agent: str = "") -> None:
    """Raise what the worker would end with where the file of an agent, or of any, cannot be used.

    An agent that offers no check is not asked: its worker says at its start what is wrong.
    """
    found = entry_points(group=_GROUP, name=agent) if agent else entry_points(group=_GROUP)
    for entry in found:
        read: Check = entry.load()
        read(settings)
