"""A raw Celery chain of as many messages as a run has: what the bench compares the desk with.

submit → advance → work → advance → report; each task sends the next and does nothing else. Start it with
`celery -A ops.bench.chain -b URL --result-backend URL worker -Q bench.coordinator` and `-Q bench.agent`.
"""

from __future__ import annotations

from typing import Any

from celery import Celery

#: The queue of each hop: the agent's hop is on another worker, as the desk's is.
HOPS = ("bench.coordinator", "bench.coordinator", "bench.agent", "bench.coordinator", "bench.coordinator")

app = Celery("bench")
app.conf.update(task_ignore_result=True, broker_connection_retry_on_startup=True)


@app.task(name="bench.hop")
def hop(number: int, run_id: str) -> None:
    """Send the next hop; the last one stores the result under the run's id, as a run's report is stored."""
    if number + 1 < len(HOPS):
        send(app, number + 1, run_id)
    else:
        app.backend.store_result(run_id, {"run_id": run_id}, "SUCCESS")


def send(sender: Celery, number: int, run_id: str) -> None:
    """Send one hop."""
    options: dict[str, Any] = {"queue": HOPS[number], "ignore_result": True}
    sender.send_task("bench.hop", args=[number, run_id], **options)
