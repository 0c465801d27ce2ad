"""The demo's stage: its folder, the webhook sink, the checkout service and the desk; set, and struck again."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ops.demo.checkout import Config
from ops.demo.desk import Desk, DeskError
from ops.demo.restart import Place, Running, command_line, start, stop, wait_until

LAST_GOOD = Config(version="2026.11.1", pool_size=20)
BAD = Config(version="2026.11.2", pool_size=2)
_STOP_SECONDS = 3.0


class Stage:
    """Everything that runs during the demo; all of it lies in `folder` and is started by us."""

    def __init__(
        self, root: Path, folder: Path, say: Callable[[str], None], *, with_model: bool = False
    ) -> None:
        self.folder = folder
        self._with_model = with_model
        self.place = Place(folder / "service")
        self.ready: dict[str, Any] = {}
        self._scripts = root / "ops" / "demo"
        self._say = say
        self.desk = Desk(folder / "desk", {})

    @property
    def messages(self) -> Path:
        """Return the file of the webhook's messages."""
        return self.folder / "webhook.jsonl"

    def log(self, number: int) -> Path:
        """Return the service's log of an incident."""
        return self.place.home / f"checkout-{number}.log"

    def set(self) -> None:
        """Start everything on a fresh folder."""
        self.strike()
        if self.folder.exists():
            shutil.rmtree(self.folder)
        self.place.home.mkdir(parents=True)
        LAST_GOOD.write(self.place.config("last-good"))
        BAD.write(self.place.config("bad"))
        secret = secrets.token_hex(16)
        url = self._start_sink(secret)
        settings = self._settings(url, secret)
        self.desk = Desk(self.folder / "desk", settings, with_model=self._with_model)
        self.ready = self.desk.up()

    def start_service(self, number: int) -> Running:
        """Start the service afresh on the last good configuration, with a log of its own."""
        stop(self.place)
        LAST_GOOD.write(self.place.config("current"))
        return start(self.place, log=self.log(number))

    def strike(self) -> None:
        """Stop what runs, also what an earlier demo left; each is told by its own files, never by name alone."""
        stop(self.place)
        if self.desk.data_dir.exists():
            try:
                self.desk.down()
            except DeskError as error:
                self._say(f"the desk did not stop: {error}")
        self._stop_sink()

    def received(self) -> list[dict[str, Any]]:
        """Return the webhook's messages so far."""
        if not self.messages.exists():
            return []
        return [json.loads(line) for line in self.messages.read_text(encoding="utf-8").splitlines()]

    def _settings(self, url: str, secret: str) -> dict[str, str]:
        return {
            "LEASE_PROFILE": "fast",
            "WEBHOOK_URL": url,
            "WEBHOOK_SECRET": secret,
            "NOTIFY_CHANNELS": json.dumps(["webhook"]),
            "ACTIONS_DIR": str(self._scripts / "actions"),
            "PLAYBOOKS_DIR": str(self._scripts / "playbooks"),
            "LOG_ROOTS": json.dumps([str(self.place.home)]),
        }

    def _start_sink(self, secret: str) -> str:
        secret_file = self.folder / "webhook.secret"
        secret_file.touch(mode=0o600)
        secret_file.write_text(secret, encoding="utf-8")
        argv = [sys.executable, str(self._scripts / "sink.py"), "--file", str(self.messages)]
        argv += ["--secret-file", str(secret_file)]
        with subprocess.Popen(
            argv,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        ) as child:
            assert child.stdout is not None
            said = json.loads(child.stdout.readline() or "null")
            child.returncode = 0  # it runs on; `_stop_sink` ends it
        if said is None:
            raise DeskError("the webhook sink did not start")
        (self.folder / "sink.pid").write_text(str(said["pid"]), encoding="utf-8")
        return f"http://127.0.0.1:{said['port']}/nightdesk"

    def _stop_sink(self) -> None:
        file = self.folder / "sink.pid"
        if not file.exists():
            return
        pid = int(file.read_text(encoding="utf-8"))

        def is_ours() -> bool:
            line = command_line(pid)
            return "sink.py" in line and str(self.messages) in line

        for sign in (signal.SIGTERM, signal.SIGKILL):
            if is_ours():
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, sign)
                wait_until(lambda: not is_ours(), _STOP_SECONDS)
        file.unlink()
