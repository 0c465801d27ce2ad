"""The stage of a chaos run: the fake world, the scripted model and a real desk with two of each worker, in one folder."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Iterator, Mapping, Sequence
from configparser import RawConfigParser
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coordinator.app import Parts, make_parts
from coordinator.cli.layout import Layout
from coordinator.cli.supervision import ProcessFacts, Supervisor
from kernel.settings import Settings
from tests.chaos.world import WorldProcess
from tests.support.desk import Desk
from tests.support.model_server import ModelServer

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
#: Programs of ops/supervisord.conf of which a second one runs, with the same command line but for its name.
TWINS = ("coordinator", "maintenance", "beat", "action_execution", "notification", "log_analysis")
#: The same for a short chaos: each process costs a busy machine a second of its start.
FEW_TWINS = ("coordinator", "maintenance", "beat", "action_execution")
_SINGLE = ("notification", "log_analysis", "memory", "worldly", "worldly-2")
_LOG = """2026-11-30T00:00:0{n}Z INFO  checkout request {n} served
2026-11-30T00:00:0{n}Z ERROR checkout could not take a connection: pool exhausted (size 10)
"""
#: The namespace whose runs may make only so many model calls together.
CAPPED, CAP = "capped", 50
#: The model makes one call of a turn, then answers; it streams slowly until somebody leaves, or calls on and on.
SCRIPT: list[dict[str, Any]] = [
    {"anywhere": "chaos slow", "text": "word " * 600, "delay": 0.2, "times": 0},
    {
        "anywhere": "chaos hungry",
        "when": "Turns left",
        "capture": {"left": r"Turns left: (\d)"},
        "calls": [{"tool": "read", "arguments": {"what": "at-{{left}}"}}],
        "delay": 0.02,
        "times": 0,
    },
    {
        "system": "worldly agent",
        "when": "Turns left: 8",
        "calls": [{"tool": "keyed", "arguments": {"what": "from-a-model"}}],
        "delay": 0.02,
        "times": 0,
    },
    {"text": "The model is done.", "delay": 0.02, "times": 0},
]


@dataclass
class Stage:
    """A running desk and what surrounds it."""

    folder: Path
    desk: Desk
    world: WorldProcess
    model: ModelServer
    settings: Settings
    parts: Parts
    supervisor: Supervisor
    #: Everything that may be killed: all that work, but the supervisor, Flower and the world.
    workers: tuple[str, ...]
    #: The door to the supervisor is for one thread at a time.
    lock: threading.Lock = field(default_factory=threading.Lock)

    def processes(self) -> dict[str, ProcessFacts]:
        """Return what supervisor says about each process."""
        with self.lock:
            return {facts.name: facts for facts in self.supervisor.processes()}

    @property
    def logs(self) -> Path:
        """Return the log that the runs may read."""
        return self.folder / "app" / "checkout.log"


@contextmanager
def staged(
    folder: Path,
    *,
    seed: int,
    rate: float,
    settings: Mapping[str, str] | None = None,
    script: Sequence[Any] = SCRIPT,
    twins: Sequence[str] = TWINS,
) -> Iterator[Stage]:
    """Run everything while the block runs; the folder is the evidence."""
    folder.mkdir(parents=True, exist_ok=True)
    with WorldProcess(folder / "world.jsonl", seed=seed, rate=rate) as world, ModelServer(script) as model:
        desk = Desk(
            folder / "desk", environment(folder, world.url, model.url, twins) | dict(settings or {}), folder
        )
        try:
            facts = desk.up()
            _second_worldly(desk)
            ours = _settings(desk, facts["broker_url"])
            parts = make_parts(ours)
            supervisor = Supervisor(Layout(ours.data).socket)
            yield Stage(folder, desk, world, model, ours, parts, supervisor, _workers(twins))
        finally:
            desk.down()
            shutil.copy(model.record, folder / "model.jsonl")


def _workers(twins: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys([*twins, *(f"{name}-2" for name in twins), *_SINGLE]))


def environment(folder: Path, world_url: str, model_url: str, twins: Sequence[str]) -> dict[str, str]:
    """Write what the desk needs into the folder, and return what its processes are told."""
    app = folder / "app"
    app.mkdir(exist_ok=True)
    (app / "checkout.log").write_text("".join(_LOG.format(n=n % 10) for n in range(40)), encoding="utf-8")
    shutil.copytree(HERE / "actions", folder / "actions", dirs_exist_ok=True)
    (folder / "actions" / "inventory.yaml").write_text(
        f'worlds:\n  main: {{url: "{world_url}"}}\n', encoding="utf-8"
    )
    shutil.copytree(
        ROOT / "ops", folder / "ops", dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__")
    )
    _add_twins(folder / "ops" / "supervisord.conf", twins)
    return {
        "NIGHTDESK_OPS_DIR": str(folder / "ops"),
        "NIGHTDESK_ACTIONS_DIR": str(folder / "actions"),
        "NIGHTDESK_PLAYBOOKS_DIR": str(HERE / "playbooks"),
        "NIGHTDESK_AGENT_FOLDERS": json.dumps([str(HERE / "agents" / "worldly")]),
        "NIGHTDESK_LOG_ROOTS": json.dumps([str(app)]),
        "NIGHTDESK_WEBHOOK_URL": f"{world_url}/hook",
        "NIGHTDESK_MODEL_BASE_URL": model_url,
        "NIGHTDESK_MODEL_NAME": "scripted",
        "NIGHTDESK_NAMESPACE_BUDGETS": json.dumps({CAPPED: {"model_calls": CAP}}),
    }


def _add_twins(path: Path, twins: Sequence[str]) -> None:
    """Add a second process of each kind to the supervisor's template."""
    conf = RawConfigParser(comment_prefixes=(";",), interpolation=None)
    conf.read_string(path.read_text(encoding="utf-8"))
    for name in twins:
        told = dict(conf.items(f"program:{name}"))
        conf[f"program:{name}-2"] = {
            option: value.replace(f"-n {name}@", f"-n {name}-2@").replace(f"/{name}.log", f"/{name}-2.log")
            for option, value in told.items()
        }
    with path.open("w", encoding="utf-8") as out:
        conf.write(out)


def _second_worldly(desk: Desk) -> None:
    added = desk.run("worker", "worldly", "--json")
    assert added.code == 0, f"{added.out}\n{added.err}"


def _settings(desk: Desk, broker_url: str) -> Settings:
    """Return the desk's settings for this process, without touching its environment."""
    told = {
        name.removeprefix("NIGHTDESK_").lower(): value
        for name, value in desk.variables().items()
        if name.startswith("NIGHTDESK_")
    }
    plain: Any = {name: json.loads(value) if value[:1] in "[{" else value for name, value in told.items()}
    return Settings(**{**plain, "redis_url": broker_url})
