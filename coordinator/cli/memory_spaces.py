"""The commands about the memory's index: its spaces, migrate to another model, rebuild, and the doctor."""

from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Annotated, Any, Self

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import ask, ring
from coordinator.cli.options import AsJson, DataDir

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

#: A comparison of a million memories takes about a minute.
_DOCTOR_SECONDS = 600.0
#: Between two looks at a build; and how long a worker may be away (it restarts) before we stop looking.
_LOOK_SECONDS, _AWAY = 0.5, 60
#: Characters of a bar in a pipe, which gets a line for each tenth instead.
_TENTHS = 10
#: The same model built anew differs by ties alone; from here on down the change is one of the model.
_ALIKE = 0.9

NoWait = Annotated[bool, typer.Option("--no-wait", help="Begin it, and come back at once.")]


@screen.answering
def migrate(
    *,
    rollback: Annotated[
        bool, typer.Option("--rollback", help="Give up the build under way, or go back to the space before.")
    ] = False,
    no_wait: NoWait = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Build the index of the configured embedder beside the one that is served, then swap them."""
    _built(data_dir, "memory.rollback" if rollback else "memory.migrate", no_wait=no_wait, as_json=as_json)


@screen.answering
def rebuild(*, no_wait: NoWait = False, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Build the index anew from SQL, with the same embedder; nothing is embedded again."""
    _built(data_dir, "memory.rebuild", no_wait=no_wait, as_json=as_json)


@screen.answering
def spaces(*, data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show which embedding space is served, which is being built and which are kept for a way back."""
    standing = ask(data_dir, "memory.spaces", {})
    if as_json:
        screen.print_json(standing)
        return
    from rich.text import Text

    from coordinator.cli.memory_table import plain

    table = plain("space", "dimensions", "state")
    for space, model, dimensions, state in _rows(standing):
        # the id alone tells two spaces of one model apart: it is never cut
        table.add_row(Text(f"{space}\n").append(model, style="dim"), dimensions, state)
    screen.out().print(table)
    _warn(standing)


@screen.answering
def doctor(
    *,
    repair: Annotated[bool, typer.Option("--repair", help="Mend what can be mended.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Compare SQL and the index, both ways, and say what each difference means; exit 1 where something is wrong."""
    told = ask(data_dir, "memory.doctor", {"repair": repair}, seconds=_DOCTOR_SECONDS)
    if as_json:
        screen.print_json(told)
    else:
        _show_findings(told)
    if not told["well"]:
        raise typer.Exit(screen.FAILED)


def _built(data_dir: Path | None, task: str, *, no_wait: bool, as_json: bool) -> None:
    standing = ask(data_dir, task, {})
    if standing["shadow"] is not None:
        ring(data_dir, "memory.build", note="index build")
        if not no_wait:
            standing = _followed(data_dir, standing, as_json=as_json)
    if as_json:
        screen.print_json(standing)
        return
    screen.out().print(_became(standing, rolled_back=task == "memory.rollback"), markup=False)


def _became(standing: dict[str, Any], *, rolled_back: bool) -> str:
    """Return what a build came to."""
    served, last = standing["served"], standing["last_build"]
    if standing["shadow"] is not None:
        return "the build goes on in the memory worker; see `nightdesk memory spaces`"
    if last and last["space"] == served["id"]:
        alike = "" if last["overlap"] is None or rolled_back else f"; {_alike(last['overlap'])}"
        return f"{served['id']} is served now: {last['rows']} memories{alike}"
    if rolled_back:
        return f"{served['id']} is served"
    return f"the build was given up; {served['id']} is still served"


def _alike(overlap: float) -> str:
    """Return how much the nearest memories of a sample changed, and what that says."""
    told = f"{overlap:.0%} of the nearest memories are the same as before"
    if overlap >= _ALIKE:
        return told
    return (
        f"{told}: another model finds other neighbours, which may be better or worse; compare with "
        "`nightdesk memory recall`, and go back with `nightdesk memory migrate --rollback`"
    )


def _followed(data_dir: Path | None, standing: dict[str, Any], *, as_json: bool) -> dict[str, Any]:
    """Show how the build goes on until it is served; Ctrl-C leaves it to the worker."""
    from kernel.errors import Retryable

    pause, away = Event(), 0
    with _Bar(silent=as_json) as bar:
        while (shadow := standing["shadow"]) is not None:
            bar.show(shadow)
            if standing.get("trouble"):
                raise Retryable(
                    "the build has stopped",
                    why=standing["trouble"],
                    next_step="It goes on by itself when that is mended; the old index is still served.",
                )
            pause.wait(_LOOK_SECONDS)
            try:
                standing = ask(data_dir, "memory.spaces", {})
                away = 0
            except Retryable:  # it restarts, and takes the build up again
                away += 1
                if away * _LOOK_SECONDS > _AWAY:
                    raise
    return standing


class _Bar:
    """A bar in a terminal, a line for each tenth in a pipe, nothing where a program reads."""

    def __init__(self, *, silent: bool) -> None:
        self._silent = silent
        self._tenth = -1
        self._progress: Progress | None = None
        self._task: TaskID | None = None

    def __enter__(self) -> Self:
        console = screen.err()
        if not self._silent and console.is_terminal:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

            self._progress = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]:.0f} rows/s"),
                TimeRemainingColumn(),
                console=console,
            )
            self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, shadow: dict[str, Any]) -> None:
        """Show how far the build is."""
        done, total, rate = shadow["done"], shadow["total"], shadow["rate"]
        if self._progress is not None:
            if self._task is None:
                self._task = self._progress.add_task(shadow["id"], total=total, rate=rate)
            self._progress.update(self._task, completed=done, total=total, rate=rate)
            return
        tenth = _TENTHS * done // max(1, total)
        if not self._silent and tenth > self._tenth:
            self._tenth = tenth
            screen.remark(f"{shadow['id']}: {done} of {total} memories, {rate:.0f} rows/s")


def _rows(standing: dict[str, Any]) -> list[tuple[str, str, str, str]]:
    served, shadow = standing["served"], standing["shadow"]
    rows = [(served, "served" if standing["ranked"] else "served, without ranking")]
    if shadow:
        rows.append(
            (shadow, f"being built: {shadow['done']} of {shadow['total']}, {shadow['rate']:.0f} rows/s")
        )
    rows += [(row, f"kept since {row['retired_at'][:16]}") for row in standing["retired"]]
    return [(row["id"], row["model"], str(row["dimensions"]), state) for row, state in rows]


def _warn(standing: dict[str, Any]) -> None:
    if standing["warning"]:
        screen.remark(standing["warning"])
    if standing.get("trouble"):
        screen.remark(f"the build has stopped: {standing['trouble']}")


def _show_findings(told: dict[str, Any]) -> None:
    for finding in told["findings"]:
        done = "mended" if finding["mended"] else finding["next_step"]
        said = f"{finding['count']} x {finding['what']}\n   means: {finding['means']}"
        # a warning says itself what to do
        advice = "" if done in finding["what"] else f"\n   {'done' if finding['mended'] else 'next'}: {done}"
        screen.out().print(said + advice, markup=False)
    looked = f"{told['memories']} memories compared with {told['points']} points of {told['space']}"
    screen.out().print(("well: " if told["well"] else "not well: ") + looked, markup=False)
