"""Lanes of the tests side by side: two run whole desks and services, the others fill what those leave idle.

A test of a desk waits half of its time. A third of them would make the others late, so the third lane takes only
tests that start nothing or little, from the end of the order, and gives way to the other two.
"""

from __future__ import annotations

import os

from xdist.scheduler import LoadFileScheduling
from xdist.workermanage import WorkerController

#: Whole desks at once on two cores: with three of them the demo passed its sixty seconds.
_FULL_LANES = 2
#: As `nice` counts: a core that is wanted by another lane gives this one a third.
_GIVES_WAY = 5
#: What starts nothing, and, when that is done, what starts single services.
_LIGHT = ("tests/unit/", "tests/integration/memory_service/", "tests/integration/agents/")
#: By their beginnings, what goes first: at the end short files keep both cores busy. The two matrices of faults
#: take two cores each, so they stand apart.
_ORDER = (
    "tests/e2e/",
    "tests/integration/test_fault_points.py",
    "tests/integration/symptoms/",
    "tests/integration/ops/",
    "tests/integration/memory_service/test_fault_points.py",
    "tests/integration/coordinator/",
    "tests/integration/kernel/",
    "tests/integration/",
    "tests/",
)


def rank(nodeid: str) -> int:
    """Return the place of a test in the order of lanes: long files first, the others as they came."""
    return next((place for place, start in enumerate(_ORDER) if nodeid.startswith(start)), len(_ORDER))


def is_light(lane: str) -> bool:
    """Tell whether a lane takes only tests that start nothing, by the name that xdist gives it (gw2)."""
    return lane.startswith("gw") and int(lane[2:]) >= _FULL_LANES


def give_way() -> None:
    """Let the other lanes go first, in a light one."""
    if is_light(os.environ.get("PYTEST_XDIST_WORKER", "")):
        os.nice(_GIVES_WAY)


class Lanes(LoadFileScheduling):
    """Gives files to lanes in order; to a light one only files that start nothing or little, the last first."""

    def _assign_work_unit(self, node: WorkerController) -> None:
        if is_light(node.gateway.id):
            light = self._light()
            if not light:
                return
            self.workqueue.move_to_end(light[-1], last=False)
        super()._assign_work_unit(node)

    def _reschedule(self, node: WorkerController) -> None:
        if node.shutting_down:
            return
        if is_light(node.gateway.id) and not self._light():
            node.shutdown()
            return
        super()._reschedule(node)

    def _light(self) -> list[str]:
        return [scope for scope in self.workqueue if scope.startswith(_LIGHT)]
