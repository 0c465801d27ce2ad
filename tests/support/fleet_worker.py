"""An agent worker whose messages come back after two seconds and that dies at a fault point a test names.

`celery -A fleet_worker worker` in this folder; the file `strike-<FLEET_NAME>` in the data folder holds the label, and
what must stand in the marks before.
"""

from __future__ import annotations

import json
import os
import signal
import time
from datetime import timedelta

from agents.app import celery_app as app
from kernel import clock, faults
from kernel.settings import settings

app.conf.broker_transport_options = {
    **app.conf.broker_transport_options,
    "visibility_timeout": int(os.environ["FLEET_VISIBILITY"]),
    "unacked_restore_interval": 1,
}

_armed = settings().data / f"strike-{os.environ['FLEET_NAME']}"


def strike(label: str) -> None:
    if not _armed.exists():
        return
    at, after = json.loads(_armed.read_text(encoding="utf-8"))
    if label == at and after in (settings().data / "marks.txt").read_text(encoding="utf-8"):
        _armed.unlink()
        os.kill(os.getpid(), signal.SIGKILL)


faults.arm(strike)

if ahead := float(os.environ.get("FLEET_AHEAD", "0")):  # a machine whose clock is wrong
    _now, _time = clock.now, time.time
    time.time = lambda: _time() + ahead
    clock.now = lambda: _now() + timedelta(seconds=ahead)
