"""The memory as an MCP server over stdio: `python -m memory_service.mcp_server`; asks the worker over the queue."""

from __future__ import annotations

import argparse
from typing import Annotated

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import ToolAnnotations
from pydantic import Field

from kernel import logs
from kernel.broker import MEMORY, Doorbell, make_celery
from kernel.contracts import MemoryHit
from kernel.control import Control, connect
from kernel.errors import NightdeskError
from kernel.redaction import Redactor
from kernel.settings import Settings, settings

_HITS_MOST = 20


def make_server(settings: Settings, *, namespace: str, user: str) -> MCPServer:
    """Return the server of one namespace and user: whoever starts it says whose memories it serves, not a model."""
    doorbell = Doorbell(make_celery(settings, "memory-mcp"), Redactor(settings.secrets()))
    control = Control(connect(settings.redis_url))
    server: MCPServer = MCPServer(
        "nightdesk-memory", instructions="What the desk learnt from earlier runs. Quote a memory by its id."
    )

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
        question = {"text": text, "limit": limit, "namespace": namespace, "user": user}
        try:
            hits = await control.ask(
                doorbell,
                "memory.recall",
                queue_name=MEMORY,
                question=question,
                seconds=settings.recall_timeout,
            )
        except NightdeskError as error:
            raise ToolError(str(error)) from error  # of any other error the library tells its client nothing
        return [MemoryHit.model_validate(hit) for hit in hits]

    return server


def main() -> None:
    """Serve until the input ends."""
    options = argparse.ArgumentParser(description="Nightdesk's memory as an MCP server over stdio.")
    options.add_argument("--namespace", default="default")
    options.add_argument("--user", default="", help="also recall what only this user may see")
    told = options.parse_args()
    configured = settings()
    server = make_server(configured, namespace=told.namespace, user=told.user)
    logs.configure(configured, service="memory-mcp")  # after the library's own; both write to standard error
    server.run("stdio")


if __name__ == "__main__":
    main()
