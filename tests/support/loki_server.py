"""A Loki that answers query_range over what it was given: limit, direction, tenants, tokens, busy times."""

from __future__ import annotations

import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Self
from urllib.parse import parse_qs, urlsplit

#: (nanoseconds, labels, line), in the order in which Loki received them
Entry = tuple[int, dict[str, str], str]


class LokiServer:
    """A real HTTP server in a thread; `asked` holds the parameters of each request, `headers` its headers."""

    def __init__(
        self,
        entries: list[Entry],
        *,
        most: int = 5000,
        tenant: str = "",
        token: str = "",
        busy: int = 0,
        certificate: Path | None = None,
    ) -> None:
        self.entries, self.most, self.tenant, self.token = entries, most, tenant, token
        self.busy = busy  # requests that are told to come back later
        self.busy_status = 429
        self.ended = threading.Event()
        self.mute = False  # takes requests and says nothing, until it ends
        self.asked: list[dict[str, str]] = []
        self.headers: list[dict[str, str]] = []
        loki = self

        class Api(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                asked = {key: values[0] for key, values in parse_qs(parts.query).items()}
                loki.asked.append(asked)
                loki.headers.append(dict(self.headers.items()))
                if loki.mute:
                    loki.ended.wait()
                    return
                status, body = loki.answer(parts.path, asked, dict(self.headers.items()))
                content = body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                if status == 429:
                    self.send_header("Retry-After", "0")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Api)
        self._scheme = "http"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
            self._scheme = "https"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, path: str, asked: dict[str, str], headers: dict[str, str]) -> tuple[int, object]:
        """Return status and body of one request."""
        if path != "/loki/api/v1/query_range":
            return 404, b"404 page not found"
        if self.token and headers.get("Authorization") != self.token:
            return 401, b"no"
        if self.tenant and headers.get("X-Scope-OrgID") != self.tenant:
            return 401, b"no org id"
        if self.busy:
            self.busy -= 1
            return self.busy_status, b"too many outstanding requests"
        if "rate(" in asked["query"]:
            return 200, {"status": "success", "data": {"resultType": "matrix", "result": []}}
        limit = int(asked.get("limit", "100"))
        if limit > self.most:
            words = f"max entries limit per query exceeded, limit > max_entries_limit_per_query ({limit} > {self.most})"
            return 400, words.encode()
        return 200, {
            "status": "success",
            "data": {"resultType": "streams", "result": self._streams(asked, limit)},
        }

    def _streams(self, asked: dict[str, str], limit: int) -> list[dict[str, object]]:
        start, end = int(asked["start"]), int(asked["end"])
        # Loki: start is part of the window, end is not; streams are told apart by their labels
        fits = [entry for entry in self.entries if start <= entry[0] < end]
        fits.sort(key=lambda entry: (entry[0], json.dumps(entry[1])))
        if asked.get("direction", "backward") == "backward":
            fits.reverse()
        streams: dict[str, dict[str, object]] = {}
        for at, labels, line in fits[:limit]:
            stream = streams.setdefault(json.dumps(labels), {"stream": labels, "values": []})
            stream["values"].append([str(at), line])  # type: ignore[attr-defined] # a list, made above
        return list(streams.values())

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.ended.set()
        self._server.shutdown()
        self._server.server_close()
