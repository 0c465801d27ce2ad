"""The use case `up`: from a data folder to a running desk whose every part answers."""

from __future__ import annotations

import secrets
import socket
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from coordinator.cli import orphans, readiness, source_files, supervisor_conf
from coordinator.cli.connection import require_redis
from coordinator.cli.layout import Layout, held, read_addresses, write_private
from coordinator.cli.redis_binary import find_redis
from coordinator.cli.stopping import stop, stop_seconds
from coordinator.cli.supervision import Supervisor
from kernel.errors import NightdeskError, Refused
from kernel.redaction import make_redactor
from kernel.settings import DeskAddresses, Settings

_LOGIN_FORBIDDEN = set("\",'\\ \t\n;#")

Say = Callable[[str], None]


@dataclass(frozen=True)
class RunningDesk:
    """A desk that answers."""

    addresses: DeskAddresses
    process: subprocess.Popen[bytes]
    warnings: tuple[str, ...]


def start(settings: Settings, *, say: Say) -> RunningDesk:
    """Start the desk of a data folder and wait until every part of it answers."""
    make_redactor(
        settings
    )  # a pattern of the operator's that is none is said here, and not in each worker's log
    source_files.check(settings)
    layout = Layout(settings.data)
    layout.make()
    with held(layout):
        _refuse_a_second(layout)
        ended = orphans.end(layout, seconds=stop_seconds(settings))
        if ended:
            say(f"ended {ended} processes that a crashed supervisor had left behind")
        if "redis_url" in settings.model_fields_set:
            require_redis(settings)
        addresses = _choose_addresses(settings, layout)
        migrate_database(settings)
        _write_files(settings, layout, addresses)
        process = _start_supervisor(settings, layout, addresses)
        try:
            addresses = addresses.model_copy(update={"pid": process.pid})
            write_private(layout.addresses, addresses.model_dump_json(indent=2))
            warnings = readiness.wait(settings, addresses, process, say=say)
        except (NightdeskError, KeyboardInterrupt):
            stop(layout, seconds=stop_seconds(settings), say=say)
            raise
    return RunningDesk(addresses, process, tuple(warnings))


def worker_environment(settings: Settings, addresses: DeskAddresses) -> dict[str, str]:
    """Return what every process of the desk is told; paths are absolute, for they run in the data folder.

    They run there, and not where `up` was called, because Celery imports from the working directory: a
    folder named `agents` in somebody's project would take the place of ours.
    """
    told = {
        "NIGHTDESK_DATA_DIR": str(settings.data),
        "NIGHTDESK_REDIS_URL": addresses.broker_url,
        "NIGHTDESK_LOG_ROOTS": supervisor_conf.as_json([Path(root) for root in addresses.log_roots]),
        # one thread each for the small linear algebra of the embedder: the machine's cores are shared
        "OMP_NUM_THREADS": "1",
    }
    for name in type(settings).model_fields:
        value = getattr(settings, name)
        variable = f"NIGHTDESK_{name.upper()}"
        if isinstance(value, Path):
            told.setdefault(variable, str(value.expanduser().absolute()))
        elif isinstance(value, list) and value and all(isinstance(part, Path) for part in value):
            told.setdefault(
                variable, supervisor_conf.as_json([part.expanduser().absolute() for part in value])
            )
    return told


def template_values(settings: Settings, layout: Layout) -> dict[str, str]:
    """Return what the names in ops/supervisord.conf stand for, as far as every program needs them."""
    return {
        "data": str(layout.data),
        "python": sys.executable,
        "ops": str(settings.ops_dir.expanduser().absolute()),
        "stop_seconds": str(int(stop_seconds(settings))),
    }


def _refuse_a_second(layout: Layout) -> None:
    pid = Supervisor(layout.socket).pid()
    if pid is not None:
        raise Refused(
            f"a desk is running already in {str(layout.data)!r}",
            why=f"its supervisor answers as process {pid}",
            next_step="Use it (`nightdesk status`), stop it (`nightdesk down`), or choose another --data-dir.",
        )


def _choose_addresses(settings: Settings, layout: Layout) -> DeskAddresses:
    before = read_addresses(layout)
    if "redis_url" in settings.model_fields_set:
        url = settings.redis_url
    else:
        # the port of last time, where it is free: clients that know the address keep working
        url = f"redis://127.0.0.1:{_port(_port_of(before.broker_url if before else ''))}/0"
    if settings.flower_port and not _free(settings.flower_port):
        raise Refused(
            f"port {settings.flower_port} is taken",
            why="NIGHTDESK_FLOWER_PORT asks for it and another program listens there",
            next_step="Stop that program, or set NIGHTDESK_FLOWER_PORT=0 for any free port.",
        )
    flower = settings.flower_port or _port(_port_of(before.flower_url if before else ""))
    return DeskAddresses(
        broker_url=url,
        result_url=url,
        flower_url=f"http://127.0.0.1:{flower}",
        supervisor_socket=str(layout.socket),
        log_roots=[str(root) for root in settings.roots],
    )


def migrate_database(settings: Settings) -> None:
    """Bring the truth to the shape of this version."""
    from kernel.database import Database
    from kernel.schema import migrate

    database = Database(settings.database)
    try:
        migrate(database)
    finally:
        database.close()


def _write_files(settings: Settings, layout: Layout, addresses: DeskAddresses) -> None:
    embedded = "redis_url" not in settings.model_fields_set
    if embedded:
        text = (settings.ops_dir / "redis.conf").read_text(encoding="utf-8")
        folder = str(layout.redis).replace("\\", "\\\\").replace('"', '\\"')
        own = f'port {_port_of(addresses.broker_url)}\ndir "{folder}"\n'
        write_private(layout.redis_conf, f"{text}\n# of this desk\n{own}")
    values = template_values(settings, layout) | {
        "socket": str(layout.socket),
        "redis_server": str(find_redis()) if embedded else "",
        "flower_port": str(_port_of(addresses.flower_url)),
        "flower_login": f"{settings.flower_user}:{flower_password(settings, layout)}",
    }
    if set(values["flower_login"]) & _LOGIN_FORBIDDEN:
        raise Refused(
            "Flower's user or password cannot be used",
            why="it holds a quote, a comma, a blank, a semicolon, a hash or a backslash",
            next_step="Choose others in NIGHTDESK_FLOWER_USER and NIGHTDESK_FLOWER_PASSWORD.",
        )
    supervisor_conf.write_conf(
        settings.ops_dir / "supervisord.conf",
        layout.supervisor_conf,
        values,
        threads=settings.worker_concurrency,
        without=frozenset() if embedded else frozenset({"redis"}),
    )
    for agent_folder in settings.agent_folders:
        name = agent_folder.expanduser().resolve().name
        supervisor_conf.add_worker(
            layout.supervisor_conf,
            name,
            agent=name,
            values=values,
            threads=settings.worker_concurrency,
            environment={},  # the whole desk is told of these folders
        )


def flower_password(settings: Settings, layout: Layout) -> str:
    """Return Flower's password: the configured one, or the one made once for this data folder."""
    if settings.flower_password is not None:
        return settings.flower_password.get_secret_value()
    if not layout.flower_password.exists():
        write_private(layout.flower_password, secrets.token_urlsafe(18))
    return layout.flower_password.read_text(encoding="utf-8").strip()


def _start_supervisor(
    settings: Settings, layout: Layout, addresses: DeskAddresses
) -> subprocess.Popen[bytes]:
    argv = [
        *supervisor_conf.environment_argv(worker_environment(settings, addresses)),
        *(sys.executable, "-P", "-m", "supervisor.supervisord", "-n", "-c", str(layout.supervisor_conf)),
    ]
    with (layout.logs / "supervisord.out").open("wb") as out:
        # a session of its own: Ctrl-C at the terminal must not reach it before we have drained the workers
        return subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, start_new_session=True
        )


def _port_of(url: str) -> int:
    return int(url.rpartition(":")[2].partition("/")[0]) if url else 0


def _port(wanted: int) -> int:
    if wanted and _free(wanted):
        return wanted
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
