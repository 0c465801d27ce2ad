from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.memory_service.world import World, world


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[World]:
    with world(tmp_path) as made:
        yield made
