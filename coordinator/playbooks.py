"""Playbooks: rules that plan a known kind of request, validated with the examples they carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import re2
import yaml
from pydantic import Field, ValidationError

from kernel.contracts import Outcome, PlannedAssignment, Request, Value
from kernel.errors import Fatal


class When(Value):
    """What a request must look like: any text pattern, every label, and with or without sources where that is said."""

    text: list[str] = []
    labels: dict[str, str] = {}
    sources: bool | None = None


class Condition(Value):
    """What the outcomes so far must look like; all that is given must hold."""

    always: bool = False
    finding: str | None = None
    min_score: float = 0.0
    no_finding: bool = False
    action_state: Literal["done", "failed", "denied", "unknown"] | None = None


class Examples(Value):
    """Request texts that must, and must not, match."""

    match: list[str] = []
    no_match: list[str] = []


class Round(Value):
    """Assignments that are added when the condition holds; used at most once a run."""

    name: str
    when: Condition
    assignments: list[PlannedAssignment] = Field(min_length=1, max_length=8)


class Playbook(Value):
    """One kind of request and how it is handled."""

    name: str
    version: int = 1
    priority: int = 50
    description: str = ""
    when: When = When()
    examples: Examples = Examples()
    assignments: list[PlannedAssignment] = Field(min_length=1, max_length=8)
    rounds: list[Round] = []


def load(folder: Path) -> list[Playbook]:
    """Return the playbooks of a folder, highest priority first; raise Fatal naming the file and the fault."""
    playbooks = [_read(path) for path in sorted(folder.glob("*.yaml"))]
    if not playbooks:
        raise Fatal(
            f"{folder} holds no playbook", next_step="Set NIGHTDESK_PLAYBOOKS_DIR, or add default.yaml."
        )
    return sorted(playbooks, key=lambda p: (-p.priority, p.name))


def _read(path: Path) -> Playbook:
    try:
        playbook = Playbook.model_validate(yaml.safe_load(path.read_text(encoding="utf-8")))
    except (yaml.YAMLError, ValidationError, UnicodeDecodeError) as error:
        raise Fatal(
            f"{path} is no playbook", why=str(error), next_step="Mend the file and start again."
        ) from error
    problems = _problems(playbook, path.stem)
    if problems:
        raise Fatal(f"{path} is wrong", why="; ".join(problems), next_step="Mend the file and start again.")
    return playbook


def _problems(playbook: Playbook, stem: str) -> list[str]:
    problems = [] if playbook.name == stem else [f"its name {playbook.name!r} is not the file's"]
    patterns = [*playbook.when.text, *playbook.when.labels.values()]
    patterns += [r.when.finding for r in playbook.rounds if r.when.finding]
    for pattern in patterns:
        try:
            re2.compile(pattern)
        except re2.error as error:
            problems.append(f"{pattern!r} is no RE2 pattern: {error}")
    if problems:
        return problems
    keys = [
        a.key for group in (playbook.assignments, *(r.assignments for r in playbook.rounds)) for a in group
    ]
    if len(set(keys)) != len(keys):
        problems.append("two assignments have the same key")
    labels = {name: name for name in playbook.when.labels}
    wrong = [t for t in playbook.examples.match if not matches(playbook, Request(text=t), check_rest=False)]
    wrong += [t for t in playbook.examples.no_match if matches(playbook, Request(text=t, labels=labels))]
    return problems + [f"its example {text!r} comes out wrong" for text in wrong]


def matches(playbook: Playbook, request: Request, *, check_rest: bool = True) -> bool:
    """Tell whether a playbook is for this request."""
    when = playbook.when
    text_fits = not when.text or any(_search(pattern, request.text) for pattern in when.text)
    labels_fit = not check_rest or all(
        _search(pattern, request.labels.get(name, "")) for name, pattern in when.labels.items()
    )
    sources_fit = not check_rest or when.sources is None or when.sources == bool(request.sources)
    return text_fits and labels_fit and sources_fit


def choose(playbooks: Sequence[Playbook], request: Request) -> Playbook | None:
    """Return the first playbook, by priority, that is for this request."""
    return next((playbook for playbook in playbooks if matches(playbook, request)), None)


def next_round(playbook: Playbook, used: Sequence[str], outcomes: Mapping[str, Outcome]) -> Round | None:
    """Return the first round that was not used yet and whose condition holds."""
    left = (r for r in playbook.rounds if r.name not in used)
    return next((r for r in left if _holds(r.when, list(outcomes.values()))), None)


def _holds(condition: Condition, outcomes: Sequence[Outcome]) -> bool:
    findings = [f for outcome in outcomes for f in outcome.findings]
    if condition.no_finding and findings:
        return False
    if condition.finding is not None and not any(
        f.score >= condition.min_score and _search(condition.finding, f"{f.key} {f.title}") for f in findings
    ):
        return False
    states = {action.state for outcome in outcomes for action in outcome.actions}
    if condition.action_state is not None and condition.action_state not in states:
        return False
    given: list[Any] = [condition.no_finding, condition.finding, condition.action_state]
    return condition.always or any(given)


def _search(pattern: str, text: str) -> bool:
    return re2.search(f"(?i){pattern}", text) is not None
