"""The bench's times: what is counted, and that a run which does not come back is no figure."""

from __future__ import annotations

import threading

import pytest

from ops.bench.measure import measure, percentile


class TestPercentile:
    @pytest.mark.parametrize(("share", "value"), [(0.5, 5), (0.95, 10), (0.1, 1), (1.0, 10)])
    def test_is_the_nearest_rank(self, share: float, value: int) -> None:
        assert percentile([10, 1, 9, 2, 8, 3, 7, 4, 6, 5], share) == value

    def test_of_one_is_that_one(self) -> None:
        assert percentile([7.0], 0.95) == 7.0


class TestMeasure:
    def test_shares_exactly_the_runs_among_the_clients(self) -> None:
        lock = threading.Lock()
        made = [0, 0]

        def client(number: int) -> None:
            with lock:
                made[number] += 1

        row = measure("x", [lambda: client(0), lambda: client(1)], 25)
        assert sum(made) == 25
        assert (row.what, row.clients, row.runs) == ("x", 2, 25)
        assert row.runs_per_second > 0
        assert row.p50_ms <= row.p95_ms

    def test_shares_the_processor_time_among_the_runs(self) -> None:
        spent = iter([2.0, 4.5])
        assert measure("x", [lambda: None], 25, cpu=lambda: next(spent)).cpu_ms == 100.0

    @pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
    def test_refuses_figures_where_a_run_failed(self) -> None:
        def fails() -> None:
            raise ConnectionError

        with pytest.raises(RuntimeError, match="0 of 3 runs"):
            measure("x", [fails], 3)
