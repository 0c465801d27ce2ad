"""The HTTP face: a real uvicorn, real Redis and SQLite; the desk's workers are played where a run must move."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest
import uvicorn
from sqlmodel import update

from agents.runtime.approvals import ApprovalPolicy
from agents.runtime.spec import AgentSpec, CallRequest
from agents.runtime.tools import ToolContext, tool
from coordinator.api import Face, make_web
from kernel.broker import queue, submit
from kernel.contracts import Effect
from kernel.errors import Fatal, Unknown
from kernel.records import RunRow
from kernel.redaction import Redactor
from tests.support.little_desk import Desk, counter, make_settings, script, spec
from tests.support.redis_server import free_port, redis_server

pytestmark = pytest.mark.integration

ONE = "[{key: job, agent: worker, goal: do it}]"
TOKEN = "a-long-token-of-the-test"  # the settings take it as the desk's own
Make = Callable[..., Any]
#: The log's own heartbeat comes every 5 s.
PATIENCE = 60


class Server(uvicorn.Server):
    """A uvicorn that says when it listens, and leaves the signals of the test process alone."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        self.listening.set()


@asynccontextmanager
async def serving(desk: Desk, *, host: str = "127.0.0.1") -> AsyncIterator[httpx.AsyncClient]:
    """Serve a desk's face and yield a client of it."""

    def send(run_id: str, request: dict[str, Any], priority: str) -> None:
        submit(desk.celery, Redactor(), run_id, request, priority=priority)

    face = Face(
        settings=desk.settings,
        store=desk.store,
        decisions=desk.decisions,
        events=desk.events,
        control=desk.control,
        cards=desk.cards,
        submit=send,
    )
    port = free_port()
    server = Server(uvicorn.Config(make_web(face), host=host, port=port, log_config=None, ws="none"))
    running = asyncio.create_task(server.serve())
    try:
        await asyncio.wait_for(server.listening.wait(), PATIENCE)
        async with httpx.AsyncClient(
            base_url=f"http://127.0.0.1:{port}", timeout=PATIENCE, trust_env=False
        ) as client:
            yield client
    finally:
        server.should_exit = True
        await asyncio.wait_for(running, PATIENCE)


@pytest.fixture
def desk(tmp_path: Path, redis_url: str) -> Make:
    @asynccontextmanager
    async def make(*agents: AgentSpec, **fields: Any) -> AsyncIterator[tuple[Desk, httpx.AsyncClient]]:
        made = Desk(make_settings(tmp_path, redis_url, assignments=ONE, **fields), list(agents))
        try:
            async with serving(made) as client:
                yield made, client
        finally:
            await made.close()

    return make


def worker(*turns: Any, tools: tuple[Any, ...] = ()) -> AgentSpec:
    return spec("worker", script(*turns), *tools)


async def take(desk: Desk) -> str:
    """Take the submitted message from the queue as a coordinator does, and return the run's id."""

    def receive() -> tuple[str, dict[str, Any]]:
        with desk.celery.connection_for_read() as connection:
            bound = queue("coordinator")(connection.default_channel)
            message = bound.get(no_ack=True)
            assert message is not None
            return message.headers["id"], message.payload[1]

    run_id, kwargs = await asyncio.to_thread(receive)
    await desk.publish_cards()
    await desk.coordinator.submit(run_id, kwargs)
    return run_id


Frame = dict[str, str]


async def frames(response: httpx.Response) -> AsyncIterator[Frame]:
    """Yield the frames of a stream: fields, and comments under ''."""
    frame: Frame = {}
    async for line in response.aiter_lines():
        if not line:
            if frame:
                yield frame
            frame = {}
            continue
        name, _, value = line.partition(":")
        frame[name] = value.strip()


async def follow(client: httpx.AsyncClient, run_id: str, last: str = "") -> list[Frame]:
    """Read a stream to its end."""
    headers = {"Last-Event-ID": last} if last else {}
    async with client.stream("GET", f"/v1/runs/{run_id}/events", headers=headers) as response:
        assert response.status_code == 200
        assert response.headers["content-type"].startswith("text/event-stream")
        return [frame async for frame in frames(response) if "event" in frame]


async def test_a_run_from_post_to_report(desk: Make, tmp_path: Path) -> None:
    agent = worker([CallRequest(tool="count")], "数完了", tools=(counter(tmp_path),))
    async with desk(agent) as (d, client):
        body = {"text": "why? 为什么", "labels": {"team": "结账"}, "priority": "high", "session_id": "s"}
        answer = await client.post("/v1/runs", json=body)
        assert answer.status_code == 202, answer.text
        run_id = answer.json()["run_id"]
        assert answer.headers["location"] == f"/v1/runs/{run_id}"
        early = await client.get(f"/v1/runs/{run_id}")
        assert (early.status_code, early.json()["code"]) == (404, "not_found")

        assert await take(d) == run_id
        row = d.run(run_id)
        assert (row.request["labels"], row.priority, row.session_id) == ({"team": "结账"}, "high", "s")
        open_run = (await client.get(f"/v1/runs/{run_id}")).json()
        assert (open_run["state"], open_run["report"]) == ("accepted", None)

        await d.settle()
        ended = (await client.get(f"/v1/runs/{run_id}")).json()
        assert ended["state"] == "succeeded"
        assert ended["report"]["answer"] == "数完了"
        assert [(part["agent"], part["state"]) for part in ended["assignments"]] == [("worker", "done")]


async def test_followed_from_before_the_coordinator_took_it_to_the_report(desk: Make, tmp_path: Path) -> None:
    agent = worker([CallRequest(tool="count")], "counted", tools=(counter(tmp_path),))
    async with desk(agent) as (d, client):
        run_id = (await client.post("/v1/runs", json={"text": "go"})).json()["run_id"]
        following = asyncio.create_task(follow(client, run_id))
        await take(d)
        await d.settle()
        seen = await asyncio.wait_for(following, PATIENCE)
        kinds = [frame["event"] for frame in seen]
        assert kinds[0] == "status_change"
        assert kinds[-1] == "report"
        assert {"tool_call_start", "tool_call_result", "memory_recalled"} <= set(kinds)
        ids = [tuple(map(int, frame["id"].split("-"))) for frame in seen]
        assert ids == sorted(set(ids))
        assert json.loads(seen[-1]["data"])["report"]["answer"] == "counted"

        # resumed in the middle: neither a gap nor a repeat; at the end: nothing is left, do not come back
        assert await follow(client, run_id, seen[3]["id"]) == seen[4:]
        done = await client.get(f"/v1/runs/{run_id}/events", headers={"Last-Event-ID": seen[-1]["id"]})
        assert (done.status_code, done.content) == (204, b"")


async def test_an_id_that_was_trimmed_is_told_and_the_rest_follows(desk: Make) -> None:
    async with desk(worker("done")) as (d, client):
        await d.submit("run-1")
        await d.settle()
        whole = await follow(client, "run-1")
        await d.redis.xtrim("nightdesk:events:2:run-1", maxlen=3, approximate=False)
        seen = await follow(client, "run-1", whole[0]["id"])
        assert seen[0]["event"] == "resync"
        assert "id" not in seen[0]
        assert json.loads(seen[0]["data"])["state"] == "succeeded"
        assert seen[1:] == whole[-3:]


async def test_a_log_that_redis_lost_still_ends_with_the_report(desk: Make) -> None:
    async with desk(worker("done")) as (d, client):
        await d.submit("run-1")
        await d.settle()
        last = (await follow(client, "run-1"))[-2]["id"]
        await d.redis.delete("nightdesk:events:2:run-1")
        assert [frame["event"] for frame in await follow(client, "run-1")] == ["report"]
        assert [frame["event"] for frame in await follow(client, "run-1", last)] == ["resync", "report"]


async def test_silence_is_filled_with_comments_and_a_lost_report_is_found_in_the_truth(desk: Make) -> None:
    async with desk(worker("done")) as (d, client):
        await d.submit("run-1")
        async with client.stream("GET", "/v1/runs/run-1/events") as response:
            read = frames(response)
            async for frame in read:
                if frame.get("") == "heartbeat":
                    break
            await d.settle()
            # the log is lost with the report in it, before the reader could see it
            await d.redis.delete("nightdesk:events:2:run-1")
            rest = [frame["event"] async for frame in read if "event" in frame]
        assert rest[-1] == "report"


@pytest.mark.parametrize("last", ["x", "1-2-3", "-1", "1-", f"{2**64}-0", "1" * 21])
async def test_an_id_that_is_none_is_refused(desk: Make, last: str) -> None:
    async with desk(worker("done")) as (d, client):
        await d.submit("run-1")
        answer = await client.get("/v1/runs/run-1/events", headers={"Last-Event-ID": last})
        assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


async def test_cancel_and_then_again(desk: Make) -> None:
    async with desk(worker("done")) as (d, client):
        await d.submit("run-1")
        answer = await client.post("/v1/runs/run-1/cancel", json={"by": "ann"})
        assert answer.status_code == 202, answer.text
        await d.settle()
        report = (await client.get("/v1/runs/run-1")).json()["report"]
        assert (report["state"], report["reason"]) == ("cancelled", "cancelled by api:ann")
        again = await client.post("/v1/runs/run-1/cancel")
        assert (again.status_code, again.json()["code"]) == (409, "refused")


@pytest.mark.parametrize(("decision", "made"), [("approve", 1), ("deny", 0)])
async def test_a_person_decides_once(desk: Make, tmp_path: Path, decision: str, made: int) -> None:
    risky = counter(tmp_path, effect=Effect.unsafe, risk="high")
    agent = worker([CallRequest(tool="count")], "over", tools=(risky,))
    async with desk(agent) as (d, client):
        await d.submit("run-1")
        await d.settle()
        waiting = (await client.get("/v1/runs/run-1")).json()["waiting"]
        assert [(call["tool"], call["risk"]) for call in waiting] == [("count", "high")]
        call = waiting[0]["call_id"].rpartition(":")[2]
        unknown = await client.post("/v1/runs/run-1/calls/nine/approve")
        assert unknown.status_code == 400
        assert call in unknown.json()["message"]
        body = {"reason": "password=hunter2secret", "by": "ann"}
        answer = await client.post(f"/v1/runs/run-1/calls/{call}/{decision}", json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["decision"] == {"approve": "approved", "deny": "denied"}[decision]
        await d.settle()
        world = tmp_path / "world.txt"
        assert (len(world.read_text().splitlines()) if world.exists() else 0) == made
        assert d.report("run-1").state == "succeeded"
        late = await client.post(f"/v1/runs/run-1/calls/{call}/approve")
        assert (late.status_code, late.json()["code"]) == (409, "refused")
        told = "".join(str(logged.event) for logged in await d.events.read("run-1"))
        assert "api:ann" in told
        assert "hunter2secret" not in told


@pytest.mark.parametrize(
    ("content", "kind", "status", "said"),
    [
        (b'{"text": 7}', "application/json", 400, "text is int"),
        (b'{"text": "x", "colour": 1}', "application/json", 400, "colour"),
        (b'{"text": "x", "deadline_seconds": Infinity}', "application/json", 400, "too far away"),
        (b'["x"]', "application/json", 400, "no JSON object"),
        (b'{"text": ', "application/json", 400, "no JSON"),
        (b"\xff\xfe{}", "application/json", 400, "no JSON"),
        (b"[" * 60_000, "application/json", 400, "no JSON"),
        (b"", "application/json", 400, "no JSON"),
        (b'{"text": "x"}', "text/plain", 400, "not declared"),
        (b'{"text": "' + b"x" * 33_000 + b'"}', "application/json", 400, "33,000 bytes"),
        (b'{"text": "' + b"x" * 70_000 + b'"}', "application/json", 413, "too large"),
    ],
)
async def test_a_bad_request_says_what_is_wrong_and_sends_nothing(
    desk: Make, content: bytes, kind: str, status: int, said: str
) -> None:
    async with desk() as (d, client):

        async def pieces() -> AsyncIterator[bytes]:
            yield content

        for body in (content, pieces()):  # with a length, and in chunks of unknown length
            answer = await client.post("/v1/runs", content=body, headers={"Content-Type": kind})
            assert answer.status_code == status
            assert set(answer.json()) == {"code", "message", "suggestion"}
            assert said in answer.json()["message"]
        assert await d.control.queue_lengths(["coordinator"]) == {"coordinator": 0}


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/v1/runs/none", 404),
        ("POST", "/v1/runs/none/cancel", 404),
        ("POST", "/v1/runs/none/calls/x/deny", 404),
        ("GET", "/v1/runs/none/events", 404),
        ("GET", "/nowhere", 404),
        ("GET", "/v1/runs", 405),
    ],
)
async def test_what_does_not_exist(desk: Make, method: str, path: str, status: int) -> None:
    async with desk() as (_, client):
        answer = await client.request(method, path)
        assert answer.status_code == status
        assert set(answer.json()) == {"code", "message", "suggestion"}


async def test_only_the_token_opens(desk: Make) -> None:
    async with desk(api_token=TOKEN) as (_, client):
        for given in (
            {},
            {"Authorization": TOKEN},
            {"Authorization": f"Bearer {TOKEN}x"},
            {"Authorization": f"Basic {TOKEN}"},
        ):
            answer = await client.get("/metrics", headers=given)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert TOKEN not in answer.text
        assert (await client.get("/metrics", headers={"Authorization": f"bearer {TOKEN}"})).status_code == 200
        assert (await client.get("/healthz")).status_code == 200


async def test_without_a_token_a_web_page_is_no_program_of_this_machine(desk: Make) -> None:
    async with desk() as (_, client):
        for headers in ({"Origin": "https://evil.example"}, {"Host": "evil.example"}, {"Host": "[::"}):
            answer = await client.post("/v1/runs", json={"text": "x"}, headers=headers)
            assert (answer.status_code, answer.json()["code"]) == (403, "refused")
        assert (await client.get("/metrics", headers={"Host": "localhost:1"})).status_code == 200


async def test_without_a_token_it_listens_on_loopback_only(desk: Make) -> None:
    async with desk() as (d, _):
        d.settings.api_host = "0.0.0.0"
        with pytest.raises(Fatal, match="NIGHTDESK_API_TOKEN"):
            async with serving(d):
                raise AssertionError("it was built")


async def test_metrics_of_a_desk_at_work(desk: Make) -> None:
    async with desk(worker("done")) as (d, client):
        await client.post("/v1/runs", json={"text": "waits in the queue"})
        await d.submit("run-1")
        await d.settle()
        await d.control.tally("citations", {"stale": 2})
        answer = await client.get("/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        lines = answer.text.splitlines()
        for line in (
            'nightdesk_runs{state="succeeded"} 1.0',
            'nightdesk_runs{state="failed"} 0.0',
            'nightdesk_assignments{state="done"} 1.0',
            'nightdesk_queue_length{queue="coordinator"} 1.0',
            'nightdesk_queue_length{queue="agents.worker"} 0.0',
            'nightdesk_live_workers{agent="worker"} 1.0',
            'nightdesk_citations{verdict="stale"} 2.0',
            'nightdesk_citations{verdict="ok"} 0.0',
        ):
            assert line in lines


async def test_health_names_what_does_not_answer(tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as server:
        d = Desk(make_settings(tmp_path, server.url, assignments=ONE), [])
        try:
            async with serving(d) as client:
                assert (await client.get("/healthz")).json() == {"status": "ok", "redis": "ok", "sql": "ok"}
                server.kill()
                down = await client.get("/healthz")
                assert (down.status_code, down.json()["sql"]) == (503, "ok")
                assert "Redis did not answer" in down.json()["redis"]
                unsent = await client.post("/v1/runs", json={"text": "x"})
                assert (unsent.status_code, unsent.json()["code"]) == (503, "unavailable")
                assert unsent.headers["retry-after"] == "2"
                server.start()
                assert (await client.get("/healthz")).status_code == 200
                with d.database.writing("test") as db:
                    db.execute(update(RunRow).values(reason=""))
                    db.connection().exec_driver_sql("DROP TABLE run")
                assert "no such table" in (await client.get("/healthz")).json()["sql"]
        finally:
            await d.close()


async def test_the_process_that_operators_start(tmp_path: Path, redis_url: str, monkeypatch: Any) -> None:
    """`uvicorn coordinator.app:web`: it answers, and ends in order while somebody follows a run."""
    d = Desk(make_settings(tmp_path, redis_url, assignments=ONE), [worker("done")])
    port = free_port()
    variables = {"NIGHTDESK_DATA_DIR": str(tmp_path), "NIGHTDESK_REDIS_URL": redis_url}
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    process = start(port, tmp_path / "api.log")
    try:
        await d.submit("run-1")
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            await answers(client, process)
            async with client.stream("GET", "/v1/runs/run-1/events", timeout=PATIENCE) as response:
                read = frames(response)
                first = [await anext(read), await anext(read)]
                assert first[1]["event"] == "status_change"
                process.send_signal(signal.SIGTERM)
                # cut and not ended: a client knows by it that it must come back
                with pytest.raises(httpx.RemoteProtocolError):
                    assert [frame async for frame in read if "event" in frame] == []
        await asyncio.to_thread(process.wait, PATIENCE)
        assert "Traceback" not in (tmp_path / "api.log").read_text()
    finally:
        process.kill()
        process.wait()
        await d.close()


def start(port: int, log: Path) -> subprocess.Popen[bytes]:
    argv = [sys.executable, "-P", "-m", "uvicorn", "coordinator.app:web", "--port", str(port), "--ws", "none"]
    with log.open("wb") as out:
        return subprocess.Popen(argv, stdout=out, stderr=out, stdin=subprocess.DEVNULL)


async def answers(client: httpx.AsyncClient, process: subprocess.Popen[bytes]) -> None:
    """Wait until the process is healthy."""
    async with asyncio.timeout(60):
        while True:
            assert process.poll() is None
            try:
                if (await client.get("/healthz")).status_code == 200:
                    return
            except httpx.ConnectError:
                await asyncio.sleep(0.05)


async def test_a_redis_that_hangs_makes_the_face_unready_and_no_restart_is_asked_for(tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as server:
        d = Desk(make_settings(tmp_path, server.url, assignments=ONE), [])
        try:
            async with serving(d) as client:
                assert (await client.get("/readyz")).status_code == 200
                server.process.send_signal(signal.SIGSTOP)  # type: ignore[union-attr] # it runs
                try:
                    unready = await client.get("/readyz")
                    assert (unready.status_code, unready.json()["redis"]) == (503, "no answer within 3 s")
                    assert (await client.get("/livez")).status_code == 200
                finally:
                    server.process.send_signal(signal.SIGCONT)  # type: ignore[union-attr] # it runs
                assert (await client.get("/readyz")).json()["status"] == "ok"
        finally:
            await d.close()


async def test_a_cancel_answers_what_it_stops_and_a_question_is_answered_over_http(desk: Make) -> None:
    @tool(effect=Effect.probe)
    async def doubt(ctx: ToolContext) -> str:
        """Nobody knows."""
        raise Unknown("doubt ended without an answer")

    agent = spec(
        "worker",
        script([CallRequest(tool="doubt")], "ok"),
        replace(doubt, risk="read"),
        policy=lambda _: ApprovalPolicy(),
    )
    async with desk(agent) as (d, client):
        await d.submit("run-1")
        await d.coordinator.advance("run-1")
        stopped = (await client.post("/v1/runs/run-1/cancel", json={"by": "ann"})).json()
        assert [(part["key"], part["state"]) for part in stopped["stopped"]] == [("job", "queued")]
        assert (stopped["reason"], stopped["effects"]) == ("cancelled by api:ann", [])
        await d.submit("run-2")
        await d.settle()
        (asked,) = (await client.get("/v1/questions")).json()["questions"]
        assert (asked["run_id"], asked["call"]) == ("run-2", "job.1.1")
        path = "/v1/runs/run-2/calls/job.1.1/resolve"
        wrong = await client.post(path, json={"happened": "yes", "reason": "x"})
        assert (wrong.status_code, wrong.json()["code"]) == (400, "invalid")
        body = {"happened": False, "reason": "password=hunter2secret", "by": "ann"}
        answer = await client.post(path, json=body)
        assert (answer.status_code, answer.json()["decision"]) == (200, "not_happened")
        assert (await client.post(path, json=body)).status_code == 409
        view = (await client.get("/v1/runs/run-2")).json()
        (told,) = view["happened"]["questions"]
        assert (told["state"], told["answered_by"]) == ("not_happened", "api:ann")
        assert "hunter2secret" not in str(view)
        assert (await client.get("/v1/questions")).json() == {"questions": []}
