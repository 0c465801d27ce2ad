"""Ninety simulated nights: exactly what should be left is left, and the page says the same."""

from __future__ import annotations

import importlib.util
import sys
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest
from sqlmodel import col, select

from memory_service.audit import broken_link
from memory_service.forgetting.fading import strength
from memory_service.state import fading_of
from memory_service.tables import JobRunRow, MemoryRow, MemoryStateRow
from tests.integration.memory_service.world import START, World

ROOT = Path(__file__).parents[3]

#: Memory by memory: where it stands after 7, 30, 60 and 90 nights.
LEFT = {
    "preference": "hot hot hot hot",
    "procedure (a verified remedy)": "hot hot hot cold",
    "fact": "hot hot hot cold",
    "fact of little importance": "cold cold cold archived",
    "fact that expires on day 14": "hot deleted deleted deleted",
    "summary": "hot cold cold cold",
    "episode": "hot cold archived archived",
    "episode that upset somebody": "hot cold archived archived",
    "episode, cited on days 20, 40 and 60": "hot hot hot cold",
}


@pytest.fixture(scope="module")
def plot() -> ModuleType:
    spec = importlib.util.spec_from_file_location("forgetting_plot", ROOT / "ops" / "plots" / "forgetting.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def tell(desk: World, plot: ModuleType) -> dict[str, str]:
    """Tell the story on day 0; return the ids by name."""
    return {
        life.name: desk.remember(
            f"{life.name} of service-{number}",
            kind=life.kind,
            key=f"story {number}",
            importance=life.importance,
            emotion=life.emotion,
            expires_at=START + timedelta(days=life.expires) if life.expires is not None else None,
        )
        for number, life in enumerate(plot.STORY)
    }


def tiers(desk: World, ids: dict[str, str]) -> dict[str, tuple[str, float]]:
    """Return tier and strength of each memory by name."""
    names = {id_: name for name, id_ in ids.items()}
    with desk.database.reading() as session:
        rows = session.exec(
            select(MemoryRow, MemoryStateRow).where(col(MemoryRow.pk) == col(MemoryStateRow.pk))
        )
        return {
            names[row.id]: (state.tier, round(strength(fading_of(state), desk.now.timestamp()), 2))
            for row, state in rows
        }


def test_ninety_nights_leave_exactly_what_should_be_left(desk: World, plot: ModuleType) -> None:
    ids = tell(desk, plot)
    seen: dict[str, list[tuple[str, float]]] = {}
    for night in range(1, plot.NIGHTS + 1):
        desk.now = START + timedelta(days=night)
        for life in plot.STORY:
            if night in life.cited:
                desk.store.cite("default", [ids[life.name]], cited_by=f"run:{night}", at=desk.now)
        desk.memory.reinforce()
        assert desk.memory.decay().ran
        if night in plot.LOOKS:
            for name, now in tiers(desk, ids).items():
                seen.setdefault(name, []).append(now)
    assert {name: " ".join(tier for tier, _ in told) for name, told in seen.items()} == LEFT
    assert_the_page_tells_of(seen, plot)
    active = sum(told.split()[-1] in ("hot", "cold") for told in LEFT.values())
    assert (desk.index.count(), desk.drift()) == (active, 0)
    assert broken_link(desk.database) is None
    with desk.database.reading() as session:
        nights = session.exec(select(JobRunRow).where(JobRunRow.job == "decay")).all()
    assert len(nights) == plot.NIGHTS, "one row for each night"


def assert_the_page_tells_of(seen: dict[str, list[tuple[str, float]]], plot: ModuleType) -> None:
    page = (ROOT / "docs" / "forgetting.md").read_text(encoding="utf-8")
    for life in plot.STORY:
        cells = [tier if tier == "deleted" else f"{tier} ({left:.2f})" for tier, left in seen[life.name]]
        begins = f"| {life.name}, {life.importance} |"
        (row,) = [line for line in page.splitlines() if line.startswith(begins)]
        assert row.endswith(f"| {' | '.join(cells)} |")


def test_picture_and_table_of_the_page_are_those_of_the_rules(plot: ModuleType) -> None:
    page = (ROOT / "docs" / "forgetting.md").read_text(encoding="utf-8")
    assert plot.page(page) == page, "run ops/plots/forgetting.py"
    assert (ROOT / "docs" / "forgetting.svg").read_text(encoding="utf-8") == plot.svg()
