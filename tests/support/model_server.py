"""A scripted OpenAI-compatible server in its own process: streams, tool calls, refusals, cuts, slow answers.

    python tests/support/model_server.py --script steps.json --port 0 --ready-file f --record requests.jsonl

A script is a list of steps; each request is answered by the first step with uses left that fits it:

    when, system    regexes searched in the last message and in the first one (serves several agents)
    anywhere        a regex searched in all messages
    capture         {name: regex}: what its group finds in the newest message that has it stands for {{name}} in the
                    answer; a number where it is all there is (a model that reads what tools returned)
    times           uses (1; 0: for ever)
    text            the answer, streamed word by word
    calls           [{tool, arguments}]: native tool calls, or an action object where the request has response_format;
                    arguments given as text are sent as they stand (malformed calls)
    status, headers, message, code     an error instead of an answer
    delay           seconds between chunks
    cut_after       chunks after which the connection is cut
    usage           [input, output] tokens, or null: the server does not count
    finish          finish_reason

The record holds one JSON line per request and per end of an answer, with times from the monotonic clock.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

PIECE = 12  # characters of arguments per chunk


class Server:
    def __init__(self, steps: list[dict[str, Any]], record: Path) -> None:
        self.steps = steps
        self.left = [step.get("times", 1) or float("inf") for step in steps]
        self.record = record.open("a", encoding="utf-8")
        self.served = 0

    def note(self, **line: Any) -> None:
        self.record.write(json.dumps({"at": time.monotonic(), **line}, ensure_ascii=False) + "\n")
        self.record.flush()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while not writer.is_closing() and (request := await read_request(reader)) is not None:
                await self.answer(request, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def answer(
        self, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        if "messages" not in body:
            await respond(writer, 200, {"object": "list", "data": [{"id": "scripted", "object": "model"}]})
            return
        self.served += 1
        number, index = self.served, self.pick(body)
        self.note(kind="request", number=number, step=index, body=body)
        if index is None:
            error = {"message": "the script has no step for this request", "type": "invalid_request_error"}
            await respond(writer, 400, {"error": error})
            return
        step = self.steps[index]
        if "status" in step:
            error = {
                "message": step.get("message", "scripted"),
                "code": step.get("code"),
                "type": step.get("code"),
            }
            await respond(writer, step["status"], {"error": error}, step.get("headers", {}))
            return
        step = filled(step, body)
        gone = asyncio.create_task(reader.read(1))
        try:
            sent, ended = await self.stream(step, body, writer, gone)
        finally:
            gone.cancel()
        self.note(kind="end", number=number, step=index, ended=ended, chunks=sent)
        writer.close()

    def pick(self, body: dict[str, Any]) -> int | None:
        first, last = (str(body["messages"][i].get("content") or "") for i in (0, -1))
        for index, step in enumerate(self.steps):
            fits = re.search(step.get("when", ""), last) and re.search(step.get("system", ""), first)
            fits = fits and re.search(step.get("anywhere", ""), said(body))
            if fits and self.left[index] > 0:
                self.left[index] -= 1
                return index
        return None

    async def stream(
        self,
        step: dict[str, Any],
        body: dict[str, Any],
        writer: asyncio.StreamWriter,
        gone: asyncio.Task[bytes],
    ) -> tuple[int, str]:
        head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n"
        writer.write(head.encode())
        for sent, chunk in enumerate(chunks(step, body)):
            if sent == step.get("cut_after"):
                writer.transport.abort() if step.get("abort") else await finish(writer)
                return sent, "cut"
            write_chunk(writer, f"data: {json.dumps(chunk, ensure_ascii=False)}\n\n")
            await writer.drain()
            # waits for the client to leave, at most until the next chunk is due
            done, _ = await asyncio.wait({gone}, timeout=step.get("delay", 0))
            if done:
                return sent + 1, "disconnected"
        write_chunk(writer, "data: [DONE]\n\n")
        await finish(writer)
        return sent + 1, "whole"


def said(body: dict[str, Any]) -> str:
    return "\n".join(str(message.get("content") or "") for message in body["messages"])


def filled(step: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """Return a step with its captures in place."""
    found = {}
    for name, pattern in step.get("capture", {}).items():
        contents = [str(message.get("content") or "") for message in reversed(body["messages"])]
        match = next((m for m in (re.search(pattern, content) for content in contents) if m), None)
        found[name] = match[1] if match else ""

    def fill(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: fill(item) for key, item in value.items()}
        if isinstance(value, list):
            return [fill(item) for item in value]
        if not isinstance(value, str):
            return value
        whole = re.fullmatch(r"\{\{(\w+)\}\}", value)
        if whole and found.get(whole[1], "").isdigit():
            return int(found[whole[1]])
        return re.sub(r"\{\{(\w+)\}\}", lambda m: found.get(m[1], ""), value)

    return {key: fill(value) if key in ("text", "calls") else value for key, value in step.items()}


def write_chunk(writer: asyncio.StreamWriter, text: str) -> None:
    data = text.encode()
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


async def finish(writer: asyncio.StreamWriter) -> None:
    writer.write(b"0\r\n\r\n")
    await writer.drain()


async def read_request(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    try:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    except asyncio.IncompleteReadError:
        return None
    length = re.search(r"(?i)\r\ncontent-length: (\d+)", head)
    content = await reader.readexactly(int(length[1])) if length else b"{}"
    found: dict[str, Any] = json.loads(content)
    return found


async def respond(
    writer: asyncio.StreamWriter, status: int, body: dict[str, Any], headers: dict[str, str] | None = None
) -> None:
    content = json.dumps(body).encode()
    lines = [
        f"HTTP/1.1 {status} scripted",
        "content-type: application/json",
        f"content-length: {len(content)}",
    ]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
    await writer.drain()


def chunks(step: dict[str, Any], body: dict[str, Any]) -> Iterator[dict[str, Any]]:
    text, calls = step.get("text", ""), step.get("calls", [])
    if calls and "response_format" in body:
        action = {"tool": calls[0]["tool"], "arguments": calls[0].get("arguments", {})}
        text, calls = json.dumps({"thought": text, "action": action}, ensure_ascii=False), []

    def chunk(delta: dict[str, Any], finish_reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish_reason}
        return {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "scripted",
            "choices": [choice],
        }

    yield chunk({"role": "assistant", "content": ""})
    for word in re.findall(r"\S+\s*|\s+", text):
        yield chunk({"content": word})
    for index, call in enumerate(calls):
        given = call.get("arguments", {})
        raw = given if isinstance(given, str) else json.dumps(given, ensure_ascii=False)
        function = {"name": call["tool"], "arguments": ""}
        yield chunk(
            {
                "tool_calls": [
                    {"index": index, "id": f"call_{index}", "type": "function", "function": function}
                ]
            }
        )
        for start in range(0, len(raw), PIECE):
            yield chunk(
                {"tool_calls": [{"index": index, "function": {"arguments": raw[start : start + PIECE]}}]}
            )
    yield chunk({}, step.get("finish", "tool_calls" if calls else "stop"))
    usage = step.get("usage", [100, 20])
    if usage is not None and body.get("stream_options", {}).get("include_usage"):
        total = {"prompt_tokens": usage[0], "completion_tokens": usage[1], "total_tokens": sum(usage)}
        yield {
            "id": "c",
            "object": "chat.completion.chunk",
            "created": 0,
            "model": "scripted",
            "choices": [],
            "usage": total,
        }


async def main(arguments: argparse.Namespace) -> None:
    server = Server(json.loads(arguments.script.read_text("utf-8")), arguments.record)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", arguments.port)
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    port = listening.sockets[0].getsockname()[1]
    if arguments.ready_file:
        arguments.ready_file.write_text(str(port), "utf-8")
    sys.stdout.write(f"{port}\n")
    sys.stdout.flush()
    await stop.wait()


class ModelServer:
    """The server as a context manager: `url` for the client, `requests` and `ends` for the asserts."""

    def __init__(self, steps: Sequence[dict[str, Any]], *, port: int = 0) -> None:
        self.steps = list(steps)
        self.port = port

    def __enter__(self) -> Self:
        self.folder = tempfile.TemporaryDirectory(prefix="model-server-")
        script, self.record = (Path(self.folder.name) / name for name in ("script.json", "record.jsonl"))
        script.write_text(json.dumps(self.steps), "utf-8")
        command = [
            sys.executable,
            __file__,
            "--script",
            str(script),
            "--port",
            str(self.port),
            "--record",
            str(self.record),
        ]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        line = self.process.stdout.readline()  # comes when it listens, or empty when it died
        if not line:
            self.__exit__()
            raise RuntimeError("the model server did not start")
        self.port = int(line)
        self.url = f"http://127.0.0.1:{self.port}/v1"
        return self

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(5)
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(5)
        if self.process.stdout is not None:
            self.process.stdout.close()
        self.folder.cleanup()

    def lines(self, kind: str) -> list[dict[str, Any]]:
        # without what is just being written
        lines = self.record.read_text("utf-8").rpartition("\n")[0].splitlines()
        return [line for line in map(json.loads, lines) if line["kind"] == kind]

    @property
    def requests(self) -> list[dict[str, Any]]:
        return self.lines("request")

    @property
    def ends(self) -> list[dict[str, Any]]:
        return self.lines("end")

    async def until(self, condition: Callable[[], Any], seconds: float = 60.0) -> None:
        """Wait for a state of the record."""
        async with asyncio.timeout(seconds):
            while not condition():
                await asyncio.sleep(0.01)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--script", type=Path, required=True)
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--ready-file", type=Path)
    parser.add_argument("--record", type=Path, required=True)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(main(parser.parse_args()))
