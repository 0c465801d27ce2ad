"""A real MCP server for tests, over stdio or HTTP, that does what a folder tells it to.

Run as a program: `mcp_stub.py FOLDER [--http PORT] [--hang] [--legacy]`. In the folder: `pids` gets a line per
start, `world.txt` a line per effect, `seen.txt` what the server heard; `tools.json` may hold more tools or other
descriptions, `{"name": "description"}`.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

STUB = Path(__file__)
_TOOLS = {
    "echo": "Say it again.",
    "fail": "Answer with an error.",
    "write": "Write a line to the world.",
    "wait": "Wait until the call is cancelled.",
    "die": "Write a line to the world and end the server before it answers.",
    "token": "Return the token of the environment or the header.",
}


def main() -> None:
    options = argparse.ArgumentParser()
    options.add_argument("folder", type=Path)
    options.add_argument("--http", type=int)
    options.add_argument("--hang", action="store_true")
    options.add_argument("--legacy", action="store_true")
    told = options.parse_args()
    _note(told.folder, "pids", str(os.getpid()))
    server = _server(told.folder, hang=told.hang)
    if told.http:
        import uvicorn

        if told.legacy:
            _without_discovery(server)
        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=told.http, log_level="warning")
    else:
        import anyio

        anyio.run(partial(_serve, server, legacy=told.legacy))


async def _serve(server: Any, *, legacy: bool) -> None:
    import anyio
    from mcp import stdio_server
    from mcp.shared.message import SessionMessage
    from mcp_types import METHOD_NOT_FOUND, ErrorData, JSONRPCError

    async with stdio_server() as (reading, writing):
        if not legacy:
            await server.run(reading, writing, server.create_initialization_options())
            return
        passed_on, passed = anyio.create_memory_object_stream[Any](10)

        async def refuse_discovery() -> None:
            async with passed_on:
                async for one in reading:
                    if getattr(one.message, "method", "") == "server/discover":
                        error = ErrorData(code=METHOD_NOT_FOUND, message="Method not found")
                        refusal = JSONRPCError(jsonrpc="2.0", id=one.message.id, error=error)
                        await writing.send(SessionMessage(refusal))
                    else:
                        await passed_on.send(one)

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(refuse_discovery)
            await server.run(passed, writing, server.create_initialization_options())


def _server(folder: Path, *, hang: bool) -> Any:
    import anyio
    from mcp import Tool
    from mcp.server import Server
    from mcp_types import CallToolResult, ListToolsResult, TextContent

    schema = {"type": "object", "properties": {"text": {"type": "string"}}, "additionalProperties": False}

    async def list_tools(context: Any, params: Any) -> ListToolsResult:
        if hang:
            await anyio.sleep_forever()
        extra = folder / "tools.json"
        told = _TOOLS | (json.loads(extra.read_text()) if extra.exists() else {})
        return ListToolsResult(
            tools=[Tool(name=n, description=text, input_schema=schema) for n, text in told.items()]
        )

    async def call_tool(context: Any, params: Any) -> CallToolResult:
        told = (params.arguments or {}).get("text", "")
        _note(folder, "seen.txt", f"{params.name} {told}")
        text = await _do(folder, params.name, told, context)
        return CallToolResult(content=[TextContent(type="text", text=text)], is_error=params.name == "fail")

    return Server("stub", on_list_tools=list_tools, on_call_tool=call_tool)


async def _do(folder: Path, name: str, text: str, context: Any) -> str:
    if name in ("write", "die"):
        _note(folder, "world.txt", text)
    if name == "die":
        os._exit(1)
    if name == "wait":
        import anyio

        try:
            await anyio.sleep_forever()
        finally:
            _note(folder, "seen.txt", "cancelled")
    if name == "token":
        return str(context.request.headers["x-token"] if context.request else os.environ["TOKEN"])
    return text


def _without_discovery(server: Any) -> None:
    """Make an HTTP server one of before 2026: it knows sessions, and no discovery."""
    from mcp import MCPError
    from mcp_types import METHOD_NOT_FOUND

    async def refuse(context: Any, call_next: Any) -> Any:
        if context.method == "server/discover":
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
        return await call_next(context)

    server.middleware.append(refuse)


def _note(folder: Path, name: str, line: str) -> None:
    with (folder / name).open("a", encoding="utf-8") as out:
        out.write(f"{line}\n")


def lines(folder: Path, name: str) -> list[str]:
    """The lines of one of the folder's files."""
    path = folder / name
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def command(folder: Path, *options: str) -> list[str]:
    """The argv of a stdio stub."""
    return [sys.executable, str(STUB), str(folder), *options]


def alive(folder: Path) -> list[int]:
    """The stubs of a folder that still run; a zombie does not."""
    return [pid for pid in map(int, lines(folder, "pids")) if _runs(pid)]


def _runs(pid: int) -> bool:
    with suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rsplit(") ", 1)[1][0] not in "ZX"
    return False


@dataclass
class HttpStub:
    """A stub on loopback; `stop` and `start` again on the same port to test a restart."""

    folder: Path
    port: int
    options: tuple[str, ...] = ()
    process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/mcp"

    def start(self) -> None:
        import socket

        argv = command(self.folder, "--http", str(self.port), *self.options)
        self.process = subprocess.Popen(argv, stdin=subprocess.DEVNULL)
        for _ in range(600):
            with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), timeout=1):
                return
            assert self.process.poll() is None
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=0.05)
        raise AssertionError("the stub does not listen")

    def stop(self) -> None:
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(timeout=10)
            self.process = None


@contextmanager
def http_stub(folder: Path, *options: str) -> Iterator[HttpStub]:
    """An HTTP stub that is not started yet; stopped at the end."""
    from tests.support.redis_server import free_port

    folder.mkdir(parents=True, exist_ok=True)
    stub = HttpStub(folder, free_port(), options)
    try:
        yield stub
    finally:
        stub.stop()


if __name__ == "__main__":
    main()
