"""Words of a question that name somebody of the log."""

from __future__ import annotations

import pytest

from agents.log_analysis.owners import lookups_of, owned
from agents.log_analysis.questions import Question
from agents.runtime.spec import DoneCall
from kernel.states import CallState


def done(by: str, pattern: str, *names: str) -> DoneCall:
    value = {"entities": [{"entity": name} for name in names]}
    arguments = {"by": by, "pattern": pattern}
    return DoneCall(id=by, tool="entities", arguments=arguments, state=CallState.done, value=value)


@pytest.mark.parametrize(
    ("term", "request_text", "asked"),
    [
        ("billing", "how many errors in billing?", True),
        ("db-7", "db-7 errors, how many?", True),
        ("billing", "billing 服务有多少错误", True),
        ("segfaults", "how many segfaults are there?", False),
        ("login failed", "how many failed logins?", False),
    ],
)
def test_what_may_be_a_name_is_looked_up(term: str, request_text: str, asked: bool) -> None:
    assert bool(lookups_of(Question("count", term, "error"), request_text)) is asked


def test_the_lines_of_one_are_meant_where_the_log_has_a_name_that_is_the_word() -> None:
    question = Question("count", "timeout db-7", then=Question("most", "db-7", entity="pod"))
    found = owned(question, [done("service", r"db\-7"), done("host", r"db\-7", "db-70", "DB-7")])
    assert found == Question(
        "count", "timeout", of="host=DB-7", then=Question("most", entity="pod", of="host=DB-7")
    )
    assert owned(question, [done("host", r"db\-7", "db-70")]) == question


def test_where_several_are_named_the_lines_of_each_are_meant() -> None:
    calls = [done("host", rf"db\-{n}", f"db-{n}") for n in (1, 2, 3)]
    found = owned(Question("count", "db-1 db-2 db-3", "error"), calls)
    assert found == Question("each", level="error", entity="host")
