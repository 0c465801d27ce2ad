"""The HTTP face: submit, look, follow, decide; health and metrics. Thin: every route asks one part of the desk."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from coordinator import sse
from coordinator.chronicle import questions
from coordinator.decisions import Decisions
from coordinator.health import Health, is_well
from coordinator.http import Guard, NotFound, is_loopback, problem_of, read_object, unknown_path
from coordinator.intake import parse
from coordinator.store import Snapshot, Store
from coordinator.views import view_run
from kernel import metrics
from kernel.cards import Cards
from kernel.control import Control
from kernel.errors import Correctable, Fatal, NightdeskError
from kernel.redaction import make_redactor
from kernel.reports import Report
from kernel.settings import Settings
from kernel.streams import EventLog

#: A message in Redis stays under 64 KiB (architecture, section 6), and so does what becomes one.
_BODY_BYTES = 64 * 1024
_NAME_CHARACTERS = 80

Submit = Callable[[str, dict[str, Any], str], None]


async def _nothing() -> None:
    return None


@dataclass(frozen=True, kw_only=True)
class Face:
    """What the routes use. `submit(run_id, request, priority)` sends over the queue."""

    settings: Settings
    store: Store
    decisions: Decisions
    events: EventLog
    control: Control
    cards: Cards
    submit: Submit
    close: Callable[[], Awaitable[None]] = field(default=_nothing)


def make_web(face: Face) -> Starlette:
    """Return the ASGI application; raise Fatal where it would stand open to others without a token."""
    settings = face.settings
    if settings.api_token is None and not is_loopback(settings.api_host):
        raise Fatal(
            f"the HTTP face may not listen on {settings.api_host!r}",
            why="without a token it serves this machine only",
            next_step="Set NIGHTDESK_API_TOKEN, or NIGHTDESK_API_HOST=127.0.0.1.",
        )

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        yield
        await face.close()

    app = Starlette(
        routes=[
            Route("/v1/runs", submit_run, methods=["POST"]),
            Route("/v1/runs/{run}", show_run, methods=["GET"]),
            Route("/v1/runs/{run}/events", follow_run, methods=["GET"]),
            Route("/v1/runs/{run}/cancel", cancel_run, methods=["POST"]),
            Route("/v1/runs/{run}/calls/{call}/approve", approve_call, methods=["POST"]),
            Route("/v1/runs/{run}/calls/{call}/deny", deny_call, methods=["POST"]),
            Route("/v1/runs/{run}/calls/{call}/resolve", resolve_call, methods=["POST"]),
            Route("/v1/questions", list_questions, methods=["GET"]),
            Route("/livez", live, methods=["GET"]),
            Route("/readyz", health, methods=["GET"]),
            Route("/healthz", health, methods=["GET"]),
            Route("/metrics", measure, methods=["GET"]),
        ],
        middleware=[Middleware(Guard, token=settings.api_token)],
        exception_handlers={NightdeskError: problem_of, HTTPException: unknown_path},
        lifespan=lifespan,
    )
    app.state.face = face
    app.state.health = Health(face.control, face.store.database)
    app.state.redactor = make_redactor(settings)
    return app


async def submit_run(request: Request) -> Response:
    """Check a request as the coordinator does, and send it: 202 with the id of its run."""
    face = _face(request)
    limit = face.settings.request_max_bytes
    fields = await read_object(request, most_bytes=max(_BODY_BYTES, 2 * limit))
    checked = parse(fields, max_bytes=limit)
    run_id = str(uuid.uuid4())
    body = checked.model_dump(mode="json", exclude_none=True)
    await asyncio.to_thread(face.submit, run_id, body, checked.priority.value)
    links = {"Location": f"/v1/runs/{run_id}"}
    return JSONResponse({"run_id": run_id}, 202, headers=links)


async def show_run(request: Request) -> Response:
    """Answer where a run stands, with its report once it has ended."""
    face = _face(request)
    return JSONResponse(await asyncio.to_thread(view_run, face.store, await _snapshot(request)))


async def follow_run(request: Request) -> Response:
    """Stream a run's events, from the start or after Last-Event-ID, to its report."""
    face, run_id = _face(request), request.path_params["run"]
    after = sse.check_id(request.headers.get("last-event-id"))
    if await asyncio.to_thread(face.store.snapshot, run_id) is None:
        # sent a moment ago: the coordinator's first event says that it has taken it
        await face.events.read(run_id, block=True)
    view = await asyncio.to_thread(view_run, face.store, await _snapshot(request))

    def read_report() -> Report | None:
        snapshot = face.store.snapshot(run_id)
        if snapshot is None or not snapshot.run.published:
            return None
        return Report.model_validate(snapshot.run.report)

    return await sse.stream(face.events, run_id, after, read_report=read_report, view=view)


async def cancel_run(request: Request) -> Response:
    """Stop a run; answer what that stops and what had already happened, from the ledger."""
    body = await read_object(request, most_bytes=_BODY_BYTES, needed=False)
    run_id = (await _snapshot(request)).run.id
    stopped = await _face(request).decisions.cancel(run_id, by=_name(body))
    told = stopped.model_dump(mode="json", exclude={"parts"})
    parts = [part.model_dump(mode="json") for part in stopped.parts]
    return JSONResponse({"decision": "cancelled", **told, "stopped": parts}, 202)


async def approve_call(request: Request) -> Response:
    """Approve a call that waits: exactly what was shown, once."""
    return await _decide(request, "approved")


async def deny_call(request: Request) -> Response:
    """Deny a call that waits; the run goes on without it."""
    return await _decide(request, "denied")


async def _decide(request: Request, decision: Literal["approved", "denied"]) -> Response:
    face = _face(request)
    body = await read_object(request, most_bytes=_BODY_BYTES, needed=False)
    run_id = (await _snapshot(request)).run.id
    call = request.path_params["call"]
    reason = _reason(request, body)
    row = await face.decisions.decide(run_id, call, decision, by=_name(body), reason=reason)
    return JSONResponse({"run_id": run_id, "call_id": row.call_id, "decision": row.state})


async def resolve_call(request: Request) -> Response:
    """Answer whether a call happened that the desk cannot know about: `happened` true or false, and why."""
    body = await read_object(request, most_bytes=_BODY_BYTES)
    happened, run_id = body.get("happened"), (await _snapshot(request)).run.id
    if not isinstance(happened, bool):
        raise Correctable(
            "`happened` is neither true nor false", why=f"it is {happened!r}"[:_NAME_CHARACTERS]
        )
    row = await _face(request).decisions.resolve(
        run_id, request.path_params["call"], happened=happened, by=_name(body), reason=_reason(request, body)
    )
    return JSONResponse({"run_id": run_id, "call_id": row.call_id, "decision": row.state})


async def list_questions(request: Request) -> Response:
    """Answer which calls may have happened and wait for somebody to find out."""
    store = _face(request).store

    def read() -> list[dict[str, Any]]:
        with store.database.reading() as db:
            return [question.model_dump(mode="json") for question in questions(db)]

    return JSONResponse({"questions": await asyncio.to_thread(read)})


async def live(_request: Request) -> Response:
    """Answer that this process does, whatever Redis and SQL do: a restart would not mend those."""
    return JSONResponse({"status": "ok"})


async def health(request: Request) -> Response:
    """Answer 200 where Redis and SQL do, else 503 with the reason."""
    said = await request.app.state.health.check()
    well = is_well(said)
    shown = request.app.state.redactor.value({"status": "ok" if well else "down", **said})
    return JSONResponse(shown, 200 if well else 503)


async def measure(request: Request) -> Response:
    """Answer in Prometheus' text format, computed now."""
    face = _face(request)
    reading = await metrics.read(face.store.database, face.control, face.cards)
    return Response(metrics.render(reading), media_type=metrics.CONTENT_TYPE)


def _face(request: Request) -> Face:
    face: Face = request.app.state.face
    return face


async def _snapshot(request: Request) -> Snapshot:
    run_id = request.path_params["run"]
    found = await asyncio.to_thread(_face(request).store.snapshot, run_id)
    if found is None:
        raise NotFound(
            f"there is no run {run_id[:_NAME_CHARACTERS]!r}",
            next_step="If it was sent a moment ago, no coordinator has taken it yet: ask again.",
        )
    return found


def _name(body: dict[str, Any]) -> str:
    """Return who decides, for the audit: the caller's word, marked as such."""
    by = body.get("by", "")
    if not isinstance(by, str):
        raise Correctable("by is no text", why=f"it is a {type(by).__name__}")
    name = " ".join(by.split())[:_NAME_CHARACTERS]
    return f"api:{name}" if name else "api"


def _reason(request: Request, body: dict[str, Any]) -> str:
    """Return why somebody decides, redacted."""
    reason = body.get("reason", "")
    if not isinstance(reason, str):
        raise Correctable("the reason is no text", why=f"it is a {type(reason).__name__}")
    cleaned: str = request.app.state.redactor.text(reason)
    return cleaned
