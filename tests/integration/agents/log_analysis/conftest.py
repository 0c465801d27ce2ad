"""A small driver: the routine and the tools end to end, with a journal that goes through JSON, without Celery."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import pytest

from agents.log_analysis.agent import AGENT
from agents.log_analysis.scanning.library import LIBRARY
from agents.runtime.evidence import check, quote_stands
from agents.runtime.spec import DoneCall, DoneTurn, TurnView
from agents.runtime.tools import Resources, ToolContext
from kernel.artifacts import ArtifactStore
from kernel.contracts import MemoryHit, Outcome, Source, Work
from kernel.database import Database
from kernel.errors import NightdeskError
from kernel.settings import Settings
from kernel.states import CallState

DATA = Path(__file__).parents[4].parent / "shared" / "data"


@dataclass
class Analysis:
    """One assignment played through."""

    ctx: ToolContext
    outcome: Outcome
    turns: list[DoneTurn]
    #: Of processor time: beside other tests the clock says how busy the machine is.
    cpu_seconds: float

    @property
    def calls(self) -> list[DoneCall]:
        return [call for turn in self.turns for call in turn.calls]


@dataclass
class Desk:
    """Runs tools and the routine over files under its roots."""

    resources: Resources
    roots: list[Path]
    tools: dict = field(default_factory=lambda: {t.name: t for t in AGENT.tools(Settings())})

    def ctx(
        self, sources: Sequence[str | Path | Source], request: str = "find the cause", **more
    ) -> ToolContext:
        named = [s if isinstance(s, Source) else Source(name=str(s), path=str(s)) for s in sources]
        work = Work(
            run_id="run-1",
            assignment_id="a-1",
            agent="log_analysis",
            goal=request,
            request=request,
            sources=named,
            **more,
        )
        return ToolContext(work=work, resources=self.resources)

    async def call(self, ctx: ToolContext, name: str, **arguments) -> dict:
        self.tools[name].check(arguments)
        return json.loads(json.dumps(await self.tools[name].run(ctx, arguments)))

    async def _done(self, ctx: ToolContext, number: str, name: str, arguments: dict) -> DoneCall:
        try:
            value = await self.call(ctx, name, **arguments)
        except NightdeskError as error:
            return DoneCall(
                id=number, tool=name, arguments=arguments, state=CallState.failed, error=error.as_result()
            )
        return DoneCall(id=number, tool=name, arguments=arguments, state=CallState.done, value=value)

    async def analyse(
        self, *sources, request: str = "find the cause", memories: Sequence[MemoryHit] = ()
    ) -> Analysis:
        ctx = self.ctx(sources, request, memories=list(memories))
        turns: list[DoneTurn] = []
        start = time.process_time()
        for number in range(1, 9):
            view = TurnView(work=ctx.work, turns=turns, tools=list(self.tools), turns_left=9 - number)
            turn = AGENT.routine(view)
            if turn.outcome is not None:
                return Analysis(ctx, turn.outcome, turns, time.process_time() - start)
            calls = [self._done(ctx, f"{number}.{n}", c.tool, c.arguments) for n, c in enumerate(turn.calls)]
            turns.append(DoneTurn(number=number, note=turn.note, calls=await asyncio.gather(*calls)))
        raise AssertionError("the routine did not come to an end")

    async def check_evidence(self, analysis: Analysis) -> int:
        """Return how many quotes were re-read and found to stand; fail on one that does not."""
        assert AGENT.read_line is not None
        checked = 0
        for finding in analysis.outcome.findings:
            assert finding.evidence, finding.title
            for evidence in finding.evidence:
                line = await AGENT.read_line(analysis.ctx, evidence.source, evidence.line)
                assert line is not None, evidence
                assert quote_stands(evidence.quote, line), (evidence, line)
                checked += 1
        _, refused = await check(
            analysis.outcome,
            read=partial(AGENT.read_line, analysis.ctx),
            results=[call.value for call in analysis.calls],
            texts=[analysis.ctx.work.request],
        )
        assert refused == []
        return checked


@pytest.fixture(scope="session")
def database(tmp_path_factory: pytest.TempPathFactory):
    made = Database(f"sqlite:///{tmp_path_factory.mktemp('db') / 'x.db'}")
    yield made
    made.close()


@pytest.fixture(scope="module", autouse=True)
def scans():
    """Let the tests of a module share the scans of files that they all read; logs they write have paths of their own."""
    yield
    LIBRARY.clear()


@pytest.fixture
def desk(tmp_path: Path, database: Database):
    roots = [(tmp_path / "logs").resolve(), DATA]
    roots[0].mkdir()
    settings = Settings(log_roots=roots, data_dir=tmp_path / "desk")
    store = ArtifactStore(settings.artifacts, max_bytes=settings.artifact_max_bytes)
    return Desk(Resources(settings=settings, database=database, artifacts=store), roots)


@pytest.fixture
def logs(desk: Desk) -> Callable[[str, str | bytes], Path]:
    """Write a log under an allowed root."""

    def write(name: str, content: str | bytes) -> Path:
        path = desk.roots[0] / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def data() -> Path:
    if not DATA.is_dir():
        pytest.skip("the shared data folder is missing beside the checkout")
    return DATA
