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
    server = _server(told.folder, hang=told.hang, legacy=told.legacy)
    if told.http:
        import uvicorn

        uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=told.http, log_level="warning")
    else:
        import anyio

        anyio.run(_serve, server)


async def _serve(server: Any) -> None:
    from mcp import stdio_server

    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def _server(folder: Path, *, hang: bool, legacy: bool) -> Any:
    import anyio
    from mcp import MCPError, Tool
    from mcp.server import Server
    from mcp_types import METHOD_NOT_FOUND, CallToolResult, ListToolsResult, TextContent

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
        text = (params.arguments or {}).get("text", "")
        _note(folder, "seen.txt", f"{params.name} {text}")
        if params.name in ("write", "die"):
            _note(folder, "world.txt", text)
        if params.name == "die":
            os._exit(1)
        if params.name == "wait":
            try:
                await anyio.sleep_forever()
            finally:
                _note(folder, "seen.txt", "cancelled")
        if params.name == "token":
            request = context.request
            text = request.headers["x-token"] if request else os.environ["TOKEN"]
        return CallToolResult(
            content=[TextContent(type="text", text=text)], is_error=params.name == "fail"
        )

    server: Any = Server("stub", on_list_tools=list_tools, on_call_tool=call_tool)

    async def refuse_discovery(context: Any, call_next: Any) -> Any:
        if context.method == "server/discover":
            raise MCPError(code=METHOD_NOT_FOUND, message="Method not found")
        return await call_next(context)

    if legacy:
        server.middleware.append(refuse_discovery)
    return server


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
