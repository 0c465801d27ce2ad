"""One little fleet for all tests of this folder; each says which workers it needs."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.little_fleet import Fleet, little_fleet


@pytest.fixture(scope="package")
def little(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with little_fleet(tmp_path_factory.mktemp("fleet")) as running:
        yield running


@pytest.fixture
def fleet(little: Fleet) -> Fleet:
    """The fleet with its two workers up."""
    little.ensure("worker-a", "worker-b")
    return little
