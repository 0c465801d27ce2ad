"""The Celery app of processes that run none of our tasks, beat and Flower: half the memory and start-up of a worker."""

from __future__ import annotations

from kernel.broker import make_celery
from kernel.process import Process, install
from kernel.settings import settings

app = make_celery(settings(), "bystander")
install(app, settings(), Process("bystander"))
