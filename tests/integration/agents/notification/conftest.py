"""A context over a real database, an HTTP sink and an SMTP server on loopback."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import SQLModel

from agents.runtime.tools import Resources, ToolContext
from kernel.artifacts import ArtifactStore
from kernel.contracts import Work
from kernel.database import Database
from kernel.settings import Settings


@dataclass
class Sink:
    """What the HTTP sink got, and what it answers: (status, headers, body), the last one for ever."""

    url: str = ""
    answers: list[tuple[int, dict[str, str], bytes]] = field(default_factory=lambda: [(200, {}, b"ok")])
    got: list[tuple[dict[str, str], bytes]] = field(default_factory=list)


@pytest.fixture
def sink() -> Iterator[Sink]:
    """Return a running HTTP sink."""
    sink = Sink()

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            sink.got.append((dict(self.headers), body))
            status, headers, answer = sink.answers.pop(0) if len(sink.answers) > 1 else sink.answers[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base names it so
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    sink.url = f"http://127.0.0.1:{server.server_port}/hook/very-secret"
    yield sink
    server.shutdown()
    thread.join()
    server.server_close()


@dataclass
class Mailbox:
    """What the SMTP server got; `answers` overrides its answer to a verb, None hangs up instead."""

    port: int = 0
    answers: dict[str, str | None] = field(default_factory=dict)
    mails: list[bytes] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Talk SMTP with one client."""
        writer.write(b"220 test\r\n")
        while line := await reader.readline():
            verb = line.decode().split()[0].upper()
            if not await self._answer(verb, reader, writer):
                break
        writer.close()

    async def _answer(self, verb: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        good = {"DATA": "354 go", "QUIT": "221 bye"}.get(verb, "250 ok")
        answer = self.answers.get(verb, good)
        if answer is not None:
            writer.write(answer.encode() + b"\r\n")
        if answer == "354 go":
            self.mails.append(await reader.readuntil(b"\r\n.\r\n"))
            answer = self.answers.get("TEXT", "250 queued")
            if answer is not None:
                writer.write(answer.encode() + b"\r\n")
        return answer is not None and verb != "QUIT"


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    """Return a running SMTP server."""
    mailbox = Mailbox()
    server = await asyncio.start_server(mailbox.serve, "127.0.0.1", 0)
    mailbox.port = server.sockets[0].getsockname()[1]
    async with server:
        yield mailbox


@pytest.fixture
def ctx(tmp_path: Path) -> Iterator[ToolContext]:
    """Return the context of a call."""
    database = Database(f"sqlite:///{tmp_path / 'nightdesk.db'}")
    SQLModel.metadata.create_all(database.engine)
    work = Work(run_id="r1", assignment_id="a1", agent="notification", goal="g", request="q")
    artifacts = ArtifactStore(f"file://{tmp_path / 'artifacts'}", max_bytes=1000)
    resources = Resources(settings=Settings(data_dir=tmp_path), database=database, artifacts=artifacts)
    yield ToolContext(work=work, resources=resources, call_id="c1", key="k")
    database.close()
