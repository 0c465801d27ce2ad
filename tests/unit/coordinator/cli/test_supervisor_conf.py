"""The generated configuration, read by supervisor's own parser: any path works, or is refused in words."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest
from supervisor.options import ServerOptions

from coordinator.cli import supervisor_conf
from kernel.errors import Fatal

TEMPLATE = Path(__file__).parents[4] / "ops/supervisord.conf"
AWKWARD = "a b%20c 'q' \"d\" ünï 数据 %(x)s $HOME"


def values(folder: Path) -> dict[str, str]:
    return {
        "data": str(folder),
        "python": "/opt/my python/bin/python%3",
        "ops": str(folder / "ops"),
        "stop_seconds": "30",
        "socket": str(folder / "supervisor.sock"),
        "redis_server": "/opt/my redis/redis-server",
        "flower_port": "5555",
        "flower_login": "nightdesk:secret%1",
    }


def parse(conf: Path) -> dict[str, object]:
    options = ServerOptions()
    options.realize(["-c", str(conf)])
    return {group.name: group.process_configs[0] for group in options.process_group_configs}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / AWKWARD
    (made / "logs").mkdir(parents=True)
    return made


def write(folder: Path, **changes: object) -> Path:
    conf = folder / "supervisord.conf"
    given: dict[str, object] = {"threads": 4, "without": frozenset()} | changes
    supervisor_conf.write_conf(TEMPLATE, conf, values(folder), **given)  # type: ignore[arg-type] # given by name
    return conf


def test_supervisor_reads_awkward_paths_as_they_are(folder: Path) -> None:
    parsed = parse(write(folder))
    assert set(parsed) == {
        *("redis", "coordinator", "log_analysis", "action_execution", "notification"),
        *("memory", "maintenance", "beat", "flower"),
    }
    redis, coordinator, flower = (parsed[name] for name in ("redis", "coordinator", "flower"))
    assert shlex.split(redis.command) == ["/opt/my redis/redis-server", f"{folder}/redis/redis.conf"]  # type: ignore[attr-defined] # supervisor is untyped
    argv = shlex.split(coordinator.command)  # type: ignore[attr-defined] # supervisor is untyped
    assert argv[:4] == ["/opt/my python/bin/python%3", "-P", "-m", "kernel.program"]
    assert argv[argv.index("-n") + 1] == "coordinator@%h"
    assert coordinator.stdout_logfile == f"{folder}/logs/coordinator.log"  # type: ignore[attr-defined] # supervisor is untyped
    assert coordinator.directory == str(folder)  # type: ignore[attr-defined] # supervisor is untyped
    assert flower.environment["FLOWER_BASIC_AUTH"] == "nightdesk:secret%1"  # type: ignore[attr-defined] # supervisor is untyped


def test_every_worker_restarts_drains_and_reports_to_flower(folder: Path) -> None:
    conf = write(folder)
    parsed = parse(conf)
    workers = [program for program in supervisor_conf.programs(conf) if program.queue]
    assert len({program.node for program in workers}) == len(workers) == 6
    for program in workers:
        config = parsed[program.name]
        assert config.autorestart is not False, program  # type: ignore[attr-defined] # supervisor is untyped
        assert config.stopsignal == 15, program  # type: ignore[attr-defined] # supervisor is untyped
        assert config.stopwaitsecs == 30, program  # type: ignore[attr-defined] # supervisor is untyped
        assert config.stopasgroup is False, program  # type: ignore[attr-defined] # supervisor is untyped
        assert config.killasgroup is True, program  # type: ignore[attr-defined] # supervisor is untyped
        assert {"--without-gossip", "--without-mingle", "-E", "threads"} <= set(program.argv)
        assert program.argv[program.argv.index("-c") + 1] == "4"


def test_an_external_redis_is_not_started(folder: Path) -> None:
    assert "redis" not in parse(write(folder, without=frozenset({"redis"})))


def test_a_worker_is_added_and_taken_away(folder: Path) -> None:
    conf = write(folder)
    supervisor_conf.add_worker(
        conf,
        "log_analysis-2",
        agent="log_analysis",
        values=values(folder),
        threads=3,
        environment={"NIGHTDESK_AGENT_FOLDERS": "[\"/a 'b' %d\"]"},
    )
    added = parse(conf)["log_analysis-2"]
    argv = shlex.split(added.command)  # type: ignore[attr-defined] # supervisor is untyped
    assert argv[:2] == ["/usr/bin/env", "NIGHTDESK_AGENT_FOLDERS=[\"/a 'b' %d\"]"]
    assert argv[argv.index("-Q") + 1] == "agents.log_analysis"
    assert argv[argv.index("-n") + 1] == "log_analysis-2@%h"
    assert added.stopwaitsecs == 30  # type: ignore[attr-defined] # supervisor is untyped
    supervisor_conf.remove_program(conf, "log_analysis-2")
    assert "log_analysis-2" not in parse(conf)


def test_only_the_owner_reads_it_for_it_holds_a_password(folder: Path) -> None:
    assert write(folder).stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("name", ["a ;b", "a #b", "a\nb"])
def test_what_would_end_a_value_is_refused(tmp_path: Path, name: str) -> None:
    made = tmp_path / name
    (made / "logs").mkdir(parents=True)
    with pytest.raises(Fatal) as refusal:
        write(made)
    assert refusal.value.next_step


def test_a_missing_template_says_where_to_look(tmp_path: Path) -> None:
    with pytest.raises(Fatal, match="cannot be read") as missing:
        supervisor_conf.write_conf(tmp_path / "none.conf", tmp_path / "out.conf", {}, threads=1)
    assert "NIGHTDESK_OPS_DIR" in missing.value.next_step
