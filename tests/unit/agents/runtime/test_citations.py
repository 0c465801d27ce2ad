import hashlib
from time import monotonic

import pytest

from agents.runtime.citations import Cited, citations, question, whole, without
from kernel.contracts import Finding, Outcome

A, B = "aaaaaaaa-0000-4000-8000-000000000001", "bbbbbbbb-0000-4000-8000-000000000002"


def test_each_place_that_cites_is_found_with_its_sentence() -> None:
    told = Outcome(
        answer=f"All is quiet at noon. The pool of checkout.log:3 is empty [mem:{A}], see app.log! Then\nnothing.",
        findings=[Finding(title=f"连接池耗尽了很久[mem:{B}|fact|3d]。其它", detail="no citation")],
        cited_memories=[A, "x"],
    )
    assert citations(told, {A, B}) == [
        Cited(id=A, sentence="The pool of checkout.log:3 is empty , see app.log!"),
        Cited(id=B, sentence="连接池耗尽了很久 。"),
        Cited(id="x"),
    ]


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        ("First things first. The pool is empty. [mem:a]", "The pool is empty."),
        ("The pool is empty.\n\n[mem:a]", "The pool is empty."),
        ("连接池耗尽。[mem:a]", "连接池耗尽。"),
        ("[mem:a]", ""),
    ],
)
def test_a_citation_that_stands_alone_belongs_to_the_sentence_before(answer: str, sentence: str) -> None:
    assert citations(Outcome(answer=answer), set())[0].sentence == sentence


def test_a_sentence_without_an_end_is_cut_about_the_citation() -> None:
    [cited] = citations(Outcome(answer=f"{'x' * 5000} pool [mem:a] {'y' * 5000}"), set())
    assert len(cited.sentence) <= 1000
    assert "pool" in cited.sentence


def test_bad_citations_are_taken_out_where_they_stand_and_others_are_written_plainly() -> None:
    told = Outcome(
        answer=f"Empty [mem:{A}|fact|3d] and [mem:{A}] again",
        findings=[Finding(title=f"pool [mem:{B}]", detail=f"as [mem:{A[:8]}]")],
        cited_memories=[A, B, "made-up"],
    )
    cited = citations(told, {A, B})
    kept = without(told, cited, {1, 2, 4})
    assert kept.answer == f"Empty [mem:{A}] and  again"
    assert (kept.findings[0].title, kept.findings[0].detail) == ("pool", f"as [mem:{A}]")
    assert kept.cited_memories == [A]


def test_a_cut_id_stands_for_the_one_that_was_served() -> None:
    assert whole(A[:8], {A, B}) == A
    assert whole(A[:7], {A, B}) == A[:7]
    assert whole("aaaaaaaa", {A, f"{A[:8]}-1"}) == "aaaaaaaa"


def test_the_question_carries_a_hash_of_what_was_served_and_never_its_text() -> None:
    asked = question([Cited(id=A, sentence="s"), Cited(id=B)], {A: "pool", B: ""}, namespace="n", user="u")
    assert asked["citations"] == [
        {"id": A, "sentence": "s", "text_hash": hashlib.sha256(b"pool").hexdigest()},
        {"id": B, "sentence": "", "text_hash": ""},
    ]
    assert (asked["served"], asked["namespace"], asked["user"]) == ([A, B], "n", "u")


def test_citations_that_never_close_are_read_in_no_time() -> None:
    started = monotonic()
    assert citations(Outcome(answer="[mem:" * 20_000 + f"[mem:{A}]", brain="model"), set())[0].id == A
    assert monotonic() - started < 5, "0.3 s on a quiet machine; without bounds a minute"
