"""Action tools end to end: result, verification, dry run, policy, unknown outcomes and probes."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar

import pytest

from agents.action_execution.agent import AGENT
from agents.runtime.approvals import digest
from agents.runtime.spec import DoneCall, DoneTurn
from agents.runtime.tools import Tool, ToolContext
from kernel.clock import now
from kernel.contracts import Effect
from kernel.errors import Correctable, Refused, Unknown
from kernel.states import CallState

pytestmark = pytest.mark.integration

Build = Callable[..., dict[str, Tool]]
Entry = Callable[..., dict[str, Any]]


class _Health(BaseHTTPRequestHandler):
    """Is bad for the first answers, then good; /moved points to a good place."""

    answers: ClassVar[list[int]] = []

    def do_GET(self) -> None:
        status = (
            302
            if self.path == "/moved"
            else self.answers.pop(0)
            if len(self.answers) > 1
            else self.answers[0]
        )
        self.send_response(status)
        self.send_header("Location", "/healthz")
        self.end_headers()
        self.wfile.write("config=最后".encode())

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 the base names it so
        """Stay quiet."""


@pytest.fixture
def health() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Health)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


async def test_the_result_tells_all(build: Build, entry: Entry, ctx: ToolContext, state: Path) -> None:
    verify = {"argv": [*entry("seen")["argv"]], "contains": "count 1"}
    result = await build(entry("count", verify=verify))["do_count"].run(ctx, {})
    assert result["argv"][0] == sys.executable
    assert (result["state"], result["exit_code"], result["verified"]) == ("done", 0, True)
    assert "count 1" in result["verify_detail"]
    assert len(result["sha256"]) == 64
    json.dumps(result)
    assert state.read_text() == "x"


async def test_a_failed_exit_is_a_result_and_is_not_verified(
    build: Build, entry: Entry, ctx: ToolContext
) -> None:
    result = await build(entry("fail", verify={"argv": entry("seen")["argv"]}))["do_fail"].run(ctx, {})
    assert (result["state"], result["exit_code"], result["verified"]) == ("failed", 3, None)
    assert "no such service: 结账" in result["verify_detail"]


async def test_without_verify_step_nothing_is_claimed(build: Build, entry: Entry, ctx: ToolContext) -> None:
    assert (await build(entry("count"))["do_count"].run(ctx, {}))["verified"] is None


async def test_verify_waits_for_the_state(build: Build, entry: Entry, ctx: ToolContext, health: str) -> None:
    _Health.answers[:] = [503, 503, 200]
    verify = {"http": f"{health}/healthz", "contains": "最后", "every_seconds": 0.05, "within_seconds": 20}
    result = await build(entry("count", verify=verify))["do_count"].run(ctx, {})
    assert result["verified"] is True
    assert "HTTP 200" in result["verify_detail"]


@pytest.mark.parametrize(
    ("path", "contains", "seen"),
    [("/healthz", "", "HTTP 503"), ("/moved", "", "HTTP 302"), ("/moved", "absent", "HTTP 302")],
)
async def test_a_bad_state_ends_as_not_verified(
    build: Build, entry: Entry, ctx: ToolContext, health: str, path: str, contains: str, seen: str
) -> None:
    _Health.answers[:] = [503]
    verify = {"http": f"{health}{path}", "contains": contains, "every_seconds": 0.05, "within_seconds": 0.2}
    result = await build(entry("count", verify=verify))["do_count"].run(ctx, {})
    assert (result["state"], result["verified"]) == ("done", False)
    assert seen in result["verify_detail"]


async def test_only_allowed_hosts_are_asked(build: Build, entry: Entry, ctx: ToolContext) -> None:
    verify = {"http": "http://169.254.169.254/latest", "within_seconds": 0.1}
    result = await build(entry("count", verify=verify))["do_count"].run(ctx, {})
    assert result["verified"] is False
    assert "allowed_hosts" in result["verify_detail"]


async def test_prepare_shows_target_dry_run_and_the_way_back(
    build: Build, entry: Entry, ctx: ToolContext, state: Path
) -> None:
    action = entry("count", target="service:web", dry_run=entry("seen")["argv"], risk="high")
    tool = build(action)["do_count"]
    assert tool.prepare is not None
    first, second = await tool.prepare(ctx, {}), await tool.prepare(ctx, {})
    assert (first.target, first.risk, first.dry_run) == ("service:web", "high", "count 0")
    assert first.undo.startswith("none")
    assert not state.exists()
    expires = now()
    bind = {"tool": "do_count", "arguments": {}, "requester": "ann", "expires_at": expires}
    assert digest(prepared=first, **bind) == digest(prepared=second, **bind)
    state.write_text("x")  # the world moves: the approval no longer fits
    assert digest(prepared=await tool.prepare(ctx, {}), **bind) != digest(prepared=first, **bind)


async def test_a_failing_dry_run_is_an_answer(build: Build, entry: Entry, ctx: ToolContext) -> None:
    tool = build(entry("count", dry_run=entry("fail")["argv"]))["do_count"]
    assert tool.prepare is not None
    with pytest.raises(Correctable, match=r"dry run.*no such service"):
        await tool.prepare(ctx, {})


async def test_a_protected_target_is_never_touched(
    build: Build, entry: Entry, ctx: ToolContext, state: Path
) -> None:
    tool = build(entry("count", target="service:redis"), policy={"protected": ["service:redis*"]})["do_count"]
    with pytest.raises(Refused, match="protected"):
        await tool.run(ctx, {})
    assert not state.exists()


async def test_a_time_out_of_an_unsafe_action_is_unknown(
    build: Build, entry: Entry, ctx: ToolContext
) -> None:
    tool = build(entry("hang", effect="unsafe", risk="high", timeout=1.5))["do_hang"]
    with pytest.raises(Unknown, match="may have had its effect"):
        await tool.run(ctx, {})


@pytest.mark.parametrize(
    ("mode", "state"), [("probe", "done"), ("confused", None), ("fail", None), ("absent", "failed")]
)
async def test_after_a_time_out_a_probe_decides(
    build: Build, entry: Entry, ctx: ToolContext, mode: str, state: str | None
) -> None:
    tool = build(entry("hang", effect="probe", timeout=1.5, probe={"argv": entry(mode)["argv"]}))["do_hang"]
    if state is None:
        with pytest.raises(Unknown, match="probe: exit code"):
            await tool.run(ctx, {})
    else:
        assert (await tool.run(ctx, {}))["state"] == state


@pytest.mark.parametrize(("mode", "state"), [("probe", "done"), ("absent", "failed"), ("confused", None)])
async def test_of_a_program_that_was_killed_the_probe_knows(
    build: Build, entry: Entry, ctx: ToolContext, mode: str, state: str | None
) -> None:
    tool = build(entry("die", effect="probe", probe={"argv": entry(mode)["argv"]}))["do_die"]
    if state is None:
        with pytest.raises(Unknown, match="exit code -9"):
            await tool.run(ctx, {})
    else:
        assert (await tool.run(ctx, {}))["state"] == state


async def test_what_a_killed_unsafe_program_did_is_unknown(
    build: Build, entry: Entry, ctx: ToolContext
) -> None:
    tool = build(entry("die", effect="unsafe", risk="high"))["do_die"]
    with pytest.raises(Unknown, match="may have had its effect"):
        await tool.run(ctx, {})


async def test_a_time_out_of_an_idempotent_action_is_a_failure(
    build: Build, entry: Entry, ctx: ToolContext
) -> None:
    result = await build(entry("hang", timeout=0.3))["do_hang"].run(ctx, {})
    assert (result["state"], result["timed_out"], result["verified"]) == ("failed", True, None)


@pytest.mark.parametrize(
    ("mode", "there", "happened"), [("probe", True, True), ("probe", False, False), ("confused", True, None)]
)
async def test_a_probe_tells_whether_it_happened(
    build: Build, entry: Entry, ctx: ToolContext, state: Path, mode: str, there: bool, happened: bool | None
) -> None:
    tool = build(entry("count", effect="probe", probe={"argv": entry(mode)["argv"]}))["do_count"]
    assert (tool.effect, tool.reconcile is not None) == (Effect.probe, True)
    assert tool.reconcile is not None
    if there:
        state.write_text("x")
    found = await tool.reconcile(ctx, {})
    assert found.happened is happened
    if happened:
        assert found.value["state"] == "done"
        call = DoneCall(id="c", tool="do_count", state=CallState.done, value=found.value)
        assert AGENT.collect is not None
        assert (
            AGENT.collect(ctx.work, [DoneTurn(number=1, calls=[call])]).actions[0].argv == found.value["argv"]
        )


async def test_a_keyed_action_gets_the_key(build: Build, entry: Entry, ctx: ToolContext) -> None:
    action = entry("echo", effect="keyed", argv=[*entry("echo")["argv"], "--key={key}"])
    result = await build(action)["do_echo"].run(ctx, {})
    assert json.loads(result["output_head"]) == [f"--key={ctx.key}"]


async def test_any_result_stays_small_enough_to_be_shown_whole(
    build: Build, entry: Entry, ctx: ToolContext
) -> None:
    result = await build(entry("noise"))["do_noise"].run(ctx, {})
    assert result["truncated"]
    assert len(json.dumps(result, ensure_ascii=False).encode()) < 16 * 1024


async def test_a_tool_outlives_its_parts(build: Build, entry: Entry) -> None:
    tool = build(entry("count", timeout=7, verify={"argv": entry("seen")["argv"], "within_seconds": 11}))[
        "do_count"
    ]
    assert tool.timeout is not None
    assert tool.timeout > 7 + 11
    assert "Verified after it ran" in tool.description
    assert tool.parameters["additionalProperties"] is False


async def test_the_shipped_diagnostics_run(ctx: ToolContext) -> None:
    tools = {tool.name: tool for tool in AGENT.tools(ctx.resources.settings)}
    disk = await tools["disk_usage"].run(ctx, {"path": "/"})
    assert "/" in disk["output_head"]
    processes = await tools["process_list"].run(ctx, {})
    assert "PID" in processes["output_head"]
    assert tools["terminate_process"].effect is Effect.unsafe
