"""Checks what is asked of logs before any of them is read: a slip shows at once, and not after a gigabyte."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from agents.log_analysis.asking.comparing import check_baseline
from agents.log_analysis.asking.entities import check_kind, check_of
from agents.log_analysis.asking.histogram import check_width
from agents.log_analysis.asking.searching import compile_pattern, read_cursor, read_level, read_time
from agents.log_analysis.asking.templates import check_order

#: What is checked, by the name of the argument.
_CHECKS: Mapping[str, Callable[[str], object]] = {
    "level": read_level,
    "pattern": compile_pattern,
    "sort": check_order,
    "bucket": check_width,
    "by": check_kind,
    "of": check_of,
    "baseline": check_baseline,
    "cursor": read_cursor,
    "since": lambda text: read_time(text, "since"),
    "until": lambda text: read_time(text, "until"),
}


def check_asked(**asked: str) -> None:
    """Raise Correctable with what is wrong with one of the arguments; empty ones are not asked."""
    for name, text in asked.items():
        if text:
            _CHECKS[name](text)
