"""Processes that ended by themselves are counted from supervisor's log, and `status` says them."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from coordinator.cli.restarts import Restarts, restarts, show_restarts

AT = "2026-11-30 05:49:59,019"
BEGUN = f"{AT} INFO supervisord started with pid 3275\n"


def spawned(name: str) -> str:
    return f"{AT} INFO spawned: '{name}' with pid 3276\n"


def exited(name: str, how: str = "terminated by SIGKILL; not expected") -> str:
    return f"{AT} WARN exited: {name} ({how})\n"


def test_only_what_ended_by_itself_since_the_desk_began_is_counted(tmp_path: Path) -> None:
    log = tmp_path / "supervisord.log"
    assert restarts(log) == {}
    before = BEGUN + spawned("redis") + exited("redis") + spawned("redis")
    added = (
        spawned("late-2")
        + exited("late-2")
        + spawned("late-2")
        + f"{AT} INFO stopped: late-2 (exit status 0)\n"
    )
    mine = "".join(
        [
            spawned("redis"),
            spawned("beat"),
            exited("beat", "exit status 1; not expected"),
            spawned("beat"),
            exited("beat"),
            spawned("beat"),
            added,
            spawned("late-2"),
        ]
    )
    log.write_text(before + BEGUN + mine)
    assert restarts(log) == {"beat": Restarts(2, "terminated by SIGKILL")}


def test_a_restart_is_said_in_words() -> None:
    console = Console(width=60, highlight=False)
    rows = [
        {"name": "beat", "restarts": 1, "last_end": "terminated by SIGKILL", "log": "/d/beat.log"},
        {"name": "redis", "restarts": 0, "last_end": "", "log": "/d/redis.log"},
        {"name": "memory", "restarts": 2, "last_end": "", "log": "/d/memory.log"},
    ]
    with console.capture() as capture:
        show_restarts(rows, console)
    assert capture.get().splitlines() == [
        "restarted once: beat, which ended by itself (terminated by SIGKILL); log /d/beat.log",
        "restarted 2 times: memory, which ended by itself; log /d/memory.log",
    ]
