"""The chaos harness: `make chaos`. A real desk, a fake world that counts, a monkey, and a checker that believes nobody.

    CHAOS_RUNS=1000 CHAOS_SEED=7 CHAOS_SECONDS=300 make chaos
    .venv/bin/python -m tests.chaos.run storm cancel --json --keep FOLDER

CHAOS_RUNS     runs of the storm (default 150)
CHAOS_SEED     repeats the same plan, keys and moods of the world (default: a new one, printed)
CHAOS_SECONDS  how long it storms (default: 0.5 s per run, at least 60)
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import platform
import random
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any

import structlog

from kernel.errors import NightdeskError
from tests.chaos import figures
from tests.chaos.checker import Verdict
from tests.chaos.scenarios.budget import budget
from tests.chaos.scenarios.cancel import cancel
from tests.chaos.scenarios.long import long
from tests.chaos.scenarios.play import Size
from tests.chaos.scenarios.recovery import recovery
from tests.chaos.scenarios.rolling import rolling
from tests.chaos.scenarios.storm import storm
from tests.chaos.scenarios.twins import twins
from tests.chaos.stage import FEW_TWINS, TWINS, Stage, staged

#: How often the world misbehaves while it storms.
RATE = 0.15
_RUNS, _SECONDS_PER_RUN, _LEAST_SECONDS = 150, 0.5, 60.0

Scenario = Callable[[Stage, Size], Awaitable[Verdict]]
#: In the order in which they are played, on one desk.
SCENARIOS: dict[str, Scenario] = {
    "long": long,
    "cancel": cancel,
    "twins": twins,
    "recovery": recovery,
    "rolling": rolling,
    "storm": storm,
    "budget": budget,
}
#: Scenarios in which nobody is struck: the long tool of `long` runs beside them.
_PEACEFUL = frozenset({"long", "cancel", "twins"})
#: Scenarios in which the world behaves.
_QUIET = frozenset({"cancel", "recovery", "budget"})


def main(arguments: Sequence[str] | None = None) -> int:
    """Play the scenarios, print the figures, and say by the exit code whether every promise held."""
    options = _options(arguments)
    # the desk's own code speaks here too; standard output is for the figures
    structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.stderr))
    folder = options.keep or Path(tempfile.mkdtemp(prefix="nightdesk-chaos-"))
    least = 0.0 if options.short else _LEAST_SECONDS
    seconds = options.seconds or max(least, options.runs * _SECONDS_PER_RUN)
    size = Size(options.runs, seconds, options.seed, _sayer(quiet=options.json), short=options.short)
    before = os.getloadavg()
    verdicts = asyncio.run(chaos(folder, options.scenarios or list(SCENARIOS), size))
    found = {
        "seed": options.seed,
        "machine": machine(before),
        "evidence": str(folder),
        "scenarios": [verdict.as_json() for verdict in verdicts],
        "last_line": figures.last_line(verdicts),
    }
    (folder / "verdict.json").write_text(json.dumps(found, ensure_ascii=False, indent=1), encoding="utf-8")
    if options.json:
        print(json.dumps(found, ensure_ascii=False, indent=1))
    else:
        print(f"seed {options.seed}, {found['machine']}, evidence in {folder}")
        print(figures.table(verdicts))
        print(figures.last_line(verdicts))
    return 0 if verdicts and all(verdict.good for verdict in verdicts) else 1


async def chaos(folder: Path, names: Sequence[str], size: Size, *, rate: float = RATE) -> list[Verdict]:
    """Play the named scenarios on one desk and return what each came to."""
    folder.mkdir(parents=True, exist_ok=True)
    verdicts = []
    size.say("starting the desk")
    twins = FEW_TWINS if size.short else TWINS
    with staged(folder, seed=size.seed, rate=rate, twins=twins) as stage:
        beside = asyncio.create_task(_played("long", stage, size)) if "long" in names else None
        for name in (name for name in SCENARIOS if name in names and name != "long"):
            if beside is not None and name not in _PEACEFUL:
                await beside
            size.say(f"{name} begins")
            stage.world.tell(rate=0.0 if name in _QUIET else rate)
            verdicts.append(await _played(name, stage, size))
        verdicts += [await beside] if beside is not None else []
        await stage.parts.close()
    return verdicts


async def _played(name: str, stage: Stage, size: Size) -> Verdict:
    """Return what a scenario came to; one that could not be played to its end kept no promise."""
    try:
        return await SCENARIOS[name](stage, size)
    except (NightdeskError, TimeoutError, AssertionError) as error:
        return Verdict(scenario=name, broken=[f"not played to its end: {type(error).__name__}: {error}"])


def machine(before: tuple[float, float, float]) -> dict[str, Any]:
    """Return what a reader of the figures must know."""
    return {
        "cores": os.cpu_count(),
        "load_before": [round(value, 2) for value in before],
        "load_after": [round(value, 2) for value in os.getloadavg()],
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
    }


def _sayer(*, quiet: bool) -> Callable[[str], None]:
    began = time.monotonic()

    def say(line: str) -> None:
        if not quiet:
            print(f"[{time.monotonic() - began:5.0f} s] {line}", file=sys.stderr, flush=True)

    return say


def _options(arguments: Sequence[str] | None) -> argparse.Namespace:
    env = os.environ
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "scenarios", nargs="*", metavar="SCENARIO", help=f"of {', '.join(SCENARIOS)}; default: all"
    )
    parser.add_argument("--runs", type=int, default=int(env.get("CHAOS_RUNS") or _RUNS))
    parser.add_argument("--seed", type=int, default=int(env.get("CHAOS_SEED") or random.randrange(10**6)))
    parser.add_argument("--seconds", type=float, default=float(env.get("CHAOS_SECONDS") or 0))
    parser.add_argument(
        "--keep", type=Path, metavar="FOLDER", help="where the evidence goes; default: a new one"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    parser.add_argument("--short", action="store_true", help="smaller and quicker, as the tests run it")
    options = parser.parse_args(arguments)
    if unknown := set(options.scenarios) - set(SCENARIOS):
        parser.error(f"no such scenario: {', '.join(sorted(unknown))}; there are {', '.join(SCENARIOS)}")
    return options


if __name__ == "__main__":
    sys.exit(main())
