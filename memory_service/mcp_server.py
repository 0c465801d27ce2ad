"""The memory as an MCP server over stdio: `python -m memory_service.mcp_server`; asks the worker over the queue."""

from __future__ import annotations

import argparse
from collections.abc import Awaitable, Callable
from typing import Annotated, Any, Literal

from mcp import MCPError
from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import INVALID_PARAMS, ToolAnnotations
from pydantic import Field, ValidationError

from kernel import logs
from kernel.broker import MEMORY, Doorbell, make_celery
from kernel.contracts import MemoryHit
from kernel.control import Control, connect
from kernel.errors import Fatal, NightdeskError
from kernel.redaction import make_redactor
from kernel.settings import DeskAddresses, Settings, settings

#: Asks the worker: task, question, seconds to wait.
Ask = Callable[[str, dict[str, Any], float], Awaitable[Any]]

_HITS_MOST = 20
#: Where a desk leaves its addresses in its data folder (coordinator.cli.layout).
_ADDRESSES = "desk.json"
#: A durable commit and an embedding on a busy machine.
_REMEMBER_SECONDS = 10.0
#: The name of a client that does not introduce itself, and how much of a name is kept.
_NAMELESS, _NAME_CHARACTERS = "unknown", 60
_FILED = (
    "Words to file it under: service, incident, cause, remedy; of a person profile, preference, habit, relationship, "
    "event; of yourself persona, style, emotion, opinion, event."
)
_NOBODYS = (
    "Whose preference this is is not known: nobody's may shape what everybody reads. Remember a fact, or have the "
    "server started with --user."
)


def make_server(settings: Settings, *, namespace: str, user: str) -> MCPServer:
    """Return the server of one namespace and user: whoever starts it says whose memories it serves, not a model."""
    doorbell = Doorbell(make_celery(settings, "memory-mcp"), make_redactor(settings))
    control = Control(connect(settings.redis_url))
    server: MCPServer = MCPServer(
        "nightdesk-memory", instructions="What the desk learnt from earlier runs. Quote a memory by its id."
    )

    async def ask(task: str, question: dict[str, Any], seconds: float) -> Any:
        asked = {**question, "namespace": namespace}
        try:
            return await control.ask(doorbell, task, queue_name=MEMORY, question=asked, seconds=seconds)
        except NightdeskError as error:
            raise ToolError(str(error)) from error  # of any other error the library tells its client nothing

    _offer_recall(server, ask, user=user, seconds=settings.recall_timeout)
    _offer_remember(server, ask, user=user)
    server.middleware.append(_strictly(server))
    return server


def _strictly(server: MCPServer) -> ServerMiddleware[Any]:
    """Return what refuses an argument that a tool does not know; the library leaves such out in silence."""

    async def checked(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        if ctx.method == "tools/call":
            called = dict(ctx.params or {})
            tools = {tool.name: tool for tool in await server.list_tools()}
            told = called.get("arguments")
            if (tool := tools.get(str(called.get("name")))) is not None and isinstance(told, dict):
                known = tool.input_schema.get("properties", {})
                if unknown := sorted(set(told) - set(known)):
                    raise MCPError(
                        INVALID_PARAMS,
                        f"{tool.name} has no argument {', '.join(unknown)}; it has: {', '.join(known)}",
                    )
        return await call_next(ctx)

    return checked


def _offer_recall(server: MCPServer, ask: Ask, *, user: str, seconds: float) -> None:
    @server.tool(annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False))
    async def recall(
        text: Annotated[
            str, Field(description="The question or the symptom, in plain words.", max_length=2000)
        ],
        limit: Annotated[int, Field(description="How many memories at most.", ge=1, le=_HITS_MOST)] = 5,
    ) -> list[MemoryHit]:
        """Recall what is known about a question: earlier incidents with cause and remedy, facts, preferences.

        Use it when a symptom turns up that may have been seen before. An empty list means nothing is known.
        Example: recall(text="checkout answers 503, connection pool exhausted")
        """
        hits = await ask("memory.recall", {"text": text, "limit": limit, "user": user}, seconds)
        return [MemoryHit.model_validate(hit) for hit in hits]


def _offer_remember(server: MCPServer, ask: Ask, *, user: str) -> None:
    @server.tool(
        annotations=ToolAnnotations(
            read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False
        )
    )
    async def remember(
        ctx: Context[Any, Any],
        text: Annotated[
            str, Field(description="One sentence that is understood by itself.", max_length=4000)
        ],
        kind: Annotated[
            Literal["fact", "preference", "episode"],
            Field(description="What is, what is wanted, what happened."),
        ] = "fact",
        key: Annotated[
            str, Field(description="Short name of a fact that may change; the old value stays as history.")
        ] = "",
        importance: Annotated[float, Field(description="Below 0.3 nothing is kept.", ge=0, le=1)] = 0.6,
        tags: Annotated[list[str] | None, Field(description=_FILED)] = None,
    ) -> dict[str, str | int | None]:
        """Remember one thing for later: a fact about a system, a preference, something that happened.

        Use it for what still matters next week. The answer holds its id and what became of it: insert, touch (known
        already), supersede (the old value is closed), history (a more trusted source says otherwise), quarantine (a
        person looks at it first) or dropped, with the reason.
        Example: remember(text="checkout's pool holds 20 connections", key="checkout pool size", tags=["service"])
        """
        said = {"text": text, "kind": kind, "key": key, "importance": importance, "tags": tags or []}
        whose = {"user": _whose(kind, user), "owner": "user" if kind == "preference" else "agent"}
        source = {"source_kind": "agent", "source_ref": f"mcp:{_client(ctx)}"}
        answer = await ask("memory.remember", {**said, **whose, **source}, _REMEMBER_SECONDS)
        return {name: answer[name] for name in ("id", "outcome", "reason", "hidden")}


def _whose(kind: str, user: str) -> str:
    """Return who alone is to see it: a preference is one person's, a fact about the systems is everybody's."""
    if kind != "preference":
        return ""
    if not user:
        raise ToolError(_NOBODYS)
    return user


def _client(ctx: Context[Any, Any]) -> str:
    """Return what the client calls itself: a word it chose, kept for people to read and trusted no further."""
    told = ctx.session.client_params
    name = told.client_info.name if told is not None else ""
    return " ".join("".join(c for c in name if c.isprintable()).split())[:_NAME_CHARACTERS] or _NAMELESS


def joined(configured: Settings) -> Settings:
    """Return the settings with the broker of the desk in the data folder, as the command line finds it.

    Raises Fatal where no desk was started there and no broker is named.
    """
    if "redis_url" in configured.model_fields_set:
        return configured
    where = f"{str(configured.data)!r}, which NIGHTDESK_DATA_DIR names"
    then = "Start it with `nightdesk up --detach`, or name another with NIGHTDESK_DATA_DIR or NIGHTDESK_REDIS_URL."
    try:
        found = DeskAddresses.model_validate_json((configured.data / _ADDRESSES).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise Fatal("there is no desk to ask", why=f"none was started in {where}", next_step=then) from error
    except (OSError, ValidationError) as error:
        raise Fatal("the desk's addresses cannot be read", why=f"{where}: {error}", next_step=then) from error
    return configured.model_copy(update={"redis_url": found.broker_url})


def main() -> None:
    """Serve until the input ends."""
    options = argparse.ArgumentParser(
        description="Nightdesk's memory as an MCP server over stdio.",
        epilog="It asks the desk that runs in the folder NIGHTDESK_DATA_DIR (default .nightdesk in the working "
        "directory), or whose broker NIGHTDESK_REDIS_URL names.",
    )
    options.add_argument("--namespace", default="default")
    options.add_argument("--user", default="", help="also recall what only this user may see")
    told = options.parse_args()
    try:
        configured = joined(settings())
    except NightdeskError as error:
        options.exit(1, f"{error.what}: {error.why}\n{error.next_step}\n")
    server = make_server(configured, namespace=told.namespace, user=told.user)
    logs.configure(configured, service="memory-mcp")  # after the library's own; both write to standard error
    server.run("stdio")


if __name__ == "__main__":
    main()
