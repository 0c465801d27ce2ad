"""Loki's API against a real HTTP server: no line lost or doubled whatever the page, limits, refusals, take-over."""

from __future__ import annotations

import asyncio
import io
import json
import shutil
import subprocess
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from agents.log_analysis.agent import AGENT
from agents.log_analysis.reading import open_reading
from agents.log_analysis.scanning.library import LIBRARY
from agents.log_analysis.sources.loki import read_loki
from agents.log_analysis.sources.named import LokiQuery
from agents.log_analysis.sources.pinning import PINS, Pins
from agents.runtime.tools import in_thread
from kernel.clock import monotonic
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError, Refused, Retryable
from tests.support.loki_server import Entry, LokiServer

pytestmark = pytest.mark.integration

UNTIL = datetime(2026, 11, 29, 12, tzinfo=UTC)
SINCE = UNTIL - timedelta(hours=1)
NANO = int(SINCE.timestamp()) * 10**9


def entries(count: int, *, per_instant: int = 1, pods: int = 3) -> list[Entry]:
    """Return lines of several pods, so many of them at the same nanosecond."""
    return [
        (NANO + n // per_instant * 1000, {"app": "gateway", "pod": f"gw-{n % pods}"}, f"INFO line {n}")
        for n in range(count)
    ]


def read(server: LokiServer, *, limit: int = 1 << 30, page: int = 50, **more) -> tuple[list[dict], list[str]]:
    query = LokiQuery(url=server.url, query='{app="gateway"}', limit=page, tenant=server.tenant)
    out = io.BytesIO()
    notes = read_loki(query, out, SINCE, UNTIL, **{"token": "", "limit": limit, "seconds": 30.0, **more})
    return [json.loads(line) for line in out.getvalue().splitlines()], notes


@pytest.mark.parametrize(
    ("count", "per_instant", "page"),
    [
        (0, 1, 50),
        (1, 1, 50),
        (50, 1, 50),
        (51, 1, 50),
        (500, 1, 50),
        (500, 7, 50),
        (500, 49, 50),
        (333, 10, 10),
    ],
)
def test_every_line_comes_once_and_in_order(count: int, per_instant: int, page: int) -> None:
    given = entries(count, per_instant=per_instant)
    with LokiServer(given) as server:
        rows, notes = read(server, page=page)
    wanted = sorted(((at, labels["pod"], text) for at, labels, text in given), key=lambda e: e[:2])
    lost = page == per_instant
    assert [(row["pod"], row["log"].rstrip()) for row in rows] == [(pod, text) for _, pod, text in wanted]
    assert [row["time"] for row in rows] == sorted(row["time"] for row in rows)
    assert bool(notes) is lost


def test_twins_of_one_stream_and_instant_are_both_kept() -> None:
    given = [(NANO + 5, {"app": "gateway"}, "same")] * 7 + entries(40)
    with LokiServer(given) as server:
        rows, notes = read(server, page=10)
    assert sum(row["log"].rstrip() == "same" for row in rows) == 7
    assert len(rows) == 47
    assert notes == []


def test_more_lines_of_one_instant_than_a_page_are_said_to_be_missing() -> None:
    with LokiServer(
        [*entries(30, per_instant=30), *((NANO + 10**9 + n, {"a": "b"}, "x") for n in range(5))]
    ) as server:
        rows, notes = read(server, page=10)
    assert len(rows) == 15
    assert "10 lines or more" in notes[0]


def test_of_too_many_bytes_the_newest_lines_are_kept() -> None:
    given = entries(500)
    with LokiServer(given) as server:
        rows, notes = read(server, limit=20_000)
    assert 100 < len(rows) < 300
    assert rows[-1]["log"].rstrip() == "INFO line 499"
    assert [int(r["log"].split()[-1]) for r in rows] == list(range(500 - len(rows), 500))
    assert "missing: the limit of 20,000 bytes" in notes[0]


def test_a_line_break_and_labels_of_our_names_keep_one_line_each() -> None:
    with LokiServer([(NANO, {"time": "x", "stream": "stdout", "错": "误"}, "first\nsecond\n")]) as server:
        (row,), _ = read(server)
    assert len(row.pop("stream")) == 8
    told = {"label_stream": "stdout", "label_time": "x", "错": "误", "log": "first\nsecond\n"}
    assert row == {"time": "2026-11-29T11:00:00.000000000Z", **told}


def test_tenant_and_token_are_sent_and_only_the_operators_query() -> None:
    with LokiServer(entries(3), tenant="shop", token="Bearer s3cret-token") as server:
        assert len(read(server, token="s3cret-token")[0]) == 3
        with pytest.raises(Refused, match="401"):
            read(server, token="other")
        assert {asked["query"] for asked in server.asked} == {'{app="gateway"}'}
        assert "s3cret" not in json.dumps(server.asked)
    with LokiServer(entries(3), token="Basic dTpw") as server:
        assert len(read(server, token="Basic dTpw")[0]) == 3


def test_a_busy_loki_is_asked_again_and_then_given_up() -> None:
    with LokiServer(entries(100), busy=2) as server:
        assert len(read(server)[0]) == 100
        server.busy, server.busy_status = 99, 429
        with pytest.raises(Retryable, match="busy") as told:
            read(server)
        assert told.value.untouched
    with LokiServer([]) as gone:
        pass
    with pytest.raises(Retryable, match="cannot be reached"):
        read(gone, seconds=0.2)


@pytest.mark.parametrize("mute", [True, False])
def test_a_wish_to_stop_cuts_a_request_and_the_wait_for_the_next(mute: bool) -> None:
    stop, told = threading.Event(), []

    def fetch(server: LokiServer) -> None:
        with pytest.raises(Retryable) as error:
            read(server, stop=stop)
        told.append(error.value)

    with LokiServer(entries(100), busy=99) as server:
        server.mute, server.busy_status = mute, 503
        thread = threading.Thread(target=fetch, args=(server,))
        thread.start()
        while not server.asked:
            stop.wait(0.01)
        stop.set()
        began = monotonic()
        thread.join(60)
        assert monotonic() - began < 10  # of twenty, and of the server's silence
    assert told[0].what == "it was stopped" or not mute


def test_a_server_that_never_answers_is_left_at_the_deadline() -> None:
    with LokiServer([]) as server:
        server.mute = True
        began = monotonic()
        with pytest.raises(Retryable, match="time for it was over"):
            read(server, seconds=0.3)
        assert monotonic() - began < 10


async def test_a_cancelled_call_lets_go_of_its_source_at_once(desk, at_loki) -> None:
    at = int((datetime.now(UTC) - timedelta(minutes=10)).timestamp()) * 10**9
    with LokiServer([(at, {"app": "gateway"}, "ERROR no disk")]) as server:
        server.mute = True
        at_loki(server)
        calls = [
            asyncio.create_task(desk.call(desk.ctx([Source(name="gateway")]), "overview")) for _ in range(2)
        ]
        while not server.asked:
            await asyncio.sleep(0.01)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        server.mute = False
        began = monotonic()
        assert (await desk.call(desk.ctx([Source(name="gateway")]), "overview"))["lines"] == 1
        assert monotonic() - began < 10
        assert len(server.asked) == 2


@pytest.mark.parametrize("token", ["s3cret-token\n", "s3cret-tökén"])
def test_a_token_that_no_header_takes_is_not_quoted(token: str) -> None:
    with LokiServer([]) as server, pytest.raises(Refused, match="cannot be sent") as told:
        read(server, token=token)
    assert "s3cret" not in str(told.value)


def test_what_loki_says_no_to_is_told() -> None:
    with LokiServer(entries(3), most=20) as server:
        with pytest.raises(Correctable, match="max entries limit"):
            read(server, page=50)
        out = io.BytesIO()
        query = LokiQuery(url=server.url, query='{app="x"} | rate(', limit=20)
        with pytest.raises(Correctable, match="gives no lines"):
            read_loki(query, out, SINCE, UNTIL, token="", limit=100, seconds=5.0)
        query = LokiQuery(url=server.url + "/elsewhere", query="{}")
        with pytest.raises(Correctable, match="404"):
            read_loki(query, out, SINCE, UNTIL, token="", limit=100, seconds=5.0)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl to make a certificate")
def test_a_certificate_of_ones_own_is_trusted_where_it_is_named(tmp_path: Path) -> None:
    pem, key = tmp_path / "ca.pem", tmp_path / "key.pem"
    made = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=x -addext subjectAltName=IP:127.0.0.1"
    subprocess.run([*made.split(), "-keyout", key, "-out", pem], check=True, capture_output=True)
    both = tmp_path / "both.pem"
    both.write_bytes(key.read_bytes() + pem.read_bytes())
    with LokiServer(entries(3), certificate=both) as server:
        out = io.BytesIO()
        query = LokiQuery(url=server.url, query="{}", ca_file=pem)
        assert read_loki(query, out, SINCE, UNTIL, token="", limit=1 << 20, seconds=20.0) == []
        assert out.getvalue().count(b"\n") == 3
        with pytest.raises(Retryable, match=r"(?i)certificate"):
            read(server, seconds=0.5)
    with pytest.raises(ValueError, match="holds no certificates"):
        LokiQuery(url=server.url, query="{}", ca_file=tmp_path / "none.pem")


@pytest.fixture
def at_loki(desk, tmp_path: Path) -> Callable[[LokiServer], None]:
    def point(server: LokiServer) -> None:
        path = tmp_path / "sources.yaml"
        path.write_text(
            f"sources:\n  gateway:\n    loki: {{url: '{server.url}', query: '{{app=\"gateway\"}}', limit: 50}}\n"
        )
        settings = desk.resources.settings.model_copy(update={"log_sources": path})
        desk.resources = replace(desk.resources, settings=settings)

    return point


async def test_a_worker_that_takes_over_cites_the_same_lines(desk, at_loki, monkeypatch) -> None:
    at = int((datetime.now(UTC) - timedelta(minutes=10)).timestamp()) * 10**9
    given = [
        (at + n * 10**6, {"app": "gateway", "pod": f"gw-{n % 2}"}, f"INFO request {n} ok") for n in range(120)
    ]
    given.insert(
        60, (at + 59_500_000, {"app": "gateway", "pod": "gw-1"}, "ERROR connection refused to 10.0.0.7:5432")
    )
    with LokiServer(given) as server:
        at_loki(server)
        analysis = await desk.analyse(Source(name="gateway"))
        cited = analysis.outcome.findings[0].evidence[0]
        assert (cited.source, cited.line) == ("gateway", 61)
        assert "connection refused" in cited.quote
        asked = len(server.asked)
        # more lines have come since, and another process takes over: nothing in memory, the same store
        server.entries[:0] = [(at - n * 10**9, {"app": "gateway"}, "ERROR other") for n in range(1, 40)]
        LIBRARY.clear()
        monkeypatch.setattr(PINS, "_records", Pins()._records)
        assert await desk.check_evidence(analysis) >= 1
        assert len(server.asked) == asked
        # the next run sees them
        ctx = desk.ctx([Source(name="gateway")])
        ctx = replace(ctx, work=ctx.work.model_copy(update={"run_id": "run-2"}))
        assert (await desk.call(ctx, "overview"))["lines"] == 160
    assert AGENT.read_line is not None
    assert await AGENT.read_line(analysis.ctx, "gateway", 500) is None


async def test_traces_of_two_pods_that_interleave_are_told_apart(desk, at_loki) -> None:
    at = int((datetime.now(UTC) - timedelta(minutes=10)).timestamp()) * 10**9
    trace = [
        "ERROR Pool - no connection",
        "java.net.ConnectException: {}",
        "\tat com.x.A.b(A.java:3)",
        "INFO on",
    ]
    given = [
        (at + n * 10, {"app": "gateway", "pod": pod, "stream": "stderr"}, text.format(word))
        for n, text in enumerate(trace)
        for pod, word in (("gw-1", "refused"), ("gw-2", "reset"))
    ]
    with LokiServer(given) as server:
        at_loki(server)
        reading = await in_thread(open_reading, desk.ctx([Source(name="gateway")]))
    assert reading.scan.facts[0].lines == 8
    assert (reading.scan.facts[0].form, reading.scan.facts[0].confidence) == ("docker", 1.0)
    assert reading.scan.facts[0].events == 4
    assert {"gw"} <= set(reading.scan.services) or {"gw-1", "gw-2"} <= set(reading.scan.services)


async def test_a_loki_without_lines_and_one_that_is_away_are_told(desk, at_loki) -> None:
    with LokiServer([]) as server:
        at_loki(server)
        with pytest.raises(NightdeskError, match="no line between"):
            await desk.call(desk.ctx([Source(name="gateway")]), "overview")
        with pytest.raises(NightdeskError, match="no source is named 'checkout'"):
            await desk.call(desk.ctx([Source(name="checkout")]), "overview")
