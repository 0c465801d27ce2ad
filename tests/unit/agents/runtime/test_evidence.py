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


async def test_evidence_against_is_read_again_too() -> None:
    told = finding(("app.log", 2, "pool exhausted")).model_copy(
        update={"against": [Evidence(source="app.log", line=1, quote="INFO started"), Evidence(source="app.log", line=1, quote="FATAL")]}
    )  # fmt: skip
    kept, refused = await check(Outcome(findings=[told]), read=read)
    assert [e.quote for e in kept.findings[0].against] == ["INFO started"]
    assert refused == ["app.log:1 does not say 'FATAL'"]


RESULTS = [{"events": 2000, "levels": {"error": 120}}]


async def test_a_sentence_with_a_number_that_no_tool_returned_goes_and_is_named() -> None:
    told = Outcome(
        answer="The pool is empty. It happened 400 times. There are 120 errors.\n- app.log:2  `400 times`",
        findings=[finding(("app.log", 2, "pool exhausted: 2/2"))],
    )
    kept, refused = await check(told, read=read, results=RESULTS)
    assert kept.answer == "The pool is empty. There are 120 errors.\n- app.log:2  `400 times`"
    assert refused == [
        "'400' is no number that a tool returned or a cited line says: 'It happened 400 times.'"
    ]
    assert [n.why for n in strip(kept, refused).not_done] == refused


async def test_numbers_of_findings_are_checked_and_a_title_loses_only_the_number() -> None:
    told = finding(("app.log", 2, "pool exhausted")).model_copy(
        update={
            "title": "pool exhausted 400 times, 120 errors",
            "detail": "It has 120 errors; 4,000 lines tell of it. 池中有２/2。",
            "reasons": ["120 errors", "在 300 条记录中出现"],
        }
    )
    kept, refused = await check(Outcome(answer="see", findings=[told]), read=read, results=RESULTS)
    [only] = kept.findings
    assert only.title == "pool exhausted … times, 120 errors"
    assert only.detail == "It has 120 errors; 池中有２/2。"
    assert only.reasons == ["120 errors"]
    assert len(refused) == 3


async def test_an_answer_of_nothing_but_wrong_numbers_says_that() -> None:
    kept, refused = await check(Outcome(answer="There are 7 errors."), read=read, results=RESULTS)
    assert kept.answer == "Nothing that was claimed could be proved by what the tools returned."
    assert len(refused) == 1
    found = Outcome(answer="There are 7 errors.", findings=[finding(("app.log", 2, "pool"))])
    assert (await check(found, read=read, results=RESULTS))[0].answer == "t"


async def test_the_number_of_a_lists_entries_proves_itself() -> None:
    told = Outcome(answer="Error lines (2 of 120):\n- a\n- b")
    assert await check(told, read=read, results=RESULTS) == (told, [])
    kept, refused = await check(
        Outcome(answer="Error lines (3 of 120):\n- a\n- b"), read=read, results=RESULTS
    )
    assert (kept.answer, len(refused)) == ("- a\n- b", 1)


async def test_an_agent_that_reads_no_lines_has_numbers_of_its_own() -> None:
    told = Outcome(answer="Restarted 3 pods in 2 zones.")
    assert await check(told, read=None) == (told, [])


def guess(answer: str) -> Outcome:
    return Outcome(answer=answer, brain="some-model")


@pytest.mark.parametrize(
    "answer",
    [
        "The outage was caused by a full disk.",
        "Checkout failed because the pool was empty.",
        "根因是连接池耗尽。",
        "磁盘写满导致支付失败。",
        "It stems from the deploy, see app.log:9.",  # no such line
    ],
)
async def test_a_cause_that_rests_on_no_line_is_no_answer(answer: str) -> None:
    kept, refused = await check(guess(answer), read=read, results=RESULTS)
    assert kept.answer == "Nothing that was claimed could be proved by what the tools returned."
    assert len(refused) == 1
    assert "claims a cause and cites no line" in refused[0]


async def test_of_a_longer_answer_only_the_guess_goes() -> None:
    told = guess("There are 120 errors. They are due to v1.2.3 of checkout. All are of one host.")
    kept, refused = await check(told, read=read, results=RESULTS)
    assert kept.answer == "There are 120 errors. All are of one host."
    assert len(refused) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "There are 120 errors.",
        "The pool is exhausted.",
        "The cause is not in the log.",
        "No cause was found.",
        "日志中没有原因。",
        "It was caused by the pool, app.log:2.",
        "Seen before [mem:7f3a]: it was caused by the pool.",
    ],
)
async def test_what_claims_no_cause_or_rests_on_a_line_stays(answer: str) -> None:
    told = guess(answer)
    assert await check(told, read=read, results=RESULTS) == (told, [])


async def test_a_cause_beside_a_finding_with_its_line_stays_and_falls_with_it() -> None:
    answer = "It failed because the pool was empty."
    good = Outcome(answer=answer, brain="m", findings=[finding(("app.log", 2, "pool exhausted"))])
    assert await check(good, read=read, results=RESULTS) == (good, [])
    bad = Outcome(answer=answer, brain="m", findings=[finding(("app.log", 2, "disk full"))])
    kept, refused = await check(bad, read=read, results=RESULTS)
    assert (kept.findings, "pool" in kept.answer, len(refused)) == ([], False, 2)
