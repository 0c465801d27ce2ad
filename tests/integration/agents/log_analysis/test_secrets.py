"""Secrets planted in every place of a log leave the reader in no answer of any tool, and in no outcome."""

from __future__ import annotations

from typing import Any

import pytest

from kernel.errors import NightdeskError
from tests.support.secrets_planted import PLANTED, planted_log, seen

#: What is asked beside the defaults of each tool.
ASKED: dict[str, list[dict[str, Any]]] = {
    "overview": [{}],
    "templates": [{"sort": sort, "limit": 100} for sort in ("count", "rare", "first", "new")],
    "search": [{"limit": 50}, {"limit": 50, "newest_first": True}, {"pattern": "password|KEY", "limit": 50}],
    "histogram": [{}, {"pattern": "password"}],
    "compare": [{"baseline": b} for b in ("auto", "first_error", "half")] + [{"split_at": "line 40"}],
    "changes": [{}],
    "entities": [
        {"by": by, "limit": 40}
        for by in (
            "auto",
            "host",
            "service",
            "user",
            "trace",
            "password",
            "body",
            "AKIAIOSFODNN7PLANTED",
            "msg",
            "trace_id",
        )
    ],
    "follow": [{"id": "root"}, {"id": "glpat-PlantedTrace0123456789"}, {}],
}


@pytest.fixture
def ctx(desk, logs):
    return desk.ctx([logs("app.log", planted_log())])


async def answers(desk, ctx, name: str, arguments: dict[str, Any]) -> list[object]:
    """Return all pages of an answer; what is refused is an answer too."""
    pages: list[object] = []
    for _ in range(20):
        try:
            page = await desk.call(ctx, name, **arguments)
        except NightdeskError as error:
            return [*pages, error.as_result()]
        pages.append(page)
        cursor = page.get("cursor") or page.get("next") if isinstance(page, dict) else None
        if not cursor:
            break
        arguments = {**arguments, "cursor": str(cursor)}
    return pages


async def test_no_tool_answers_with_a_secret(desk, ctx) -> None:
    leaks = []
    for name in desk.tools:
        if name == "context":
            continue
        assert name in ASKED, f"add what to ask of {name}"
        for arguments in ASKED[name]:
            known = set(seen(arguments))  # what the caller says is no leak
            found = [
                s for page in await answers(desk, ctx, name, arguments) for s in seen(page) if s not in known
            ]
            leaks += [(name, arguments, secret) for secret in dict.fromkeys(found)]
    assert leaks == []


async def test_no_line_read_alone_or_in_its_surroundings_shows_one(desk, ctx) -> None:
    source, lines = "app.log", planted_log().count("\n")
    leaks = []
    for line in range(1, lines + 1, 20):
        page = await desk.call(ctx, "context", source=source, line=line, before=20, after=20)
        leaks += [(line, secret) for secret in seen(page)]
    assert leaks == []


async def test_no_outcome_of_the_routine_holds_one_and_its_placeholders_agree(desk, logs) -> None:
    analysis = await desk.analyse(logs("app.log", planted_log()), request="why does checkout fail?")
    assert analysis.outcome.findings
    assert seen(analysis.outcome.model_dump(mode="json")) == []
    assert seen([call.model_dump(mode="json") for call in analysis.calls]) == []


def test_the_planted_log_holds_them_all() -> None:
    assert len(PLANTED) >= 20
    assert set(seen(planted_log())) == set(PLANTED)


async def test_a_secret_in_the_name_of_a_file_is_hidden_and_the_citation_still_resolves(desk, logs) -> None:
    lines = "".join(f"2026-03-01T06:00:0{n}Z ERROR pool exhausted: 2/2 in use\n" for n in range(9))
    name = "dump-password=Pl4nt-x9-name\x1b[31m.log"
    ctx = desk.ctx([logs(name, lines), logs("plain.log", lines)])
    leaks = [
        tool
        for tool, asked in {**ASKED, "context": []}.items()
        for arguments in asked
        if "Pl4nt-x9" in str(await answers(desk, ctx, tool, arguments))
    ]
    assert leaks == []
    analysis = await desk.analyse(*(source.path for source in ctx.work.sources))
    told = analysis.outcome.model_dump_json()
    assert "Pl4nt-x9" not in told
    assert "\\u001b" not in told
    cited = {proof.source for finding in analysis.outcome.findings for proof in finding.evidence}
    assert any("dump-password=<SECRET:" in source for source in cited)
    for source in [*cited, name]:
        assert (await desk.call(ctx, "context", source=source, line=1))["lines"]
