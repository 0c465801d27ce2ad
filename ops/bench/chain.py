"""A raw Celery chain of as many messages as a run has: what the bench compares the desk with.

submit → advance → recall → work → advance, where the result is stored, → learn, which nobody waits for: counted with
MONITOR on the desk's redis. Each task sends the next and does nothing else. The workers are
`celery -A ops.bench.chain -b URL --result-backend URL worker -Q bench.coordinator`, `bench.agent` and `bench.memory`.
"""

from __future__ import annotations

from typing import Any

from celery import Celery

#: The queue of each hop: each stands for a worker process of the desk.
HOPS = (
    "bench.coordinator",
    "bench.coordinator",
    "bench.memory",
    "bench.agent",
    "bench.coordinator",
    "bench.memory",
)
#: The hop that stores the result, as the second advance stores the report.
RESULT_HOP = 4

app = Celery("bench")
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True)


@app.task(name="bench.hop")
def hop(number: int, run_id: str) -> None:
    """Store the result where it is due, under the run's id as a report is, and send the next hop."""
    if number == RESULT_HOP:
        app.backend.store_result(run_id, {"run_id": run_id}, "SUCCESS")
    if number + 1 < len(HOPS):
        send(app, number + 1, run_id)


def send(sender: Celery, number: int, run_id: str) -> None:
    """Send one hop."""
    options: dict[str, Any] = {"queue": HOPS[number], "ignore_result": True}
    sender.send_task("bench.hop", args=[number, run_id], **options)
