"""The door to Loki's HTTP API: one query of the operator's, paged from the newest line back, oldest line first."""

from __future__ import annotations

import json
import ssl
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, BinaryIO

import httpx

from agents.log_analysis.formats.text import clean
from agents.log_analysis.sources.entries import SECOND, Entry, entries_of, stamp
from agents.log_analysis.sources.exchange import Exchange, TooLargeError
from agents.log_analysis.sources.named import LokiQuery
from kernel.clock import monotonic
from kernel.errors import Correctable, Exhausted, NightdeskError, Refused, Retryable

#: Seconds for one request.
_REQUEST_SECONDS = 30.0
#: One answer larger than this is asked for again in smaller pages.
PAGE_BYTES = 64 * 1024 * 1024
_SMALLEST_PAGE = 10
#: A busy Loki is asked again so often, after what it says, or these seconds at most.
_TRIES, _WAIT_SECONDS = 4, 5.0
_COPY = 1 << 20


def read_loki(
    query: LokiQuery,
    out: BinaryIO,
    since: datetime,
    until: datetime,
    *,
    token: str,
    limit: int,
    seconds: float,
    stop: threading.Event | None = None,
) -> list[str]:
    """Write the lines of a window as JSON lines, by time and then by stream; return what is to be said of them.

    Of more than `limit` bytes, or of what `seconds` do not suffice for, the newest lines are kept. Once `stop` is
    set it ends within a second, with an error.
    """
    trusted = ssl.create_default_context(cafile=query.ca_file) if query.ca_file else True
    client = httpx.AsyncClient(
        headers=_headers(query, token),
        verify=trusted,
        timeout=_REQUEST_SECONDS,
        trust_env=False,
        follow_redirects=False,
    )
    with (
        Exchange(client, monotonic() + seconds, stop or threading.Event()) as exchange,
        tempfile.TemporaryFile() as pages,
    ):
        reading = _Reading(exchange, query, pages, limit)
        reading.read(_nanoseconds(since), _nanoseconds(until))
        reading.write(out)
    return reading.notes


def _headers(query: LokiQuery, token: str) -> dict[str, str]:
    headers = {"Accept": "application/json"}
    if query.tenant:
        headers["X-Scope-OrgID"] = query.tenant
    if token:
        # whatever refuses such a header quotes it
        if not (token.isascii() and token.isprintable()):
            raise Refused(
                "the token of this Loki cannot be sent",
                why="it holds a line break or a character beyond ASCII",
                next_step="Set the source's token in NIGHTDESK_LOG_TOKENS again.",
            )
        headers["Authorization"] = token if token.startswith("Basic ") else f"Bearer {token}"
    return headers


@dataclass
class _Reading:
    """One query's pages, newest first, each in order of time."""

    exchange: Exchange
    query: LokiQuery
    pages: BinaryIO
    limit: int
    notes: list[str] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    size: int = 0

    def read(self, start: int, end: int) -> None:
        page = self.query.limit
        while start < end:
            try:
                entries = self._page(start, end, page)
            except TooLargeError:
                if page <= _SMALLEST_PAGE:
                    raise Exhausted(
                        "a page of Loki's answer is too large",
                        why=f"{page} lines take more than {PAGE_BYTES:,} bytes",
                    ) from None
                page = max(_SMALLEST_PAGE, page // 4)
                continue
            except Retryable as error:
                if not self.size or self.exchange.stop.is_set():
                    raise
                self._missing(end, error.what)
                return
            full = len(entries) >= page
            oldest = entries[0][0] if entries else start
            if full and oldest != entries[-1][0]:
                # the page may have cut the lines of its oldest instant: all of them come with the next one
                entries = [entry for entry in entries if entry[0] != oldest]
                end = oldest + 1
            elif full:
                self.notes.append(
                    f"{stamp(oldest)} has {page:,} lines or more: Loki gives no more of one instant"
                )
                end = oldest
            else:
                end = start
            if not self._keep(entries):
                return

    def _keep(self, entries: list[Entry]) -> bool:
        """Keep a page as far as there is room for its newest lines; tell whether there was room for all."""
        room = self.limit - self.size
        kept, first = 0, len(entries)
        while first and kept + len(entries[first - 1][2]) <= room:
            first -= 1
            kept += len(entries[first][2])
        self.pages.write(b"".join(entry[2] for entry in entries[first:]))
        self.size += kept
        self.ends.append(self.size)
        if first:
            self._missing(
                entries[first][0] if first < len(entries) else entries[-1][0],
                f"the limit of {self.limit:,} bytes was reached",
            )
        return not first

    def _missing(self, end: int, why: str) -> None:
        self.notes.append(f"lines before {stamp(end)} are missing: {why}")

    def write(self, out: BinaryIO) -> None:
        """Write the pages out, oldest first."""
        for start, end in reversed(list(zip([0, *self.ends], self.ends, strict=False))):
            self.pages.seek(start)
            left = end - start
            while left > 0 and (chunk := self.pages.read(min(_COPY, left))):
                out.write(chunk)
                left -= len(chunk)

    def _page(self, start: int, end: int, page: int) -> list[Entry]:
        parameters = {
            "query": self.query.query,
            "start": str(start),
            "end": str(end),
            "limit": str(page),
            "direction": "backward",
        }
        for left in range(_TRIES - 1, -1, -1):
            try:
                return entries_of(self._ask(parameters))
            except Retryable as error:
                wait = _WAIT_SECONDS if error.retry_after is None else min(error.retry_after, _WAIT_SECONDS)
                if not left or not self.exchange.pause(wait):
                    raise
        raise AssertionError  # the last try returns or raises

    def _ask(self, parameters: dict[str, str]) -> Any:
        address = f"{self.query.url}/loki/api/v1/query_range"
        with _named(self.query.url):
            response, content = self.exchange.get(address, parameters, PAGE_BYTES)
        if response.status_code != httpx.codes.OK:
            raise _refusal(response, content[:300].decode(errors="replace"))
        try:
            answer = json.loads(content)
            if answer["data"]["resultType"] != "streams":
                raise Correctable(
                    "the query gives no lines", next_step="Write a LogQL query for lines, not a metric."
                )
            return answer["data"]["result"]
        except (ValueError, KeyError, TypeError) as error:
            raise Correctable(
                "what answered is no Loki",
                why=f"{type(error).__name__} in its answer",
                next_step="Check url in sources.yaml.",
            ) from error


@contextmanager
def _named(url: str) -> Iterator[None]:
    try:
        yield
    except httpx.HTTPError as error:
        raise Retryable(
            f"Loki at {url} cannot be reached", why=str(error) or type(error).__name__, untouched=True
        ) from error


def _refusal(response: httpx.Response, words: str) -> NightdeskError:
    status, why = response.status_code, clean(" ".join(words.split())) or response.reason_phrase
    if status == httpx.codes.TOO_MANY_REQUESTS or status >= httpx.codes.INTERNAL_SERVER_ERROR:
        after = response.headers.get("Retry-After", "")
        floor = float(after) if after.isdigit() else None
        return Retryable(f"Loki is busy ({status})", why=why, retry_after=floor, untouched=True)
    if status in (httpx.codes.UNAUTHORIZED, httpx.codes.FORBIDDEN):
        return Refused(
            f"Loki refuses the worker ({status})",
            why=why,
            next_step="Set the source's token in NIGHTDESK_LOG_TOKENS, and its tenant.",
        )
    return Correctable(
        f"Loki refuses the query ({status})", why=why, next_step="Check url, query and limit in sources.yaml."
    )


def _nanoseconds(moment: datetime) -> int:
    return int(moment.timestamp()) * SECOND + moment.microsecond * 1000
