"""The paragraphs of answers."""

from __future__ import annotations

import pytest

from agents.log_analysis.paragraphs import harmless


@pytest.mark.parametrize(
    ("quote", "verdict"),
    [
        ('{"status": "success", "error": null}', True),
        ("check finished: 0 errors, error_rate=0.0", True),
        ("sync done failed=0", True),
        ("finished without errors", True),
        ('{"error": null, "msg": "connection refused"}', False),
        ("ERROR disk full", False),
        ("error=12", False),
        ("all fine", False),
    ],
)
def test_lines_that_say_that_nothing_failed(quote: str, verdict: bool) -> None:
    assert harmless(quote) is verdict
