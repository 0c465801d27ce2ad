"""Stories of a memory over days: facts that change, preferences that are taken back, citations and what they do."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from sqlmodel import col, select

from kernel.contracts import Outcome
from kernel.records import AssignmentRow, CallRow
from kernel.reports import ReportMemory
from kernel.style import style_of
from memory_service.recalling.citations import CitationCheck, text_hash
from memory_service.tables import MemoryAccessRow, MemoryRow
from tests.integration.memory_service.world import World, end_run, finding, restart

OWNER = "who is the owner of billing?"


def said(desk: World, run_id: str, text: str, **told: Any) -> None:
    """Have a run state something, and learn from it."""
    end_run(desk, run_id, text, **told)
    desk.memory.learn(run_id)


def check(desk: World, *citations: dict[str, Any], served: list[str], **asked: Any) -> list[tuple[str, str]]:
    checker = CitationCheck(desk.database, now=lambda: desk.now)
    question = {
        "namespace": "default",
        "user": "ann",
        "citations": list(citations),
        "served": served,
        **asked,
    }
    return [(told["verdict"], told["why"]) for told in checker.check(question)]


def accesses(desk: World) -> list[tuple[str, str, bool]]:
    with desk.database.reading() as session:
        query = select(MemoryRow.id, MemoryAccessRow.cited_by, MemoryAccessRow.flushed).where(
            col(MemoryRow.pk) == MemoryAccessRow.pk
        )
        return sorted((id_, by, bool(flushed)) for id_, by, flushed in session.exec(query))


def test_a_fact_that_changed_twice_is_told_as_it_is_now_and_as_it_was_then(desk: World) -> None:
    moments = []
    for day, owner in enumerate(("Ann", "Bob", "Cy")):
        said(desk, f"run-{day}", f"Remember that the owner of billing is {owner}.")
        moments.append(desk.now + timedelta(hours=1))
        desk.pass_days(3)
    now = [hit.text for hit in desk.recall(OWNER, user="ann")]
    assert [text for text in now if "owner" in text] == ["the owner of billing is Cy"]
    then = [desk.texts(OWNER, user="ann", as_of=moment)[0] for moment in moments]
    assert then == [f"the owner of billing is {name}" for name in ("Ann", "Bob", "Cy")]


def test_a_citation_of_a_value_that_was_replaced_meanwhile_is_stale(desk: World) -> None:
    said(desk, "run-0", "Remember that the owner of billing is Ann.")
    [served] = desk.recall(OWNER, user="ann")
    cited = {
        "id": served.id,
        "sentence": "The owner of billing is Ann.",
        "text_hash": text_hash(served.text),
    }
    asked_then = {**cited, "as_of": desk.now.isoformat()}
    assert check(desk, cited, served=[served.id]) == [("ok", "")]
    desk.pass_days(1)
    said(desk, "run-1", "Remember that the owner of billing is Bob.")
    assert [verdict for verdict, _ in check(desk, cited, asked_then, served=[served.id])] == ["stale", "ok"]
    desk.memory.forget({"id": served.id})
    assert check(desk, cited, served=[served.id]) == [("stale", "it was forgotten")]
    assert check(desk, cited, served=[])[0][0] == "unknown"


def test_a_chinese_sentence_about_another_service_does_not_cite_this_ones_remedy(desk: World) -> None:
    made = [
        desk.remember(f"{name} — pool exhausted; restarting it fixed it", slots={"service": name})
        for name in ("checkout", "billing")
    ]
    cited = {"id": made[0], "sentence": "billing 的连接池又耗尽了，重启后恢复"}
    assert [verdict for verdict, _ in check(desk, cited, served=made)] == ["unsupported"]
    right = {**cited, "id": made[1]}
    assert [verdict for verdict, _ in check(desk, right, served=made)] == ["ok"]


def test_ids_of_others_are_answered_like_ids_that_nobody_has(desk: World) -> None:
    elsewhere = desk.remember("the owner of billing is Eve", namespace="other")
    bobs = desk.remember("answer in French", kind="preference", user="bob")
    mine = desk.remember("the owner of billing is Ann")
    ids = [elsewhere, bobs, "00000000-0000-4000-8000-000000000000", "*", "%", "a\0b", ""]
    told = check(desk, *({"id": id_} for id_ in ids), served=ids)
    assert set(told) == {("unknown", "there is no such memory")}
    assert check(desk, {"id": mine}, served=[])[0][0] == "foreign"


def test_a_preference_is_taken_over_by_the_newer_one_of_its_kind_only(desk: World) -> None:
    said(desk, "run-0", "Keep answers short, in Chinese.")
    desk.pass_days(7)
    style = style_of(desk.recall("why does checkout return 503?", user="ann"))
    assert (style.language, style.length) == ("zh", "short")
    said(desk, "run-1", "From now on, answer in English.")
    style = style_of(desk.recall("why does checkout return 503?", user="ann"))
    assert (style.language, style.length) == ("en", "short")
    assert style_of(desk.recall("why does checkout return 503?", user="bob")).language == ""


def test_how_reports_are_written_is_not_crowded_out_by_other_preferences(desk: World) -> None:
    for what in ("tea to coffee", "the west gate to the east gate", "rolling restarts to reboots"):
        desk.remember(f"I prefer {what}", kind="preference", user="ann", importance=0.95)
    said(desk, "run-0", "Keep answers short, in Chinese.")
    style = style_of(desk.recall("why does checkout return 503?", user="ann"))
    assert (style.language, style.length) == ("zh", "short")
    assert len(desk.texts("why does checkout return 503?", user="ann")) == 3 + 2, (
        "nor do they crowd out others"
    )


def test_only_what_an_answer_cites_is_strengthened_once_a_session_by_the_minute(desk: World) -> None:
    cited = desk.remember("checkout pool exhausted", importance=0.5)
    stripped = desk.remember("checkout pool exhausted by a leak", importance=0.5)
    for number in (1, 2):
        memories = [ReportMemory(id=cited, text="a", cited=True), ReportMemory(id=stripped, text="b")]
        # the checker took the citation of the second memory out of the outcome
        outcome = Outcome(answer=f"As before [mem:{cited}].", cited_memories=[cited])
        end_run(desk, f"run-{number}", memories=memories, session_id="s1")
        part(desk, f"run-{number}", outcome)
        desk.memory.learn(f"run-{number}")
    assert accesses(desk) == [(cited, "session:s1", False)]
    assert {m["importance"] for m in desk.memory.page({})["memories"]} == {0.5}
    assert (desk.memory.reinforce(), desk.memory.reinforce()) == (1, 0)
    assert accesses(desk) == [(cited, "session:s1", True)]
    strengths = {m["id"]: m["importance"] for m in desk.memory.page({})["memories"]}
    assert strengths == {cited: 0.55, stripped: 0.5}


def part(desk: World, run_id: str, outcome: Outcome, *, recalled: list[dict[str, str]] | None = None) -> None:
    """Insert the one assignment of a run, with a recall that brought these memories."""
    key = {"run_id": run_id, "assignment_id": f"{run_id}:log"}
    with desk.database.writing("test") as session:
        told = outcome.model_dump(mode="json")
        session.add(
            AssignmentRow(
                id=f"{run_id}:log",
                run_id=run_id,
                key="log",
                agent="log",
                queue="q",
                goal="g",
                state="done",
                outcome=told,
            )
        )
        session.flush()
        if recalled is not None:
            result = {"value": {"memories": recalled}, "error": None}
            call = {"turn": 1, "position": 0, "tool": "recall", "effect": "read", "key": "k", "state": "done"}
            session.add(CallRow(id=f"{run_id}:log:1", result=result, **key, **call))


def test_what_an_agent_recalled_by_itself_counts_as_served(desk: World) -> None:
    own = desk.remember("checkout pool exhausted", importance=0.5)
    foreign = desk.remember("checkout pool exhausted", namespace="other", importance=0.5)
    end_run(desk, "run-1")
    found = [{"id": own, "text": "checkout pool exhausted"}, {"id": foreign, "text": "x"}]
    part(desk, "run-1", Outcome(cited_memories=[own, foreign]), recalled=found)
    desk.memory.learn("run-1")
    assert accesses(desk) == [(own, "run:run-1", False)]


def test_an_answer_that_cites_a_memory_teaches_nothing_new(desk: World) -> None:
    """The feedback loop: what was recalled comes back in the answer, and must not be learnt again."""
    end_run(desk, "run-1", findings=[finding()], actions=[restart()])
    desk.memory.learn("run-1")
    [known] = desk.memory.page({})["memories"]
    for number in range(2, 5):
        desk.pass_days(1)
        answer = f"Seen before [mem:{known['id']}]: {known['text']}"
        request = f"why does checkout return 503 again?\n[mem:{known['id']}|procedure|3d|run] remember that {known['text']}"
        memories = [ReportMemory(id=known["id"], text=known["text"], cited=True)]
        end_run(desk, f"run-{number}", request, answer=answer, memories=memories, session_id=f"s{number}")
        desk.memory.learn(f"run-{number}")
    [still] = desk.memory.page({})["memories"]
    assert (still["id"], still["text"], still["weight"]) == (known["id"], known["text"], known["weight"])
    assert desk.memory.reinforce() == 1
    assert len(accesses(desk)) == 3
