"""A webhook's far end: checks signature and age of each message and writes it to a file, one JSON line each."""

from __future__ import annotations

import argparse
import hashlib
import hmac
import json
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

SIGNALS = {signal.SIGTERM, signal.SIGINT}
MAX_BYTES = 1024 * 1024
#: An older message may be somebody's recording.
MAX_AGE_SECONDS = 300.0


def is_signed(body: bytes, headers: Mapping[str, str], secret: bytes, *, now: float) -> bool:
    """Tell whether the signature is of this body and its timestamp, and the timestamp is of now."""
    stamp = headers.get("x-nightdesk-timestamp", "")
    wanted = "sha256=" + hmac.new(secret, stamp.encode() + b"." + body, hashlib.sha256).hexdigest()
    fresh = stamp.isdigit() and abs(now - int(stamp)) <= MAX_AGE_SECONDS
    return hmac.compare_digest(headers.get("x-nightdesk-signature", ""), wanted) and fresh


class Sink(ThreadingHTTPServer):
    """The server, with the secret it shares with the sender."""

    daemon_threads = True

    def __init__(self, file: Path, secret: bytes) -> None:
        super().__init__(("127.0.0.1", 0), Door)
        self._file = file
        self._secret = secret
        self._lock = threading.Lock()
        self._seen: set[str] = set()

    def take(self, body: bytes, headers: dict[str, str]) -> bool:
        """Record a message and return whether it was signed; one that came before is dropped by its id."""
        signed = is_signed(body, headers, self._secret, now=time.time())
        name = headers.get("x-nightdesk-id", "")
        message = {"id": name, "signed": signed, "body": body.decode("utf-8", errors="replace")}
        with self._lock:
            if not (signed and name in self._seen):
                with self._file.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(message, ensure_ascii=False) + "\n")
            if signed:
                self._seen.add(name)
        return signed


class Door(BaseHTTPRequestHandler):
    """Takes POSTs."""

    server: Sink

    def do_POST(self) -> None:
        """Answer 204 to a signed message and 401 to any other."""
        length = int(self.headers.get("Content-Length") or 0)
        if length > MAX_BYTES:
            self.send_error(413)
            return
        body = self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.send_response(204 if self.server.take(body, headers) else 401)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 the base class names it
        """Stay quiet: messages go to the file."""


def main() -> int:
    """Serve until SIGTERM; prints one JSON line with pid and port when ready."""
    parser = argparse.ArgumentParser(description="the demo's webhook sink")
    parser.add_argument("--file", type=Path, required=True)
    parser.add_argument("--secret-file", type=Path, required=True)
    options = parser.parse_args()
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)  # in every thread: this one waits for them below
    sink = Sink(options.file, options.secret_file.read_bytes().strip())
    threading.Thread(target=sink.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    print(json.dumps({"pid": os.getpid(), "port": sink.server_address[1]}), flush=True)
    signal.sigwait(SIGNALS)
    sink.shutdown()
    sink.server_close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
