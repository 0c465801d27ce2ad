"""Where the real logs lie, if they are there."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture
def loghub() -> Path:
    folder = Path(__file__).parents[6] / "shared" / "data" / "loghub_2k"
    if not folder.is_dir():
        pytest.skip(f"no data in {folder}")
    return folder
