"""The command that shows what is spent today, of what: the whole desk and its namespaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from kernel.budgets import Budgets


@screen.answering
def budget(
    *,
    namespace: Annotated[str | None, typer.Option(help="Only this namespace.")] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show what is spent today (UTC) and the limits; what is under way counts at what it may cost at most."""
    from datetime import UTC

    from coordinator.cli.connection import join
    from kernel.clock import now

    settings = join(data_dir)
    day = now().astimezone(UTC).date().isoformat()
    from coordinator.cli import history

    with history.reading(settings) as session:
        scopes = spending(session, settings.budgets, day, namespace=namespace)
    if as_json:
        screen.print_json({"day": day, "scopes": scopes})
        return
    _print(day, scopes)


def spending(session: Any, budgets: Budgets, day: str, *, namespace: str | None) -> list[dict[str, Any]]:
    """Return what each scope of a day spent, the part that is only reserved, and the limits."""
    from kernel.budgets import Scope, ScopeKind
    from kernel.spending import namespaces, spent

    names = [namespace] if namespace is not None else namespaces(session, day)
    scopes = [] if namespace is not None else [Scope(kind=ScopeKind.day, day=day, budget=budgets.day)]
    for name in names:
        limits = budgets.namespaces.get(name, budgets.namespace)
        scopes.append(Scope(kind=ScopeKind.namespace, name=name, day=day, budget=limits))
    found = []
    for scope in scopes:
        total, reserved = spent(session, scope)
        found.append(
            {
                "scope": scope.kind.value,
                "namespace": scope.name,
                "spent": total.model_dump(),
                "reserved": reserved.model_dump(),
                "limit": scope.budget.model_dump(),
            }
        )
    return found


def _print(day: str, scopes: list[dict[str, Any]]) -> None:
    from rich.table import Table
    from rich.text import Text

    from kernel.budgets import KINDS

    table = Table(title=f"spent on {day} (UTC), of the limit where there is one", title_justify="left")
    table.add_column("scope")
    for _, _, words in KINDS:
        table.add_column(words, justify="right", no_wrap=True)
    for scope in scopes:
        cells = [_cell(scope["spent"][name], scope["limit"][name]) for name, _, _ in KINDS]
        table.add_row(Text(scope["namespace"] or "the whole desk"), *cells)
    console = screen.out()
    console.print(table)
    console.print("tool calls and seconds are counted only while a limit names them", style="dim")
    console.print("the limits are those of this terminal's environment", style="dim")


def _cell(spent: float, limit: float | None) -> str:
    return f"{spent:.10g}" if limit is None else f"{spent:.10g} / {limit:.10g}"
