"""The archive: what left the index is still found by its words, in its own namespace alone."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from sqlalchemy import bindparam, text
from sqlalchemy import select as columns
from sqlmodel import Session, SQLModel, col, select

from kernel.contracts import MemoryHit
from kernel.database import Database, UtcDateTime
from memory_service import lexical
from memory_service.audit import take_turn
from memory_service.domain import Kind, Memory
from memory_service.forgetting.fading import Fading, strength
from memory_service.reading import to_memory
from memory_service.tables import JobRunRow, MemoryRow, MemoryStateRow

#: Names in one IN list; SQLite allows 32,766 variables.
_CHUNK = 5000
#: What nobody asked the archive for must have this share of the question's words to be served.
LEAST_SHARE = 0.5
#: Found beyond those wanted: some share one unimportant word with the question.
_SPARE = 20
#: Words remembered with their hashes.
_PIECES = 20_000
_DAY = 86_400.0
#: The job under which is noted how far words were renewed; memories of one step, about 60 ms, and steps of one call.
RENEWAL = "archive_words"
_RENEWED, _STEPS = 1000, 20

_DROP = text("DELETE FROM memory_archive WHERE rowid = :pk")
#: As the drivers take them: by names a night's rows cost a quarter more.
_KEEP = {
    "sqlite": "INSERT OR REPLACE INTO memory_archive (rowid, words) VALUES (?, ?)",
    "postgresql": "INSERT INTO memory_archive (rowid, words) VALUES (%s, to_tsvector('simple', %s)) "
    "ON CONFLICT (rowid) DO UPDATE SET words = excluded.words",
}
_M = SQLModel.metadata.tables["memory"].c
_TEXTS = columns(_M.pk, _M.key, _M.text, _M.context).where(_M.pk.in_(bindparam("pks", expanding=True)))
#: The namespace and the user stand in the query itself: nothing foreign is ever ranked, counted or cut off.
_WHERE = """
    FROM memory_archive a JOIN memory m ON m.pk = a.rowid JOIN memory_state s ON s.pk = a.rowid
    WHERE {match} AND m.namespace = :namespace AND (m."user" = '' OR m."user" = :user)
    AND s.status = 'archived' AND m.valid_from <= :as_of AND (m.valid_to IS NULL OR m.valid_to > :as_of)
    AND (s.expires_at IS NULL OR s.expires_at > :at)
"""
_MATCH = {"sqlite": "memory_archive MATCH :query", "postgresql": "a.words @@ to_tsquery('simple', :query)"}
_RANK = {
    "sqlite": "bm25(memory_archive)",
    "postgresql": "ts_rank(a.words, to_tsquery('simple', :query)) DESC",
}
_SEARCH = {
    dialect: text(
        f"SELECT a.rowid AS pk {_WHERE.format(match=match)} ORDER BY {_RANK[dialect]}, m.id LIMIT :limit"
    ).bindparams(bindparam("as_of", type_=UtcDateTime()))
    for dialect, match in _MATCH.items()
}


def keep(session: Session, pks: Sequence[int]) -> None:
    """Put the words of memories into the archive, or put them there anew."""
    session.flush()
    for start in range(0, len(pks), _CHUNK):
        connection = session.connection()
        found = connection.execute(_TEXTS, {"pks": pks[start : start + _CHUNK]})
        kept = [(pk, words(_told(key, told, context))) for pk, key, told, context in found]
        if kept:
            connection.exec_driver_sql(_KEEP[connection.dialect.name], kept)


def drop(session: Session, pks: Sequence[int]) -> None:
    """Take memories out of the archive; those that are not there are no error."""
    if pks:
        session.connection().execute(_DROP, [{"pk": pk} for pk in pks])


def renew(database: Database, *, most: int = _STEPS * _RENEWED, step: int = _RENEWED) -> int:
    """Put words into the archive anew that another version of `lexical` wrote; return how many memories were done.

    Goes on where the last call stopped; once all are done, a call is one SELECT.
    """
    done = 0
    while done < most:
        with database.reading() as session:
            noted = session.get(JobRunRow, (RENEWAL, ""))
        if noted is not None and noted.state == "done" and noted.counts["words"] == lexical.VERSION:
            break
        with database.writing("memory.archive.renew") as session:
            take_turn(session)  # what is restored or forgotten meanwhile must not get its words back
            done += _renewed(session, step)
    return done


def _renewed(session: Session, step: int) -> int:
    noted = session.get(JobRunRow, (RENEWAL, "")) or JobRunRow(job=RENEWAL, epoch="")
    goes_on = noted.counts.get("words") == lexical.VERSION
    query = (
        select(MemoryStateRow.pk)
        .where(
            MemoryStateRow.status == "archived", col(MemoryStateRow.pk) > int((goes_on and noted.cursor) or 0)
        )
        .order_by(col(MemoryStateRow.pk))
        .limit(step)
    )
    pks = list(session.exec(query))
    keep(session, pks)
    noted.cursor, noted.counts = str(pks[-1]) if pks else "", {"words": lexical.VERSION}
    noted.state = "running" if pks else "done"
    session.add(noted)
    return len(pks)


def words(told: str) -> str:
    """Return the hashed words of a text: letters and digits only, so that every engine splits them alike."""
    return " ".join(sorted(set().union(*map(_of_document, told.split()))))


# Texts of one desk share most of their words, and splitting these is most of a night's work: 58 us a memory without.
@lru_cache(maxsize=_PIECES)
def _of_document(piece: str) -> tuple[str, ...]:
    return tuple(map(_word, lexical.indices(piece)))


def _asked(told: str) -> set[str]:
    return {_word(index) for piece in told.split() for index in lexical.query(piece).indices}


def _word(index: int) -> str:
    return f"w{index:08x}"  # the letter keeps 12345678 a word: PostgreSQL would read a number


def search(
    database: Database,
    namespace: str,
    user: str,
    told: str,
    limit: int,
    *,
    at: datetime,
    as_of: datetime | None = None,
    kinds: Sequence[Kind] = (),
) -> list[tuple[Memory, float]]:
    """Return archived memories with the share of the question's words that each has, the best ranked first."""
    asked = _asked(told)
    if not asked:
        return []
    parameters = {
        "query": _any_of(asked, sqlite=database.is_sqlite),
        "namespace": namespace,
        "user": user,
        "as_of": as_of or at,
        "at": at.timestamp(),
        "limit": limit + _SPARE,
    }
    with database.reading() as session:
        statement = _SEARCH["sqlite" if database.is_sqlite else "postgresql"]
        pks = [row.pk for row in session.connection().execute(statement, parameters)]
        joined = select(MemoryRow, MemoryStateRow).where(
            col(MemoryRow.pk) == col(MemoryStateRow.pk), col(MemoryRow.pk).in_(pks)
        )
        found = {state.pk: to_memory(row, state) for row, state in session.exec(joined)}
    ranked = [(memory, _share(asked, memory)) for pk in pks if (memory := found.get(pk))]
    return [pair for pair in ranked if not kinds or pair[0].kind in kinds][:limit]


def recalled(
    database: Database,
    namespace: str,
    user: str,
    told: str,
    limit: int,
    *,
    at: datetime,
    as_of: datetime,
    kinds: Sequence[Kind] = (),
    least: float = 0.0,
) -> list[MemoryHit]:
    """Return archived memories as recall serves them; `least` is the share of the question's words they must have."""
    found = search(database, namespace, user, told, limit, at=at, as_of=as_of, kinds=kinds)
    return [_hit(memory, share, at) for memory, share in found if share >= least]


def _any_of(asked: set[str], *, sqlite: bool) -> str:
    return (" OR " if sqlite else " | ").join(sorted(asked))


def _share(asked: set[str], memory: Memory) -> float:
    has = words(_told(memory.key, memory.text, memory.context)).split()
    return len(asked.intersection(has)) / len(asked)


def _told(key: str, told: str, context: str) -> str:
    return f"{key} {told} {context}"


def _hit(memory: Memory, share: float, at: datetime) -> MemoryHit:
    """Return an archived memory as recall serves it: never as a fact, and as weak as it has become."""
    left = strength(
        Fading(
            importance=memory.importance,
            weight=memory.weight,
            emotion=0.0,
            access_count=0,
            half_life=memory.half_life_s,
            last_access=memory.last_access_at,
        ),
        at.timestamp(),
    )
    return MemoryHit(
        id=memory.id,
        kind=memory.kind,
        text=memory.text,
        tier="middle",
        score=round(share * left, 6),
        age_days=round((at - memory.recorded_at).total_seconds() / _DAY, 3),
        source=memory.source_ref or memory.source_kind,
        slots=memory.slots,
        explain={"archived": round(share, 6), "strength": round(left, 6)},
    )
