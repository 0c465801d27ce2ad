from __future__ import annotations

from pathlib import Path

from kernel.broker import make_celery
from kernel.control import Control, connect
from kernel.process import Process
from kernel.settings import Settings
from memory_service.opening import Opened
from memory_service.tasks import register


def _unopened() -> Opened:
    raise AssertionError("registering opens nothing")


def test_what_the_clock_rings_all_day_does_not_crowd_flower(tmp_path: Path) -> None:
    settings = Settings(data=tmp_path)
    app = make_celery(settings, "memory")
    register(app, Process("memory"), Control(connect(settings.redis_url)), _unopened)
    rung = {
        entry["task"] for entry in app.conf.beat_schedule.values() if isinstance(entry["schedule"], float)
    }
    mine = {name for name in rung if name.startswith("memory.")}
    assert mine == {"memory.relay", "memory.reinforce", "memory.reconcile"}
    assert [name for name in mine if app.tasks[name].send_events] == []
    assert app.tasks["memory.recall"].send_events
