"""Parts of an assignment that is shared out by who reaches its sources: what their rows say of it; pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import count
from typing import Any

from kernel.contracts import Source

#: What the inputs of a part say of its sources: which it reads, of which assignment it is a part, and whether the
#: request only mentions them. No agent is told.
SOURCES, PART_OF, MENTIONED = "sources", "part_of", "mentioned"
ROUTING = frozenset({SOURCES, PART_OF, MENTIONED})

_KEY_LENGTH = 31


def sources_of(inputs: Mapping[str, Any]) -> list[str]:
    """Return the names of the sources that a part was narrowed to."""
    return [source.name for source in own_sources(inputs)]


def own_sources(inputs: Mapping[str, Any]) -> list[Source]:
    """Return the sources that an assignment has of its own, as a playbook or the routing gave them."""
    told = inputs.get(SOURCES)
    return [_source(item) for item in told] if isinstance(told, list) else []


def narrowed(sources: Sequence[Source]) -> dict[str, Any]:
    """Return what the inputs of a part say of its sources."""
    return {SOURCES: [source.model_dump(mode="json", exclude_defaults=True) for source in sources]}


def goal_of(goal: str, sources: Sequence[Source], before: Sequence[Source] = ()) -> str:
    """Return a goal that names the sources of its part, in place of those that it named before."""
    plain = goal.removesuffix(f" ({_named(before)})")
    return f"{plain} ({_named(sources)})"


def free_key(key: str, keys: Collection[str]) -> str:
    """Return the first of `key_2`, `key_3`, … that is no key yet, within the length of one."""
    names = (f"{key[: _KEY_LENGTH - len(f'_{number}')]}_{number}" for number in count(2))
    return next(name for name in names if name not in keys)


def _source(item: Any) -> Source:
    """Return a source; a playbook writes a path or a name alone."""
    if isinstance(item, dict):
        return Source.model_validate(item)
    text = str(item)
    return Source(name=text, path=text if "/" in text else None)


def _named(sources: Sequence[Source]) -> str:
    return ", ".join(source.name for source in sources)
