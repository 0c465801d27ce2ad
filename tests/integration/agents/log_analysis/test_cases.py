"""The four generated cases of HolmesGPT (Apache-2.0, read in place): the true cause is the first finding."""

from __future__ import annotations

import gzip
import re
from pathlib import Path

import pytest

from kernel.contracts import MemoryHit

CASES = "holmesgpt/generated"


def lines_of(path: str) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().split("\n")


@pytest.mark.parametrize(
    ("case", "key", "words", "line"),
    [
        ("62_fetch_error_logs_with_errors", "timeout", ["Database connection failed", "ETIMEDOUT"], 4),
        (
            "66_http_error_needle",
            "pool_exhausted",
            ["Database connection timeout", "acquire connection from pool", "30s"],
            50001,
        ),
        ("68_cascading_failures", "connection_refused", ["auth-service", "Lost connection to Redis"], 10001),
        (
            "71_connection_pool_starvation",
            "pool_exhausted",
            ["backend-service", "Pool exhausted", "100/100"],
            1302,
        ),
    ],
)
async def test_the_true_cause_comes_first_with_lines_that_say_so(
    desk, data: Path, case, key, words, line
) -> None:
    path = data / CASES / f"{case}.log.gz"
    analysis = await desk.analyse(path, request="requests fail, find the cause")
    top = analysis.outcome.findings[0]
    assert top.key == key
    assert all(word in top.title for word in words), top.title
    assert top.evidence[0].line == line
    assert await desk.check_evidence(analysis) >= 1
    raw = lines_of(top.evidence[0].source)
    for evidence in top.evidence:
        assert all(part.strip() in raw[evidence.line - 1] for part in evidence.quote.split("…"))
    assert analysis.seconds < 15
    assert len(analysis.calls) <= 5
    sizes = [len(str(call.value).encode()) for call in analysis.calls]
    assert max(sizes) <= 13_000
    assert f"{path}:{line}" in analysis.outcome.answer


async def test_the_chain_names_the_services_in_order(desk, data: Path) -> None:
    analysis = await desk.analyse(data / CASES / "68_cascading_failures.log.gz")
    detail = analysis.outcome.findings[0].detail
    places = [
        detail.index(f"{service} (19:40:")
        for service in ("auth", "user", "order", "payment")
        for service in [f"{service}-service" if service != "payment" else "payment-processor"]
    ]
    assert places == sorted(places)


async def test_the_last_lines_with_a_word_are_listed(desk, data: Path) -> None:
    request = 'post last 10 logs that contain "ERROR" from payment-service in production-62 namespace'
    answer = (
        await desk.analyse(data / CASES / "62_fetch_error_logs_with_errors.log.gz", request=request)
    ).outcome.answer
    for text in (
        "ETIMEDOUT",
        "attempt 1/3",
        "attempt 2/3",
        "Maximum retry attempts",
        "ECONNREFUSED",
        "Unable to establish",
    ):
        assert f"ERROR: {text}" in answer or re.search(rf"ERROR: .*{re.escape(text)}", answer)
    assert "Application starting up" not in answer
    assert "Database connection slow" not in answer


@pytest.mark.parametrize(
    "case", ["62_fetch_error_logs_with_errors", "68_cascading_failures", "71_connection_pool_starvation"]
)
async def test_what_was_learnt_finds_it_again_with_fewer_calls(desk, data: Path, case) -> None:
    path = data / CASES / f"{case}.log.gz"
    first = await desk.analyse(path)
    found = re.search(r'Pattern: "(.+)"\.$', first.outcome.findings[0].detail)
    assert found
    memory = MemoryHit(
        id="mem-1", text="seen before", tier="high", slots={"pattern": found[1], "cause": "the known cause"}
    )
    second = await desk.analyse(path, memories=[memory])
    assert len(second.calls) < len(first.calls)
    assert second.outcome.cited_memories == ["mem-1"]
    assert await desk.check_evidence(second) >= 1
    misled = MemoryHit(id="mem-2", text="other", tier="high", slots={"pattern": "no such text here"})
    third = await desk.analyse(path, memories=[misled])
    assert third.outcome.cited_memories == []
    assert third.outcome.findings == first.outcome.findings


async def test_all_kinds_of_errors_are_among_the_candidates(desk, data: Path) -> None:
    path = next((data / "holmesgpt/51_logs_summarize_errors").glob("fetch_pod_logs_ERROR_*"))
    answer = (await desk.analyse(path, request="summarise the errors")).outcome.answer.lower()
    for fact in ("redis", "certificate expired", "syntax error", "unique constraint"):
        assert fact in answer


async def test_a_line_of_a_big_archive_is_read_quickly_again_and_again(desk, data: Path) -> None:
    import time

    from agents.log_analysis.tools import read_line

    path = str(data / CASES / "66_http_error_needle.log.gz")
    ctx = desk.ctx([path])
    assert await read_line(ctx, path, 50001) is not None
    start = time.perf_counter()
    lines = [await read_line(ctx, path, n) for n in range(1, 100_001, 500)]
    assert all(lines)
    assert (time.perf_counter() - start) / len(lines) < 0.05
    assert await read_line(ctx, path, 100_002) is None
    assert await read_line(ctx, path, 0) is None
    assert await read_line(ctx, "another.log", 1) is None
