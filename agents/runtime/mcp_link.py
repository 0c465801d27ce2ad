"""One link to an MCP server: a task that connects, lists, serves calls of other tasks, and closes."""

from __future__ import annotations

import asyncio
import math
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from contextvars import Context
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from pydantic import SecretStr, ValidationError

from agents.runtime.mcp_tools import TOOLS_MOST, Listed, plain
from kernel import logs
from kernel.mcp_servers import McpServer

if TYPE_CHECKING:
    from mcp import Client
    from mcp.client import Transport
    from mcp_types import CallToolResult

log = logs.get(__name__)

#: An attempt to connect is given up after this; runs stop waiting for it much sooner.
_ATTEMPT_SECONDS = 60.0
#: For a goodbye; the library's own steps (end of input, TERM, KILL) take at most 6.5 s.
_GOODBYE_SECONDS = 8.0
#: Pages of a list; a server whose list never ends is cut here.
_PAGES_MOST = 20
_STREAM_IDLE_SECONDS = 300.0
_LINE_CHARACTERS = 500
_CHILD = Path(__file__).with_name("mcp_child.py")


class Severed(Exception):
    """The server did not answer a request as asked: the link is lost, or it answered with an error."""

    def __init__(self, why: str, code: int = 0) -> None:
        super().__init__(plain(why, _LINE_CHARACTERS))
        from mcp_types import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_REQUEST, REQUEST_TIMEOUT

        #: A session that the server does not know: it refused the call before looking at it.
        self.never_made = code == INVALID_REQUEST
        #: No word of the tool's own: it may have run all the same.
        self.unclear = code in (CONNECTION_CLOSED, INTERNAL_ERROR, REQUEST_TIMEOUT)


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What a tool returned."""

    text: str
    structured: Any
    error: bool


class Link:
    """One session. The library's scopes want one task to open and close it; any task may call."""

    def __init__(self, configured: McpServer) -> None:
        import anyio

        loop = asyncio.get_running_loop()
        self.began = loop.time()
        self.settled = asyncio.Event()
        self.listed: list[Listed] = []
        self.calls = 0
        self.failure = ""
        self._last_words = ""
        self._configured = configured
        self._client: Client | None = None
        self._closing = asyncio.Event()
        self._scope = anyio.CancelScope(deadline=anyio.current_time() + _ATTEMPT_SECONDS)
        # a context of its own: what an assignment binds to its log lines is not the link's
        self._task = loop.create_task(self._live(), context=Context())
        self._task.add_done_callback(self._over)

    @property
    def ended(self) -> bool:
        """Return whether the session is over, or was never reached."""
        return self._task.done()

    async def relist(self) -> None:
        """Ask for the list again; raise Severed where none comes."""
        listed: list[Listed] = []
        cursor: str | None = None
        for _ in range(_PAGES_MOST):
            page = await self._asking(self._connected().list_tools(cursor=cursor))
            listed += [
                Listed(name=t.name, description=t.description or "", schema=t.input_schema)
                for t in page.tools
            ]
            cursor = page.next_cursor
            if not cursor or len(listed) > TOOLS_MOST:
                break
        self.listed = listed

    async def call(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> Answer:
        """Call a tool; when we are cancelled the server is told to stop (`notifications/cancelled`)."""
        self.calls += 1
        try:
            client = self._connected()
            result = await self._asking(client.call_tool(tool, arguments, meta=meta or None))  # type: ignore[arg-type]  # open keys
        finally:
            self.calls -= 1
        return Answer(text=_text(result), structured=result.structured_content, error=bool(result.is_error))

    def close(self, then: Callable[[], None]) -> None:
        """Begin to end the session; `then` is called when it is over."""
        self._task.add_done_callback(lambda _: then())
        if self.settled.is_set():
            import anyio

            self._scope.deadline = anyio.current_time() + _GOODBYE_SECONDS
            self._closing.set()
        else:
            self._scope.cancel()

    async def gone(self) -> None:
        """Wait until the session is over and its process, if we started one, has ended."""
        await asyncio.wait({self._task}, timeout=2 * _GOODBYE_SECONDS)

    def _connected(self) -> Client:
        if self._client is None or self.ended:
            cut = Severed(self.failure or "the connection ended")
            cut.never_made = True
            raise cut
        return self._client

    async def _asking(self, request: Any) -> Any:
        from mcp import MCPError

        try:
            return await request
        except MCPError as error:
            raise Severed(error.message, error.code) from error
        except (ValidationError, RuntimeError) as error:  # not what the protocol or its own schema says
            from mcp_types import INTERNAL_ERROR

            raise Severed(f"it sent what its schema forbids: {error}", INTERNAL_ERROR) from error

    async def _live(self) -> None:
        await asyncio.to_thread(__import__, "mcp")  # 0.7 s the first time: not on the loop
        from mcp import Client
        from mcp_types import Implementation

        with self._scope:
            async with AsyncExitStack() as stack:
                client = Client(
                    await self._transport(stack),
                    client_info=Implementation(name="nightdesk", version="1"),
                    cache=None,  # the list must be today's
                )
                self._client = await stack.enter_async_context(client)
                await self.relist()
                self._scope.deadline = math.inf
                log.info("mcp_connected", server=self._configured.name, protocol=client.protocol_version)
                self.settled.set()
                await self._closing.wait()

    async def _transport(self, stack: AsyncExitStack) -> Transport:
        configured = self._configured
        if configured.url:
            import httpx2
            from mcp.client.streamable_http import streamable_http_client

            idle = max(_STREAM_IDLE_SECONDS, configured.timeout)
            client = httpx2.AsyncClient(
                headers=_told(configured.headers),
                timeout=httpx2.Timeout(configured.connect_timeout, read=idle),
            )
            return streamable_http_client(configured.url, http_client=await stack.enter_async_context(client))
        from mcp import StdioServerParameters, stdio_client

        parameters = StdioServerParameters(
            command=sys.executable,
            args=["-I", "-S", str(_CHILD), str(os.getpid()), "--", *configured.command],
            env=_told(configured.env),
        )
        complaints = await stack.enter_async_context(_complaints(self._heard))
        return stdio_client(parameters, errlog=complaints)

    def _heard(self, line: str) -> None:
        self._last_words = line
        log.info("mcp_said", server=self._configured.name, line=line)

    def _over(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        self.failure = _reason(error) if error else f"no list within {_ATTEMPT_SECONDS:g} s"
        if self._last_words and not self.settled.is_set():
            self.failure += f" ({self._last_words})"
        if not self._closing.is_set():
            log.warning("mcp_lost", server=self._configured.name, reason=self.failure)
        self.settled.set()


@asynccontextmanager
async def _complaints(heard: Callable[[str], None]) -> AsyncIterator[TextIO]:
    """Yield a stream for a server's standard error; what it says there goes to `heard`, line by line."""
    read_end, write_end = os.pipe()
    reader = asyncio.StreamReader()

    async def read() -> None:
        while chunk := await reader.read(_LINE_CHARACTERS * 8):
            for line in chunk.decode("utf-8", errors="replace").splitlines():
                heard(plain(line, _LINE_CHARACTERS))

    with os.fdopen(read_end, "rb", buffering=0) as pipe, os.fdopen(write_end, "w") as file:
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), pipe
        )
        reading = asyncio.create_task(read())
        try:
            yield file
        finally:
            reading.cancel()
            transport.close()


def _told(secrets: Mapping[str, SecretStr]) -> dict[str, str]:
    return {name: value.get_secret_value() for name, value in secrets.items()}


def _text(result: CallToolResult) -> str:
    parts = []
    for block in result.content:
        if block.type == "text":
            parts.append(block.text)
        elif block.type == "resource" and hasattr(block.resource, "text"):
            parts.append(block.resource.text)
        else:
            parts.append(f"[{block.type}: not shown]")
    return "\n".join(parts)


def _reason(error: BaseException) -> str:
    """Return what a failure was in the end; the library wraps it in groups, once per task group."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    return plain(str(error), _LINE_CHARACTERS) or type(error).__name__
