"""What a stop says: whom it waits for, and who will not come back."""

from __future__ import annotations

from pathlib import Path

import pytest

from coordinator.cli import stopping, supervisor_conf
from coordinator.cli.stopping import drain, not_coming_back, say_who_stays_away, waiting_for
from coordinator.cli.supervision import ProcessFacts, Supervisor
from kernel.settings import Settings


class Slow(Supervisor):
    """A supervisor whose process ends after some looks."""

    def __init__(self, looks: int) -> None:
        self._looks = looks

    def stop(self, name: str) -> None:
        self.stopped = name

    def processes(self) -> list[ProcessFacts]:
        self._looks -= 1
        state = "STOPPING" if self._looks > 0 else "STOPPED"
        return [ProcessFacts("log_analysis", state, 1, 1.0, "", "")]


def test_who_is_waited_for() -> None:
    assert waiting_for(["log_analysis"]) == "waiting for log_analysis to finish or hand back what it holds"
    assert waiting_for(["a", "b"]) == "waiting for a, b to finish or hand back what they hold"
    assert waiting_for(["redis"]) == "waiting for redis to end"


def test_only_a_slow_stop_says_what_it_waits_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopping, "_PATIENCE_SECONDS", 0.15)
    said: list[str] = []
    drain(Slow(1), ["log_analysis"], seconds=5, say=said.append)
    assert said == []
    drain(Slow(9), ["log_analysis"], seconds=5, say=said.append)
    assert said == [waiting_for(["log_analysis"])]


def test_added_workers_do_not_come_back_but_configured_agents_do(tmp_path: Path) -> None:
    settings = Settings(data_dir=tmp_path, agent_folders=[tmp_path / "mine"])
    assert not_coming_back(settings) == []
    values = {"data": str(tmp_path), "python": "python", "ops": "ops", "stop_seconds": "5", "socket": "s"}
    values |= {"redis_server": "r", "flower_port": "1", "flower_login": "a:b"}
    conf = tmp_path / "supervisord.conf"
    supervisor_conf.write_conf(settings.ops_dir / "supervisord.conf", conf, values, threads=1)
    for name, agent in (("log_analysis-2", "log_analysis"), ("mine", "mine")):
        supervisor_conf.add_worker(conf, name, agent=agent, values=values, threads=1, environment={})
    assert not_coming_back(settings) == ["log_analysis-2"]
    said: list[str] = []
    say_who_stays_away(not_coming_back(settings), said.append)
    say_who_stays_away([], said.append)
    assert len(said) == 1
    assert said[0].startswith("log_analysis-2 will not come back")
