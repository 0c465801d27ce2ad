"""The base of all Celery tasks: their arguments never reach Flower, their results are ours to store."""

from __future__ import annotations

from typing import Any

from celery import Task
from celery.worker.request import Request as WorkerRequest


class _NamelessRequest(WorkerRequest):
    """A request whose arguments are not shown: a client's text may hold a secret, and Flower shows it.

    Nor does Celery store its result, whatever the client asks for: this task's None would end the wait for the
    report, and stay in its place.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._ignore_result = True
        self.request_dict["ignore_result"] = True

    @property
    def argsrepr(self) -> str:
        headers: dict[str, Any] = self.request_dict
        return str(headers.get("shown", "")) or f"<{self.id[:13]}>"

    @property
    def kwargsrepr(self) -> str:
        return "{}"


class QuietTask(Task):  # type: ignore[type-arg] # generic in the stubs only
    """The base of all tasks: its arguments never reach Flower, its results are ours to store."""

    Request = _NamelessRequest  # type: ignore[assignment] # the stubs know only the class's name
    ignore_result = True
    resultrepr_maxsize = 120
