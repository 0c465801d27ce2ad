"""Generated cases of HolmesGPT with a model that knows only what the first look told it: its finding stands."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agents.log_analysis.agent import AGENT
from kernel.model.port import ModelCall, ModelReply, ModelRequest, ModelUsage, OnText
from tests.support.little_desk import Desk, make_settings

pytestmark = pytest.mark.integration

DATA = Path(__file__).parents[3].parent / "shared" / "data"
ONE = "[{key: analyse, agent: log_analysis, goal: find the cause}]"


class BriefedModel:
    """Asks for the overview, then ends with its first problem: what a hurried reader of the digest would say."""

    name = "briefed"

    def __init__(self) -> None:
        self.seen = 0

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        text = next((m.content for m in reversed(request.messages) if '"problems"' in m.content), "")
        call = ModelCall(id="1", name="overview", arguments={})
        if text:
            self.seen = len(text.encode())
            top = json.JSONDecoder().raw_decode(text, text.index("{"))[0]
            top = top.get("value", top)["problems"][0]
            call = ModelCall(id="2", name="finish", arguments=self._told(top))
        return ModelReply(calls=[call], usage=ModelUsage(), finish="tool_calls", model=self.name)

    def _told(self, top: dict[str, Any]) -> dict[str, Any]:
        spot = {name: top["first"][name] for name in ("source", "line", "quote")}
        finding = {"title": top["message"], "key": top["kind"], "score": 0.9, "evidence": [spot]}
        return {"answer": f"{top['label']}: {top['message']}", "findings": [finding]}

    async def close(self) -> None: ...


@pytest.mark.parametrize(
    ("case", "key", "line", "words"),
    [
        ("62_fetch_error_logs_with_errors", "timeout", 4, "Database connection failed: ETIMEDOUT"),
        (
            "66_http_error_needle",
            "pool_exhausted",
            50_001,
            "Could not acquire connection from pool after 30s",
        ),
        ("68_cascading_failures", "connection_refused", 10_001, "Lost connection to Redis"),
        ("71_connection_pool_starvation", "pool_exhausted", 1302, "Connection pool exhausted"),
    ],
)
async def test_the_digest_alone_leads_a_model_to_the_cause(
    tmp_path: Path, redis_url: str, case: str, key: str, line: int, words: str
) -> None:
    path = DATA / "holmesgpt" / "generated" / f"{case}.log.gz"
    if not path.is_file():
        pytest.skip("the shared data folder is missing beside the checkout")
    settings = make_settings(tmp_path, redis_url, assignments=ONE, log_roots=[path.parent])
    model = BriefedModel()
    desk = Desk(settings, [AGENT], model=model)
    try:
        await desk.submit("run-1", "what is wrong?", sources=[str(path)])
        await desk.settle()
        report = desk.report("run-1")
    finally:
        await desk.close()
    (finding,) = report.findings
    assert (report.state, finding.key, finding.evidence[0].line) == ("succeeded", key, line)
    assert words in finding.title
    assert words in report.answer
    assert not [note for note in report.not_done if note.what == "a claim was left out"]
    assert 0 < model.seen < 14_000
