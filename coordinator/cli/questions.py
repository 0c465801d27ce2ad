"""The commands about calls that may have happened: which are open, and what a person found out."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer

from coordinator.cli import screen
from coordinator.cli.options import AsJson, CallId, DataDir, RunId


class Answer(StrEnum):
    """What a person can have found out."""

    happened = "happened"
    not_happened = "not-happened"


@screen.answering
def questions(
    run: Annotated[
        str | None,
        typer.Argument(metavar="[RUN]", help="Only those of this run; all of it, answered ones too."),
    ] = None,
    *,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """List calls that may have happened: what is known of each, and the command to answer."""
    from coordinator import chronicle
    from coordinator.cli import history
    from coordinator.cli.chronicle_view import question_text
    from coordinator.cli.connection import join

    with history.reading(join(data_dir)) as session:
        run_id = history.find_run(session, run).id if run is not None else None
        found = chronicle.questions(session, run_id=run_id, answered=run is not None)
    if as_json:
        screen.print_json({"questions": [question.model_dump(mode="json") for question in found]})
        return
    texts = [f"run {question.run_id}: {question_text(question)}" for question in found]
    text = "\n\n".join(texts) if found else "no open questions"
    screen.out().print(text, markup=False, soft_wrap=True)


@screen.answering
def resolve(
    run: RunId,
    call: CallId,
    answer: Annotated[Answer, typer.Argument(help="What you found out.")],
    *,
    reason: Annotated[str, typer.Option("--reason", help="How you found out; the audit keeps it.")],
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Answer whether a call happened that the desk cannot know about; once, also after its run has ended."""
    from coordinator.cli import history
    from coordinator.cli.connection import join, user_name
    from coordinator.cli.decisions import decide
    from kernel.redaction import make_redactor

    settings = join(data_dir)
    with history.reading(settings) as session:
        run_id = history.find_run(session, run).id
    clean = make_redactor(settings, run_id.encode()).text(reason)
    happened = answer is Answer.happened
    row = decide(
        settings,
        lambda desk: desk.resolve(run_id, call, happened=happened, by=user_name(), reason=clean),
    )
    document = {
        "run_id": run_id,
        "call_id": row.call_id,
        "decision": row.state,
        "by": row.answered_by,
        "reason": row.reason,
    }
    if as_json:
        screen.print_json(document)
    else:
        words = row.state.replace("_", " ")
        screen.remark(f"{row.tool} (call {history.short_call(row.call_id)}) of run {run_id}: {words}")
