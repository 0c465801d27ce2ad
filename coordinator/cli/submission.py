"""The command `submit`: a request over the queue, and, if asked, the wait for its report."""

from __future__ import annotations

import json
import re
import uuid
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, DataDir
from kernel.errors import Correctable, Exhausted

if TYPE_CHECKING:
    from kernel.settings import Settings

_UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?[smhd])+|\d+(?:\.\d+)?")
_PART = re.compile(r"(\d+(?:\.\d+)?)([smhd]?)")


class Priority(StrEnum):
    """How urgent a request is (kernel.contracts has the same, but costs pydantic to import)."""

    high = "high"
    normal = "normal"
    low = "low"


class Brain(StrEnum):
    """What decides the turns."""

    auto = "auto"
    routine = "routine"
    model = "model"


Text = Annotated[str, typer.Argument(metavar="TEXT", help="What to find out or to do.")]
Log = Annotated[
    list[str] | None,
    typer.Option(
        metavar="PATH|NAME",
        help="A file, folder or glob, or the name of a source that a worker reaches (ops/sources.yaml); repeat it.",
    ),
]
MoreLogs = Annotated[
    list[str] | None, typer.Argument(metavar="[PATH]...", help="More paths, as a shell expands a glob.")
]
Follow = Annotated[bool, typer.Option("--follow", "-f", help="Show the run live, then the report.")]
Wait = Annotated[bool, typer.Option("--wait", "-w", help="Wait for the report and print it.")]
Urgency = Annotated[Priority, typer.Option(help="Urgent requests are served first.")]
Deadline = Annotated[str | None, typer.Option(metavar="TIME", help="90s, 10m, 1h30m: the run ends by then.")]
SessionId = Annotated[str | None, typer.Option(metavar="ID", help="The conversation this belongs to.")]
Label = Annotated[list[str] | None, typer.Option(metavar="K=V", help="A label; repeat it.")]
Deciding = Annotated[Brain, typer.Option(help="routine: without a model.")]


@screen.answering
def submit(  # noqa: PLR0913 each option is an argument
    text: Text,
    *,
    log: Log = None,
    logs: MoreLogs = None,
    follow: Follow = False,
    wait: Wait = False,
    priority: Urgency = Priority.normal,
    deadline: Deadline = None,
    session: SessionId = None,
    label: Label = None,
    brain: Deciding = Brain.auto,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Submit a request to the desk; --log names what it may read: paths, or sources by their names.

    Without any, a source that a worker reaches is read where the text mentions its name: "why does checkout fail?"
    """
    from coordinator.cli.connection import join

    settings = join(data_dir)
    request: dict[str, Any] = {
        "text": _checked_text(text, settings.request_max_bytes),
        "labels": _labels(label or []),
        "session_id": session,
        "priority": priority.value,
        "deadline_seconds": _seconds(deadline),
        "brain": brain.value,
    }
    run_id = send(settings, request, [*(log or []), *(logs or [])])
    if wait or follow:
        from coordinator.cli.attending import attend

        raise typer.Exit(attend(settings, run_id, live=follow and not as_json, as_json=as_json, new=True))
    if as_json:
        screen.print_json({"run_id": run_id})
    else:
        screen.out().print(run_id, markup=False)
        screen.remark(f"watch it with `nightdesk watch {run_id[:8]}`")


def send(settings: Settings, request: dict[str, Any], logs: list[str]) -> str:
    """Attach what must be attached, queue the request and return the id of its run."""
    from coordinator.cli.attaching import attach, name_sources
    from coordinator.cli.connection import client, require_redis, roots_of
    from coordinator.cli.naming import part_names
    from kernel.artifacts import ArtifactStore
    from kernel.broker import submit as queue_request
    from kernel.redaction import make_redactor

    sources, paths = part_names(settings, logs)
    named = name_sources(paths, roots_of(settings), max_bytes=settings.artifact_max_bytes)
    require_redis(settings)
    store = ArtifactStore(settings.artifacts, max_bytes=settings.artifact_max_bytes)
    request = {**request, "sources": [*({"name": name} for name in sources), *attach(named, store)]}
    size = len(json.dumps(request, ensure_ascii=False).encode())
    if size > settings.request_max_bytes:
        raise _too_large("the request", size, settings.request_max_bytes)
    run_id = str(uuid.uuid4())
    queue_request(client(settings), make_redactor(settings), run_id, request, priority=request["priority"])
    return run_id


def _checked_text(text: str, limit: int) -> str:
    if not text.strip():
        raise Correctable("the request is empty", next_step="Say in a sentence what to find out or to do.")
    size = len(text.encode("utf-8", errors="surrogatepass"))
    if size > limit:
        raise _too_large("the text", size, limit)
    # bytes of the terminal that are no UTF-8 arrive as lone surrogates, which no JSON may carry
    return text.encode("utf-8", errors="replace").decode()


def _too_large(what: str, size: int, limit: int) -> Exhausted:
    return Exhausted(
        f"{what} is too large",
        why=f"it has {size:,} bytes and a request may have {limit:,}",
        next_step="Say it shortly, and put what is long into a file that --log names.",
    )


def _labels(given: list[str]) -> dict[str, str]:
    pairs = [text.partition("=") for text in given]
    for (key, equals, _), text in zip(pairs, given, strict=True):
        if not key or not equals:
            raise Correctable(
                f"{text!r} is no label", next_step="Write KEY=VALUE, for instance service=checkout."
            )
    return {key: value for key, _, value in pairs}


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    total = 0.0
    if _DURATION.fullmatch(text):
        total = sum(float(number) * _UNITS[unit or "s"] for number, unit in _PART.findall(text))
    if total <= 0:
        raise Correctable(f"{text!r} is no length of time", next_step="Write 90s, 10m or 1h30m.")
    return total
