"""What a Qdrant server would refuse, over HTTP: collections, aliases and strict mode are real, points are not kept."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

_COLLECTION = re.compile(r"/collections/([^/?]+)(/[^?]*)?")
_DONE = {"operation_id": 1, "status": "completed"}


class Refusal(Exception):
    """What a server answers with 400."""


@dataclass
class Collection:
    """A collection as it was asked for, and the fields that are indexed."""

    config: dict[str, Any]
    indexed: dict[str, Any] = field(default_factory=dict)

    @property
    def strict(self) -> dict[str, Any]:
        return self.config.get("strict_mode_config") or {}


@dataclass
class Stub:
    """The state of the server, and every request as (method, path, body)."""

    url: str = ""
    collections: dict[str, Collection] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    requests: list[tuple[str, str, Any]] = field(default_factory=list)
    points: int = 0

    def answer(self, method: str, path: str, body: Any) -> Any:
        """Return the result of a request, or raise Refusal."""
        if path == "/aliases":
            return {"aliases": [{"alias_name": a, "collection_name": c} for a, c in self.aliases.items()]}
        if path == "/collections/aliases":
            return self._rename(body["actions"])
        found = _COLLECTION.fullmatch(path)
        if found is None:
            raise Refusal(f"no such path: {path}")
        name, rest = found[1], found[2] or ""
        if rest == "/exists":
            return {"exists": name in self.collections}
        if not rest and method in ("PUT", "DELETE"):
            return self._make(name, body) if method == "PUT" else self.collections.pop(name, None) is not None
        if name not in self.collections:
            raise Refusal(f"no such collection: {name}")
        return self._within(self.collections[name], method, rest, body)

    def _make(self, name: str, body: dict[str, Any]) -> bool:
        if name in self.collections or name in self.aliases:
            raise Refusal(f"{name} exists")
        self.collections[name] = Collection(body)
        return True

    def _rename(self, actions: list[dict[str, Any]]) -> bool:
        """Apply all or none, as the server does."""
        aliases = dict(self.aliases)
        for action in actions:
            if gone := action.get("delete_alias"):
                if aliases.pop(gone["alias_name"], None) is None:
                    raise Refusal(f"no such alias: {gone}")
            elif made := action.get("create_alias"):
                if made["collection_name"] not in self.collections:
                    raise Refusal(f"no such collection: {made}")
                aliases[made["alias_name"]] = made["collection_name"]
        self.aliases = aliases
        return True

    def _within(self, collection: Collection, method: str, rest: str, body: Any) -> Any:
        if not rest and method == "GET":
            return _described(collection)
        if rest == "/index":
            collection.indexed[body["field_name"]] = body["field_schema"]
            return _DONE
        refused_by_strict_mode(collection, body)
        self.points += len(body.get("points", [])) if method == "PUT" else 0
        results = {
            "/points/scroll": {"points": [], "next_page_offset": None},
            "/points/count": {"count": 0},
            "/points/query/batch": [{"points": []} for _ in body.get("searches", [])],
            "/points/delete": _DONE,
        }
        if rest == "/points":
            return _DONE if method == "PUT" else []
        return results[rest]


def refused_by_strict_mode(collection: Collection, body: dict[str, Any]) -> None:
    """Raise where strict mode would: an unindexed filter, a limit too high, a batch too large."""
    strict = collection.strict
    if not strict.get("enabled"):
        return
    conditions = list(_filters(body))
    unindexed = {c["key"] for c in conditions if "key" in c} - set(collection.indexed)
    if unindexed:
        raise Refusal(f"strict mode: index required but not found for {sorted(unindexed)}")
    if len(conditions) > strict["filter_max_conditions"] * max(1, len(body.get("searches", []))):
        raise Refusal("strict mode: too many conditions")
    if any(limit > strict["max_query_limit"] for limit in _limits(body)):
        raise Refusal("strict mode: limit exceeded")
    if len(body.get("points", [])) > strict["upsert_max_batchsize"]:
        raise Refusal("strict mode: batch too large")


def _filters(body: Any) -> Iterator[dict[str, Any]]:
    """Yield every condition of every filter, wherever it stands."""
    if isinstance(body, list):
        for item in body:
            yield from _filters(item)
    elif isinstance(body, dict):
        if "payload" in body and "vector" in body:  # a point: what it holds is no filter
            return
        yield from (c for name in ("must", "should", "must_not") for c in body.get(name) or [])
        for item in body.values():
            yield from _filters(item)


def _limits(body: Any) -> Iterator[int]:
    if isinstance(body, list):
        for item in body:
            yield from _limits(item)
    elif isinstance(body, dict):
        if isinstance(body.get("limit"), int):
            yield body["limit"]
        for item in body.values():
            yield from _limits(item)


def _described(collection: Collection) -> dict[str, Any]:
    types = {
        name: schema if isinstance(schema, str) else schema["type"]
        for name, schema in collection.indexed.items()
    }
    return {
        "status": "green",
        "optimizer_status": "ok",
        "segments_count": 1,
        "config": {
            "params": {"vectors": collection.config["vectors"]},
            "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
            "optimizer_config": {"default_segment_number": 0, "flush_interval_sec": 5},
        },
        "payload_schema": {name: {"data_type": type_, "points": 0} for name, type_ in types.items()},
    }


@contextmanager
def qdrant_stub() -> Iterator[Stub]:
    """Serve on a free port of 127.0.0.1."""
    stub = Stub()

    class Doorway(BaseHTTPRequestHandler):
        def _serve(self) -> None:
            length = int(self.headers.get("content-length") or 0)
            body = json.loads(self.rfile.read(length)) if length else {}
            path = self.path.partition("?")[0]
            stub.requests.append((self.command, path, body))
            try:
                code, answer = (
                    200,
                    {"result": stub.answer(self.command, path, body), "status": "ok", "time": 0},
                )
            except Refusal as refusal:
                code, answer = 400, {"status": {"error": str(refusal)}, "time": 0}
            told = json.dumps(answer).encode()
            self.send_response(code)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(told)))
            self.end_headers()
            self.wfile.write(told)

        do_GET = do_PUT = do_POST = do_DELETE = _serve  # noqa: N815 the names are http.server's

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the name is http.server's
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Doorway)
    stub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
