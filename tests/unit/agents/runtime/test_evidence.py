import pytest

from agents.runtime.evidence import check, quote_stands, strip
from kernel.contracts import Evidence, Finding, Outcome

LINES = {("app.log", 1): "INFO started", ("app.log", 2): "ERROR  pool exhausted: 2/2 错误"}


async def read(source: str, line: int) -> str | None:
    return LINES.get((source, line))


@pytest.mark.parametrize(
    ("quote", "stands"),
    [
        ("ERROR pool exhausted", True),
        ("ERROR … 2/2", True),
        ("pool exhausted: 2/2 错误", True),
        ("2/2 … ERROR", False),
        ("pool exhausted: 3/2", False),
        ("…", False),
        ("", False),
    ],
)
def test_a_quote_must_stand_in_the_line_in_order(quote: str, stands: bool) -> None:
    assert quote_stands(quote, LINES["app.log", 2]) is stands


def finding(*evidence: tuple[str, int, str]) -> Finding:
    return Finding(title="t", evidence=[Evidence(source=s, line=n, quote=q) for s, n, q in evidence])


async def test_what_stands_is_kept_and_what_does_not_is_named() -> None:
    told = Outcome(
        findings=[finding(("app.log", 2, "pool exhausted"), ("app.log", 1, "pool"), ("app.log", 9, "x"))]
    )
    kept, refused = await check(told, read=read)
    assert [e.line for e in kept.findings[0].evidence] == [2]
    assert refused == ["app.log:1 does not say 'pool'", "app.log:9 does not exist"]
    assert [n.why for n in strip(kept, refused).not_done] == refused


async def test_a_finding_without_proof_falls() -> None:
    kept, refused = await check(Outcome(findings=[finding()]), read=read)
    assert kept.findings == []
    assert "quotes no line" in refused[0]


async def test_an_agent_that_reads_no_lines_makes_no_findings() -> None:
    kept, refused = await check(Outcome(findings=[finding(("app.log", 2, "pool"))]), read=None)
    assert (kept.findings, len(refused)) == ([], 1)
