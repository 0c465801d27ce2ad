"""A loopback webhook that keeps what it was told."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Self


class WebhookSink:
    """A real HTTP server in a thread; `bodies` and `headers` hold what came, oldest first."""

    def __init__(self) -> None:
        self.bodies: list[str] = []
        self.headers: list[dict[str, str]] = []
        #: Connections of any kind, a GET of an image too.
        self.seen = 0
        sink = self

        class Receiver(BaseHTTPRequestHandler):
            def setup(self) -> None:
                sink.seen += 1
                super().setup()

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", 0))
                sink.bodies.append(self.rfile.read(length).decode())
                sink.headers.append(dict(self.headers.items()))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Stay quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/hook"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
