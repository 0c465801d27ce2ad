"""Spending in SQL: a row for each request, written before Redis hears of it; its sums are what Redis is seeded with."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sqlalchemy import ColumnElement, case, delete, func, update
from sqlmodel import Session, col, select

from kernel.budgets import Amount, Ask, Counts, Scope, ScopeKind, Spender, Verdict, judge
from kernel.database import Database
from kernel.ledgers import SpendRow

#: The key of the one row that is no spending: its `model_calls` count how often Redis was passed by. It belongs to no
#: run and no day, so no sum has it.
EPOCH = "#epoch"
_COLUMNS = [getattr(SpendRow, name) for name in Amount.model_fields]


class Spending:
    """The rows of what was asked for, and their sums."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def enter(self, key: str, spender: Spender, day: str, amount: Amount, *, durable: bool) -> bool:
        """Write down what a request may cost, once for each key; False where it was settled before."""
        with self._database.writing("budget.enter", durable=durable) as session:
            row = session.get(SpendRow, key)
            if row is not None:
                return not row.settled
            session.add(
                SpendRow(
                    key=key,
                    run_id=spender.run_id,
                    assignment_id=spender.assignment_id,
                    namespace=spender.namespace,
                    day=day,
                    **amount.model_dump(),
                )
            )
            return True

    def drop(self, key: str) -> None:
        """Take back what was refused: it is not sent."""
        with self._database.writing("budget.drop") as session:
            session.execute(delete(SpendRow).where(col(SpendRow.key) == key))

    def put(self, key: str, amount: Amount, *, settled: bool) -> None:
        """Write down what was granted, or what it really cost; what was settled stays as it is."""
        with self._database.writing("budget.put") as session:
            session.execute(
                update(SpendRow)
                .where(col(SpendRow.key) == key, col(SpendRow.settled).is_(False))
                .values(settled=settled, **amount.model_dump())
            )

    def epoch(self) -> int:
        """Return how often Redis was passed by; counters of an earlier epoch lack what was decided here."""
        with self._database.reading() as session:
            row = session.get(SpendRow, EPOCH)
            return row.model_calls if row is not None else 0

    def pass_by(self) -> None:
        """Begin a new epoch: from here on no process believes counters in Redis that were seeded before."""
        with self._database.writing("budget.pass_by") as session:
            row = session.get(SpendRow, EPOCH, with_for_update=True)
            if row is None:
                row = SpendRow(key=EPOCH, run_id="", namespace="", day="", settled=True)
            row.model_calls += 1
            session.add(row)

    def sums(self, scope: Scope) -> tuple[Counts, dict[str, Counts]]:
        """Return the sum of what is settled in a scope, and each reservation that is open."""
        with self._database.reading() as session:
            found = _sums(session, scope)
        return found.pop("", Amount().counts), found

    def decide(self, key: str, scopes: Sequence[Scope], ask: Ask) -> Verdict:
        """Grant or refuse a request that was entered, by the sums of all others; what is refused is taken back.

        Each request is committed before its sum is read, so of several that exceed a limit together the one that
        was entered last sees all the others, on any database.
        """
        with self._database.writing("budget.decide", durable=True) as session:
            spent = [_total(_sums(session, scope, but=key).values()) for scope in scopes]
            verdict = judge(ask, [scope.budget.caps for scope in scopes], spent)
            if verdict.refused is not None:
                session.execute(delete(SpendRow).where(col(SpendRow.key) == key))
            return verdict


def spent(session: Session, scope: Scope) -> tuple[Amount, Amount]:
    """Return what is spent in a scope, and the part of it that is only reserved: under way, or cut."""
    found = _sums(session, scope)
    total, reserved = _total(found.values()), _total(counts for key, counts in found.items() if key)
    return Amount.of(total), Amount.of(reserved)


def namespaces(session: Session, day: str) -> list[str]:
    """Return the namespaces that spent anything on a day."""
    return sorted(session.exec(select(SpendRow.namespace).where(SpendRow.day == day).distinct()))


def _sums(session: Session, scope: Scope, *, but: str = "") -> dict[str, Counts]:
    # one statement is one snapshot: a row that is settled meanwhile is on one side or the other
    name = case((col(SpendRow.settled), ""), else_=col(SpendRow.key)).label("name")
    query = (
        select(name, *(func.sum(column) for column in _COLUMNS))
        .where(_within(scope), col(SpendRow.key) != but)
        .group_by(name)
    )
    fields = list(Amount.model_fields)
    return {row[0]: Amount(**dict(zip(fields, row[1:], strict=True))).counts for row in session.exec(query)}


def _within(scope: Scope) -> ColumnElement[bool]:
    match scope.kind:
        case ScopeKind.assignment:
            return col(SpendRow.assignment_id) == scope.name
        case ScopeKind.run:
            return col(SpendRow.run_id) == scope.name
        case ScopeKind.namespace:
            return (col(SpendRow.namespace) == scope.name) & (col(SpendRow.day) == scope.day)
        case ScopeKind.day:
            return col(SpendRow.day) == scope.day


def _total(parts: Iterable[Counts]) -> Counts:
    a, b, c, d, e = (sum(column) for column in zip(Amount().counts, *parts, strict=True))
    return (a, b, c, d, e)
