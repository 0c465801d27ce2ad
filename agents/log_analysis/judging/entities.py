"""Who has how many of what: events per host, service, user … beside their share of all, and whether it is one; pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from agents.log_analysis.judging.naming import Namer, column_namer, namer, shared_fields
from agents.log_analysis.judging.rates import binomial_above
from agents.log_analysis.judging.trails import id_kind, id_of, with_text
from agents.log_analysis.scanning.scan import Scan
from agents.log_analysis.scanning.table import Row

#: Entities counted; beyond that the rare ones are dropped now and then, and the answer says so.
_ENTITIES = 50_000
#: Events read of a template, and of all, to tell where it concentrates: evenly spread ones stand for the rest.
_SAMPLE, _BACKGROUND = 300, 600
#: One entity has it all from this share on, or most of it; and by chance so with at most this probability.
_ONLY, _MOSTLY, _CHANCE = 0.95, 0.6, 1e-3
#: All have it if so large a share of the entities does.
_ALL = 0.8
_NAMED = 0.5
_ONE = ("only ", "mostly ")

Wanted = Callable[[Row, str], bool]


@dataclass
class Breakdown:
    """Events per entity that were asked for (`some`), and of all (`all`); `named` of `some` carry an entity."""

    by: str
    some: Counter[str] = field(default_factory=Counter)
    all: Counter[str] = field(default_factory=Counter)
    firsts: dict[str, Row] = field(default_factory=dict)
    events: int = 0
    every: int = 0
    dropped: int = 0

    def statement(self) -> str:
        """Return whether one has it, most of it, or all have it, or an empty text."""
        return concentrated(self.some, self.all, self.by) if self.events < self.every else ""


def breakdown(scan: Scan, by: str, wanted: Wanted, file: int | None = None) -> Breakdown:
    """Return the events per entity of a kind; one pass over the lines (over the events alone, where they say it)."""
    found = Breakdown(by)
    names = entity_reader(scan, by, file)
    files = None if file is None else {file}
    for row, text in with_text(scan, files):
        entities = names(row, text)
        found.every += 1
        found.all.update(entities)
        if wanted(row, text):
            found.events += 1
            found.some.update(entities)
            for entity in entities:
                found.firsts.setdefault(entity, row)
        if len(found.all) > _ENTITIES:
            _prune(found)
    return found


def choose(scan: Scan, file: int | None = None) -> str:
    """Return what to break a log down by: its hosts, services, a column of names, or what most of its lines name."""
    for by, names in (("host", scan.hosts), ("service", scan.services)):
        if len(names) > 2:  # noqa: PLR2004 - none, and two that differ
            return by
    texts = [text for _, text in _spread(scan, _all_rows(scan, file), _BACKGROUND)]
    if column_namer(texts):
        return "host"
    named = {by: sum(1 for t in texts if namer(by)(t)) for by in ("pod", "node", "ip", "user")}
    best = max(named, key=lambda by: named[by])
    return best if named[best] >= _NAMED * len(texts) * 0.2 else "service"


def concentration(scan: Scan, template: int, file: int | None = None) -> str:
    """Return where a template's events come from, such as "only node-7 (143 of 143 lines)", or an empty text.

    It is told only where chance does not explain it: a host with most of all lines has most of these too.
    """
    return concentrations(scan, [template], file).get(template, "")


def concentrations(scan: Scan, templates: Sequence[int], file: int | None = None) -> dict[int, str]:
    """Return `concentration` of several templates, in one pass over the events and a sample of the lines."""
    wanted = {scan.miner.final(t) for t in templates}
    rows: dict[int, list[Row]] = {t: [] for t in wanted}
    hosts: dict[int, Counter[str]] = {t: Counter() for t in wanted}
    services: dict[int, Counter[str]] = {t: Counter() for t in wanted}
    every = (Counter[str](), Counter[str]())
    final = [scan.miner.final(i) for i in range(len(scan.miner.templates))]
    for row in scan.table:
        if file is not None and row.file != file:
            continue
        every[0][scan.hosts[row.host]] += 1
        every[1][scan.services[row.service]] += 1
        template = final[row.template]
        if template in wanted:
            rows[template].append(row)
            hosts[template][scan.hosts[row.host]] += 1
            services[template][scan.services[row.service]] += 1
    texts = [text for _, text in _spread(scan, _all_rows(scan, file), _BACKGROUND)]
    told = {}
    for template in wanted:
        one = [concentrated(hosts[template], every[0], "host"), *_of_lines(scan, rows[template], texts)]
        one.append(concentrated(services[template], every[1], "service"))
        # a template is mostly one service's own, so that comes last; and that all have it says less than that one has
        text = next((t for t in one if t.startswith(_ONE)), "") or next((t for t in one if t), "")
        if text:
            told[template] = text
    return told


def concentrated(some: Counter[str], every: Counter[str], by: str) -> str:
    """Return a statement on whether one entity has it, most of it, or all have it."""
    named = {e: n for e, n in every.items() if e}
    counts = Counter({e: n for e, n in some.items() if e})
    total, whole = counts.total(), sum(named.values())
    if len(named) < 2 or total < 2:  # noqa: PLR2004 - of one entity nothing can be told, nor of one event
        return ""
    top, most = counts.most_common(1)[0]
    share = min(1.0, named.get(top, most) / whole)
    p = binomial_above(most, total, share) * len(named)
    if p <= _CHANCE and most >= _MOSTLY * total:
        word = "only" if most >= _ONLY * total else "mostly"
        return f"{word} {top} ({most} of {total} lines; {by} with {share:.0%} of all lines)"
    if len(counts) >= _ALL * len(named) and len(named) > 2:  # noqa: PLR2004 - two are not "all"
        part = f"the most, {top}, has {most / total:.0%} ({share:.0%} of all lines)"
        return f"{len(counts)} of {len(named)} {by}s; {part}"
    return ""


def _of_lines(scan: Scan, rows: list[Row], background: list[str]) -> list[str]:
    """Return statements from what a sample of the lines names."""
    lines = [text for _, text in _spread(scan, rows, _SAMPLE)]
    column = column_namer(background)
    readers = [("host", column[0])] if column else []
    readers += [(by, namer(by)) for by in ("node", "pod", "ip", "user", *shared_fields(background))]
    told = []
    for by, names in readers:
        some = Counter(e for text in lines for e in names(text))
        if some.total() < _NAMED * len(lines):
            continue
        every = Counter(e for text in background for e in names(text))
        for entity in some:  # a sample may have missed what only these lines name
            every[entity] = max(1, every[entity])
        if text := concentrated(some, every, by):
            told.append(text if len(rows) <= len(lines) else f"{text}, in a sample of {len(lines)}")
    return told


def entity_reader(scan: Scan, by: str, file: int | None) -> Callable[[Row, str], Sequence[str]]:
    """Return how the entities of a kind are read off an event and its line."""
    if by == "service" or (by == "host" and len(scan.hosts) > 1):
        names = scan.services if by == "service" else scan.hosts
        if by == "service":
            return lambda row, _: [names[row.service]] if row.service else ()
        return lambda row, _: [names[row.host]] if row.host else ()
    if by == "trace":
        kind = id_kind(scan) or id_kind(scan, 1.0)
        return lambda _, text: [number] if (number := id_of(kind, text)) else ()
    reads: Namer = namer(by)
    if by == "host":
        column = column_namer([text for _, text in _spread(scan, _all_rows(scan, file), _BACKGROUND)])
        reads = column[0] if column else namer("node")
    return lambda _, text: reads(text)


def _all_rows(scan: Scan, file: int | None) -> Iterator[Row]:
    """Yield events evenly spread over a scan, a few more than a background takes."""
    step = max(1, scan.table.rows // _BACKGROUND)
    for number, row in enumerate(scan.table):
        if number % step == 0 and file in (None, row.file):
            yield row


def _spread(scan: Scan, rows: Sequence[Row] | Iterator[Row], most: int) -> Iterator[tuple[Row, str]]:
    """Yield at most so many of the events with their first lines, evenly spread."""
    held = list(rows)
    step = max(1, -(-len(held) // most))
    for row in held[::step]:
        texts = scan.body(row.file).read(row.line, row.line)
        if texts:
            yield row, texts[0]


def _prune(found: Breakdown) -> None:
    """Drop the rarer half; what comes back later counts from then on."""
    for entity, _ in found.all.most_common()[_ENTITIES // 2 :]:
        del found.all[entity]
        found.some.pop(entity, None)
        found.firsts.pop(entity, None)
        found.dropped += 1
