"""Starts, stops, re-deploys and probes the demo's service; the action `restart_service` runs this."""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SERVICES = ("checkout",)
CONFIGS = ("last-good", "current")
SCRIPT = Path(__file__).resolve().with_name("checkout.py")
#: Where the demo keeps its service: `.nightdesk/demo/service` in the checkout this file lies in.
HOME = Path(__file__).resolve().parents[2] / ".nightdesk" / "demo" / "service"
#: An orderly stop takes milliseconds; after this the old process is killed.
STOP_SECONDS = 3.0
_LOOK_EVERY_SECONDS = 0.03


class NotStartedError(Exception):
    """The service did not come up, or is not what its pid file says."""


@dataclass(frozen=True)
class Running:
    """What the pid file says of the running service."""

    pid: int
    port: int
    log: str


@dataclass(frozen=True)
class Place:
    """The files of the service."""

    home: Path

    @property
    def pid_file(self) -> Path:
        """Return where the running process is written down."""
        return self.home / "checkout.pid"

    def config(self, name: str) -> Path:
        """Return the file of a named configuration."""
        return self.home / f"{name}.json"

    def running(self) -> Running | None:
        """Return the service that runs, or None where the pid is gone or belongs to something else."""
        try:
            noted = Running(**json.loads(self.pid_file.read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            return None
        return noted if is_ours(noted.pid, self) else None


def command_line(pid: int) -> str:
    """Return the arguments of a process joined by spaces; empty where it is gone or a zombie."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        if Path("/proc/self").exists():
            return ""
    shown = subprocess.run(["ps", "-p", str(pid), "-o", "args="], capture_output=True, text=True, check=False)
    return shown.stdout


def is_ours(pid: int, place: Place) -> bool:
    """Tell whether the pid is this place's service: pid files outlive processes, and pids are used again."""
    line = command_line(pid)
    return SCRIPT.name in line and str(place.config("current")) in line


def wait_until(state: Callable[[], bool], seconds: float) -> bool:
    """Look at a state until it holds; False where it does not within the time."""
    deadline, pause = time.monotonic() + seconds, threading.Event()
    while not state():
        if time.monotonic() > deadline:
            return False
        pause.wait(_LOOK_EVERY_SECONDS)
    return True


def stop(place: Place) -> bool:
    """Stop the service if it runs; returns whether it did."""
    running = place.running()
    if running is None:
        return False
    for sign in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):
            os.kill(running.pid, sign)
        if wait_until(lambda: not is_ours(running.pid, place), STOP_SECONDS):
            break
    place.pid_file.unlink(missing_ok=True)
    return True


def start(place: Place, *, log: Path, port: int = 0) -> Running:
    """Start the service on its current configuration and return when its port answers."""
    argv = [sys.executable, str(SCRIPT), "--config", str(place.config("current"))]
    argv += ["--log", str(log), "--port", str(port), "--pid-file", str(place.pid_file)]
    # A session of its own: the service outlives the action that restarts it
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    ) as child:
        assert child.stdout is not None
        line = child.stdout.readline()
        if not line:
            raise NotStartedError(f"checkout ended with code {child.wait()} before it was ready; see {log}")
        child.returncode = 0  # it runs on without us: leave without waiting
    return Running(**json.loads(line))


def deploy(place: Place, config: Path) -> None:
    """Put a configuration in place and have the running service take it up (SIGHUP)."""
    running = place.running()
    if running is None:
        raise NotStartedError("checkout does not run")
    place.config("current").write_bytes(config.read_bytes())
    os.kill(running.pid, signal.SIGHUP)


def restart(place: Place, config: str) -> Running:
    """Stop the old process, put the configuration in place, start the new one on the same port and log."""
    old = place.running()
    if old is None:
        raise NotStartedError(f"no checkout service runs according to {place.pid_file}")
    chosen = place.config(config).read_bytes()
    stop(place)
    place.config("current").write_bytes(chosen)
    return start(place, log=Path(old.log), port=old.port)


def ask(port: int, path: str) -> tuple[int, dict[str, object]]:
    """Ask the service; status 0 where nobody answers."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=2)
    try:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, json.loads(answer.read())
    except (OSError, http.client.HTTPException, ValueError):
        return 0, {}
    finally:
        connection.close()


def is_healthy(place: Place) -> bool:
    """Tell whether /healthz says ok now."""
    running = place.running()
    return running is not None and ask(running.port, "/healthz")[0] == 200  # noqa: PLR2004 HTTP's OK


def runs_config(place: Place, config: str) -> bool:
    """Tell whether the running service has taken up the named configuration."""
    running = place.running()
    if running is None:
        return False
    said = ask(running.port, "/version")[1]
    wanted = json.loads(place.config(config).read_text(encoding="utf-8"))
    return all(said.get(key) == value for key, value in wanted.items())


def look(place: Place, service: str, config: str, check: str) -> int:
    """Print what the check found and return 0 for yes, 1 for no, 2 where nothing tells."""
    if check == "config" and config == "current":
        print(f"{service} runs the current configuration whether or not it was restarted")
        return 2
    if check == "config":
        answer = runs_config(place, config)
        print(f"{service} {'runs' if answer else 'does not run'} configuration {config}")
    else:
        answer = is_healthy(place)
        print(f"/healthz of {service} is {'ok' if answer else 'not ok'}")
    return 0 if answer else 1


def main() -> int:
    """Restart the service, or with --check only look: exit code 0 yes, 1 no, 2 cannot tell."""
    parser = argparse.ArgumentParser(description="restart or check the demo's service")
    parser.add_argument("--service", choices=SERVICES, required=True)
    parser.add_argument("--config", choices=CONFIGS, default="current")
    parser.add_argument("--check", choices=["config", "healthy"])
    parser.add_argument("--home", type=Path, default=HOME)
    options = parser.parse_args()
    place = Place(options.home)
    try:
        if options.check:
            return look(place, options.service, options.config, options.check)
        running = restart(place, options.config)
    except (NotStartedError, OSError) as error:
        print(f"{options.service}: {error}", file=sys.stderr)
        return 1
    print(f"{options.service} restarted with {options.config}: pid {running.pid}, port {running.port}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
