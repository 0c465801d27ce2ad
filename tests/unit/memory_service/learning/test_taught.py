from __future__ import annotations

import json
from typing import Any

import pytest

from kernel.errors import Correctable
from kernel.reports import Report
from memory_service.learning.runs import FinishedRun
from memory_service.learning.taught import MOST, candidates, question
from tests.integration.memory_service.world import finding

REQUEST = "checkout answers 503 again. Ann owns billing since May, and I like tables more than prose."
ANSWER = "The pool of checkout was exhausted: version 4.2 on node-7 never closes its connections."


def run(request: str = REQUEST, answer: str = ANSWER, **fields: Any) -> FinishedRun:
    report = Report(run_id="r1", state="succeeded", answer=answer, findings=fields.pop("findings", []))
    return FinishedRun(run_id="r1", namespace="default", user="ann", request=request, report=report, **fields)


def told(**fields: Any) -> dict[str, Any]:
    values = {"kind": "fact", "text": "Ann owns billing since May", "quote": "Ann owns billing since May"}
    return {**values, "key": "", "importance": 0.7, "emotion": 0.1, **fields}


def kept(*items: Any, of: FinishedRun | None = None) -> list[tuple[str, str, str]]:
    made, _ = candidates(of or run(), json.dumps({"memories": items}))
    return [(one.kind, one.user, one.text) for one in made]


def test_what_its_quote_supports_is_kept_and_believed_no_more_than_a_model() -> None:
    made, unsupported = candidates(run(), json.dumps({"memories": [told()]}))
    assert unsupported == 0
    assert [(c.source_kind, c.trust, c.source_ref, c.quotes_untrusted) for c in made] == [
        ("agent", 0.5, "run:r1", True)
    ]
    wish = told(
        kind="preference", text="Ann likes tables more than prose", quote="I like tables more than prose"
    )
    assert kept(wish) == [("preference", "ann", "Ann likes tables more than prose")]
    what = told(
        kind="episode",
        text="checkout ran out of pool connections: version 4.2 on node-7 never closes them",
        quote="version 4.2 on node-7 never closes its connections",
    )
    assert len(kept(what)) == 1


@pytest.mark.parametrize(
    "item",
    [
        told(quote="Bob owns billing since May"),
        told(quote=""),
        told(quote="Ann"),
        told(text="Ann owns billing on node-9"),
        told(text="Ann does not own billing since May"),
        told(text="the moon is made of green cheese"),
        told(kind="preference", text="close connections", quote="never closes its connections"),
        told(kind="procedure"),
        told(importance=7),
        told(text=""),
        "Ann owns billing since May",
        None,
    ],
)
def test_what_no_quote_supports_falls(item: Any) -> None:
    assert kept(item) == []


def test_an_alert_states_no_preference() -> None:
    wish = told(
        kind="preference", text="I like tables more than prose", quote="I like tables more than prose"
    )
    assert kept(wish) != []
    assert kept(wish, of=run(labels={"alertname": "Down"})) == []


def test_what_an_alert_says_is_believed_no_more_for_being_read_by_a_model() -> None:
    made, _ = candidates(run(labels={"alertname": "Down"}), json.dumps({"memories": [told()]}))
    assert [(c.source_kind, c.trust, c.source_ref) for c in made] == [("alert", 0.2, "alert:Down")]


@pytest.mark.parametrize("text", ["", "no", "[]", '{"memories": 3}', '{"answer": []}', "{", "[" * 5000])
def test_rubbish_is_said_to_be_rubbish(text: str) -> None:
    with pytest.raises(Correctable):
        candidates(run(), text)


def test_a_flood_is_cut_and_prose_round_the_answer_is_borne() -> None:
    many = [told(text=f"Ann owns billing since May {'really ' * n}".strip()) for n in range(3)] * 10
    made, _ = candidates(run(), f"Here you are:\n```json\n{json.dumps({'memories': many})}\n```")
    assert 0 < len(made) <= MOST


def test_the_question_has_no_recalled_text_no_log_text_and_no_id() -> None:
    uuid = "7f3a9c1e-0000-4000-8000-000000000001"
    recalled = f"[mem:{uuid}|fact|high] the zanzibar ledger is on node-9"
    asked = question(
        run(
            f"why 503?\n{recalled}\nthe zanzibar  ledger is on NODE-9",
            f"Seen before [mem:{uuid}]: the zanzibar ledger is on node-9\nThe pool was exhausted, see {uuid}.",
            findings=[finding(quote="SECRET LOG LINE", detail="SECRET DETAIL")],
            served=["the zanzibar ledger is on node-9"],
        ),
        "==abc==",
    )
    text = "\n".join(message.content for message in asked)
    assert "zanzibar" not in text.casefold()
    assert uuid not in text
    assert "SECRET" not in text
    assert "The pool was exhausted" in text
    assert "connection pool exhausted (size 2)" in text
    assert text.count("==abc==") == 7


def test_recalled_text_supports_nothing() -> None:
    served = ["the owner of billing is Ann"]
    of = run("why 503?\nthe owner of billing is Ann", "the owner of billing  is ANN", served=served)
    item = told(text="the owner of billing is Ann", quote="the owner of billing is Ann")
    assert kept(item, of=of) == []
