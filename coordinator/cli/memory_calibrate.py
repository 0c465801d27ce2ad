"""The command that measures from what relevance on a memory is worth showing, for the embedder in use."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.memory_asking import ask
from coordinator.cli.options import AsJson, DataDir

#: A hundred short texts: 3 s on a quiet machine with the bundled embedder, longer behind an endpoint that is busy.
_SECONDS = 120.0
_BAR_WIDTH = 30


@screen.answering
def calibrate(
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure and show; store nothing.")] = False,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Measure the embedding model on pairs whose answer is known, and use the cut-offs that come out."""
    told = ask(data_dir, "memory.calibrate", {"dry_run": dry_run}, seconds=_SECONDS)
    if as_json:
        screen.print_json(told)
        return
    screen.out().print(histogram(told), markup=False)
    before, after = told["before"], told["scale"]
    for name, title in (
        ("low", "floor of similarity"),
        ("middle_cut", "middle from"),
        ("high_cut", "high from"),
    ):
        screen.out().print(f"{title:20} {before[name]:.2f} -> {after[name]:.2f}", markup=False)
    middle, high = f"{told['related_middle']:.0%}", f"{told['related_high']:.0%}"
    screen.out().print(
        f"of {told['pairs']} related pairs {middle} pass as middle and {high} as high; "
        f"of {told['unrelated']['count']} unrelated ones {told['unrelated_middle']:.0%} and none",
        markup=False,
    )
    screen.remark(
        f"stored for {told['space']}; recall uses it now" if told["stored"] else "nothing was stored"
    )


def histogram(told: dict[str, Any]) -> str:
    """Return both distributions of relevance side by side, each bar as a share of its own, with the cut-offs."""
    related, unrelated, scale = told["related"], told["unrelated"], told["scale"]
    bars = list(zip(related["bars"], unrelated["bars"], strict=True))
    width = 1 / len(bars)
    most = max(max(r / related["count"], u / unrelated["count"]) for r, u in bars)
    lines = [f"relevance  {'unrelated':>{_BAR_WIDTH}} | related"]
    for number, (of_related, of_unrelated) in enumerate(bars):
        start = number * width
        left = "#" * _length(of_unrelated / unrelated["count"], most)
        right = "#" * _length(of_related / related["count"], most)
        marks = [
            f"<- {name} {scale[cut]:.2f}"
            for name, cut in (("middle", "middle_cut"), ("high", "high_cut"))
            if start <= scale[cut] < start + width
        ]
        if of_related or of_unrelated or marks:
            line = f"{start:.2f}-{start + width:.2f}  {left:>{_BAR_WIDTH}} | {right:<{_BAR_WIDTH}} {' '.join(marks)}"
            lines.append(line.rstrip())
    return "\n".join(lines)


def _length(share: float, most: float) -> int:
    """Return the length of a bar; what is there at all is seen."""
    return max(round(share / most * _BAR_WIDTH), 1) if share else 0
