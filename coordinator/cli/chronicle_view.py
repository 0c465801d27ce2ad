"""What happened to a run, for people: take-overs, the stop, calls that may have happened and how to answer for them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from rich.console import Console

from coordinator.chronicle import Chronicle, Question, Stop, TakeOver
from coordinator.stopping import EffectCall, StoppedPart
from kernel.clock import local
from kernel.states import AssignmentState, QuestionState

_A = AssignmentState


def print_chronicle(told: Chronicle, console: Console) -> None:
    """Print what happened to a run besides its work, and each call that ended unknown; nothing where nothing did."""
    lines = happened_lines(told)
    if lines:
        console.print("\n".join(["What happened", *(f"  {line}" for line in lines)]), markup=False)
    for question in told.questions:
        # the terminal wraps: a command that is cut by a line break cannot be copied
        console.print(question_text(question), markup=False, soft_wrap=True)


def happened_lines(told: Chronicle) -> list[str]:
    """Return a line for everything that happened besides the work itself, but for questions."""
    return [
        *(_taken_over(one, stopped=told.stop is not None) for one in told.taken_over),
        *(f"call {one.call} {one.tool} was made again (attempt {one.attempt})" for one in told.repeated),
        *(_stop_lines(told.stop) if told.stop is not None else ()),
        *(
            f"{one.part}: given up ({one.reason}); dead letter {one.number} is {one.state}: "
            f"nightdesk dead-letters show {one.number}"
            for one in told.dead_letters
        ),
    ]


def question_text(question: Question) -> str:
    """Return what is known of a call that may have happened, and the exact commands to answer; or the answer."""
    title = f"{question.tool} (call {question.call})"
    if question.state != QuestionState.open.value:
        when = f" at {local(question.answered_at)}" if question.answered_at else ""
        said = question.state.replace("_", " ")
        return f"{title} ended unknown; {question.answered_by} said{when}: {said}: {question.reason}"
    rows = [*_known(question), ("asked", local(question.asked_at))]
    shown = "\n".join(f"  {name:<9} {text}" for name, text in rows if text)
    command = f"nightdesk resolve {question.run_id} {question.call}"
    return (
        f"nobody knows whether {title} happened; find out, then answer:\n{shown}\n"
        f'  {command} happened --reason "…"\n'
        f'  {command} not-happened --reason "…"'
    )


def part_line(part: StoppedPart) -> str:
    """Return what a stop does to one assignment."""
    name = part.key if part.key == part.agent else f"{part.key} ({part.agent})"
    state = _A(part.state)
    if state in (_A.pending, _A.queued):
        if part.worker:
            return f"{name}: waited to go on, begun on {part.worker}; it never will"
        return f"{name}: had not begun, and never will"
    if state is _A.waiting:
        return f"{name}: waited for a person" + (f" over {part.doing}" if part.doing else "")
    since = f" since {local(part.since)}" if part.since else ""
    return f"{name}: running{since} on {part.worker or 'a worker'}, in {part.doing or 'a turn'}"


def effect_line(effect: EffectCall) -> str:
    """Return what the ledger says of one call that changes the world."""
    words = "under way, may have happened" if effect.happened == "under way" else effect.happened
    at = f" at {local(effect.at)}" if effect.at and effect.happened != "never made" else ""
    detail = f": {effect.detail}" if effect.detail else ""
    return f"{effect.tool} (call {effect.call}): {words}{at}{detail}"


def _taken_over(one: TakeOver, *, stopped: bool) -> str:
    if one.lost:
        why = f"worker {one.lost} was lost"
    else:
        why = f"worker {one.handed_back or 'that had it'} was stopping and handed it back"
    nobody = "nobody took over" if stopped else "nobody has taken over yet"
    took = f"{one.took} took over" if one.took else nobody
    return f"{one.part}: {why}; {took} (attempt {one.attempt}){_at(one.at)}"


def _stop_lines(stop: Stop) -> Iterator[str]:
    yield f"cancelled by {stop.by} at {local(stop.at)}; at that moment:"
    for part in stop.parts:
        yield f"  {part_line(part)}"


def _known(question: Question) -> Iterator[tuple[str, str]]:
    known = question.known
    if known.get("argv"):
        yield "argv", repr(known["argv"])
    elif known.get("arguments"):
        yield "arguments", ", ".join(f"{name}={value!r}" for name, value in known["arguments"].items())
    yield "target", str(known.get("target", ""))
    began = local(datetime.fromisoformat(known["started_at"])) if known.get("started_at") else ""
    yield "began", " on ".join(text for text in (began, str(known.get("worker", ""))) if text)
    yield "why", str(known.get("why", ""))
    program = known.get("program")
    if program:
        yield "program", _program(program)


def _program(program: dict[str, object]) -> str:
    it = f"pid {program.get('pid')} on {program.get('host')}"
    if not program.get("ended_at"):
        return f"{it}; nobody saw it end"
    code, at = program.get("exit_code"), local(datetime.fromisoformat(str(program["ended_at"])))
    # without its exit code nobody saw the end itself
    return f"{it}; seen gone at {at}" if code is None else f"{it}; ended at {at} with exit code {code}"


def _at(moment: str) -> str:
    return f" at {local(datetime.fromisoformat(moment))}" if moment else ""
