"""docker-compose.yml: what an operator may rely on, held by reading it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[3]
COMPOSE = ROOT / "docker-compose.yml"
ONCE = {"migrate"}
WORKERS = {
    "coordinator": "coordinator",
    "log-analysis": "agents.log_analysis",
    "action-execution": "agents.action_execution",
    "notification": "agents.notification",
    "memory": "memory",
    "maintenance": "maintenance",
}


@pytest.fixture(scope="module")
def services() -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = yaml.safe_load(COMPOSE.read_text())["services"]
    return loaded


def test_it_has_one_service_per_queue_and_the_stores(services: dict[str, Any]) -> None:
    assert set(services) == {*WORKERS, "redis", "postgres", "qdrant", "migrate", "beat", "flower"}
    for name, queue in WORKERS.items():
        command = services[name]["command"]
        assert command[command.index("-Q") + 1] == queue
        assert {"--without-gossip", "--without-mingle", "-E"} <= set(command)
        assert command[command.index("--pool") + 1] == "threads"


def test_no_image_floats(services: dict[str, Any]) -> None:
    for name, service in services.items():
        tag = service["image"].rpartition(":")[2]
        assert ":" in service["image"], name
        assert any(c.isdigit() for c in tag), name
        assert tag != "latest", name


def test_every_agent_can_be_scaled(services: dict[str, Any]) -> None:
    for name in WORKERS:
        assert "container_name" not in services[name]
        assert "ports" not in services[name]


def test_what_dies_comes_back_and_what_runs_is_looked_after(services: dict[str, Any]) -> None:
    for name, service in services.items():
        limits = service["deploy"]["resources"]["limits"]
        assert limits["cpus"], name
        assert limits["memory"], name
        assert service["stop_grace_period"], name
        if name in ONCE:
            assert service["restart"] == "no"
            continue
        assert service["restart"] == "unless-stopped", name
        assert service["healthcheck"]["test"], name


def test_the_grace_covers_the_drain(services: dict[str, Any]) -> None:
    from kernel.settings import Settings

    for name in WORKERS:
        assert int(services[name]["stop_grace_period"].removesuffix("s")) > Settings().drain_seconds + 10


def test_redis_keeps_what_waits(services: dict[str, Any]) -> None:
    assert "./ops/redis.conf:/etc/redis.conf:ro" in services["redis"]["volumes"]
    conf = (ROOT / "ops/redis.conf").read_text().splitlines()
    assert "appendonly yes" in conf
    assert "appendfsync everysec" in conf
    assert "maxmemory-policy noeviction" in conf


def test_flower_is_behind_a_password_read_only_and_on_loopback(services: dict[str, Any]) -> None:
    flower = services["flower"]
    assert flower["environment"]["FLOWER_BASIC_AUTH"].startswith("${NIGHTDESK_FLOWER_USER")
    assert "--read_only=true" in flower["command"]
    assert all(port.startswith("127.0.0.1:") for port in flower["ports"])
    assert all("ports" not in service for name, service in services.items() if name != "flower")


def test_secrets_come_from_the_environment() -> None:
    text = COMPOSE.read_text()
    for name in ("REDIS_PASSWORD", "POSTGRES_PASSWORD", "NIGHTDESK_FLOWER_PASSWORD"):
        assert f"${{{name}:?" in text  # refuses to start without it


def test_services_wait_for_the_schema(services: dict[str, Any]) -> None:
    for name in (*WORKERS, "beat", "flower"):
        needed = services[name]["depends_on"]
        assert needed["migrate"]["condition"] == "service_completed_successfully"
        assert needed["redis"]["condition"] == "service_healthy"
    assert services["memory"]["depends_on"]["qdrant"]["condition"] == "service_healthy"


def test_nothing_runs_as_root_or_from_a_floating_base() -> None:
    lines = (ROOT / "ops/Dockerfile").read_text().splitlines()
    bases = [line.split()[1] for line in lines if line.startswith("FROM ")]
    assert bases
    assert all(base.startswith("python:3.11.") and "slim" in base for base in bases)
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users[-1] not in {"root", "0"}
    installs = [line for line in lines if "pip install" in line]
    assert installs
    assert all("--require-hashes" in line or "--no-index" in line for line in installs)


def test_every_file_that_the_image_copies_exists() -> None:
    for line in (ROOT / "ops/Dockerfile").read_text().splitlines():
        if line.startswith("COPY ") and "--from" not in line:
            for source in line.split()[1:-1]:
                assert (ROOT / source).exists(), source


def test_the_compose_client_accepts_it() -> None:
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode
    ):
        pytest.skip("no docker compose client on this machine")
    environment = {
        "PATH": str(Path(docker).parent),
        "REDIS_PASSWORD": "a",
        "POSTGRES_PASSWORD": "b",
        "NIGHTDESK_FLOWER_PASSWORD": "c",
    }
    done = subprocess.run(
        [docker, "compose", "-f", str(COMPOSE), "config", "-q"],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
