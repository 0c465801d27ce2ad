"""Routing, pure: each part of a plan goes to a worker that reaches its sources; what nobody reaches is said."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from kernel.contracts import Card, PlannedAssignment, Request, Source
from kernel.sharing import MENTIONED, PART_OF, SOURCES, free_key, goal_of, narrowed, own_sources
from kernel.source_queues import is_source_name, source_queue

#: In bytes, so that two Chinese characters count: a shorter name is a word of any sentence.
_MIN_MENTION = 3


@dataclass(frozen=True)
class Routed:
    """The assignments of a round as they are queued; `queues` and `missing` go by their keys."""

    assignments: list[PlannedAssignment]
    queues: dict[str, str]
    #: Why nobody can be asked for a part.
    missing: dict[str, str]
    #: Sources that no live worker reaches, for all that is known now.
    unreached: list[str]


@dataclass(frozen=True)
class _Group:
    """Sources that the same workers reach; no queue: nobody reaches them."""

    sources: list[Source]
    queue: str


def mentioned(request: Request, cards: Sequence[Card]) -> list[Source]:
    """Return the sources that live workers reach and whose names a request's text or labels mention, in its order."""
    text = "\n".join([request.text, *request.labels.values()])
    places = {}
    for name in {name for card in cards for name in card.sources if len(name.encode()) >= _MIN_MENTION}:
        # not \b: a name may stand between Chinese words, and `checkout` is not mentioned by `pre-checkout`
        word = rf"(?<![A-Za-z0-9_.-]){re.escape(name)}(?![A-Za-z0-9_]|[.-][A-Za-z0-9])"
        if found := re.search(word, text, re.IGNORECASE):
            places[name] = found.start()
    return [Source(name=name) for name in sorted(places, key=lambda name: (places[name], name))]


def route(
    planned: Sequence[PlannedAssignment],
    sources: Sequence[Source],
    cards: Sequence[Card],
    *,
    mention: bool = False,
    taken: Collection[str] = (),
) -> Routed:
    """Return the plan with each assignment that reads sources split by who reaches them.

    `taken` are keys of earlier rounds; `mention` says that the request only mentions the sources. An agent none of
    whose live workers has named sources is asked as a whole, over its own queue.
    """
    keys = {*taken, *(a.key for a in planned)}
    live = {card.agent: card.queue for card in cards}
    parts: dict[str, list[PlannedAssignment]] = {}
    queues: dict[str, str] = {}
    missing: dict[str, str] = {}
    unreached: dict[str, None] = {}
    for a in planned:
        own = own_sources(a.inputs) if isinstance(a.inputs.get(SOURCES), list) else list(sources)
        groups = _groups(own, [card for card in cards if card.agent == a.agent])
        parts[a.key] = [] if groups else [a]
        queues[a.key] = live.get(a.agent, f"agents.{a.agent}")
        if a.agent not in live:
            missing[a.key] = f"no live worker of {a.agent!r}; start one with: nightdesk worker {a.agent}"
        for number, group in enumerate(groups):
            key = free_key(a.key, keys) if number else a.key
            keys.add(key)
            parts[a.key].append(_part(a, key, group, mention=mention, alone=len(groups) == 1))
            queues[key] = group.queue or live[a.agent]
            if not group.queue:
                names = [source.name for source in group.sources]
                missing[key] = unreached_reason(names, cards)
                unreached |= dict.fromkeys(names)
    rewired = [_rewired(part, parts) for group in parts.values() for part in group]
    asked = {name for card in cards for name in card.sources}
    lost = [s.name for s in sources if is_named(s) and s.path is None and s.name not in asked]
    return Routed(rewired, queues, missing, list(unreached | dict.fromkeys(lost)))


def is_named(source: Source) -> bool:
    """Return whether a source is given by a bare name; whether a worker reaches one of that name, its card says."""
    bare = source.path is None or source.path == source.name
    return source.artifact is None and bare and is_source_name(source.name)


def unreached_reason(names: Sequence[str], cards: Sequence[Card]) -> str:
    """Return why sources cannot be read, and what can be."""
    known = sorted({name for card in cards for name in card.sources})
    told = (
        f"live workers reach: {', '.join(known[:20])}" if known else "no live worker reaches a named source"
    )
    return f"no live worker reaches {', '.join(map(repr, names))}; {told}"


def _groups(sources: Sequence[Source], cards: Sequence[Card]) -> list[_Group]:
    """Return the sources by who reaches them; empty where the agent is asked as a whole."""
    reached: dict[str, frozenset[str]] = {}
    for source in sources:
        workers = frozenset(card.worker for card in cards if source.name in card.sources)
        # a file name that nobody has as a source is a path that will not be found, and is said at once
        wanted = source.path is None or "." not in source.name
        if is_named(source) and (workers or wanted):
            reached[source.name] = workers
    if not reached or not any(card.sources for card in cards):
        return []
    named: dict[frozenset[str], list[Source]] = {}
    for name, workers in reached.items():
        named.setdefault(workers, []).append(Source(name=name, **_told(sources, name)))
    lost = named.pop(frozenset(), [])
    groups = [_Group(group, source_queue(cards[0].queue, group[0].name)) for group in named.values()]
    rest = [source for source in sources if source.name not in reached]
    everybody = frozenset(card.worker for card in cards)
    if rest and set(named) == {everybody}:
        groups, rest = [_Group([*groups[0].sources, *rest], groups[0].queue)], []
    groups += [_Group(rest, cards[0].queue)] if rest else []
    return groups + ([_Group(lost, "")] if lost else [])


def _told(sources: Sequence[Source], name: str) -> dict[str, str]:
    """Return what the request says of how a named source is to be read."""
    source = next(source for source in sources if source.name == name)
    return {"format": source.format, "zone": source.zone}


def _part(a: PlannedAssignment, key: str, group: _Group, *, mention: bool, alone: bool) -> PlannedAssignment:
    told = {**narrowed(group.sources), PART_OF: a.key, **({MENTIONED: True} if mention else {})}
    goal = a.goal if alone and not mention else goal_of(a.goal, group.sources)
    return a.model_copy(update={"key": key, "goal": goal, "inputs": {**a.inputs, **told}})


def _rewired(a: PlannedAssignment, parts: Mapping[str, Sequence[PlannedAssignment]]) -> PlannedAssignment:
    """Return an assignment that needs every part of what it needed."""
    needs = [part for need in a.needs for part in ([p.key for p in parts[need]] if need in parts else [need])]
    return a.model_copy(update={"needs": needs})
