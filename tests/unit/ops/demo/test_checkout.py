"""The demo's service without HTTP: its health and its log."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ops.demo.checkout import (
    HEALTH_WINDOW_SECONDS,
    UNHEALTHY_FAILURES,
    Checkout,
    Config,
    Health,
    open_log,
)


class TestConfig:
    def test_comes_back_as_written(self, tmp_path: Path) -> None:
        config = Config(version="2026.11.2", pool_size=2)
        config.write(tmp_path / "current.json")
        assert Config.read(tmp_path / "current.json") == config


class TestHealth:
    def test_is_not_good_before_one_window_is_over(self) -> None:
        health = Health(100.0)
        assert health.state(100.1) == "starting"
        assert health.state(100.0 + HEALTH_WINDOW_SECONDS) == "ok"

    def test_fails_at_the_limit_and_recovers_when_the_window_is_clean(self) -> None:
        health = Health(0.0)
        for _ in range(UNHEALTHY_FAILURES - 1):
            health.failed(100.0)
        assert health.state(100.0) == "ok"
        health.failed(100.0)
        assert health.state(100.0) == "failing"
        assert health.state(100.1 + HEALTH_WINDOW_SECONDS) == "ok"


@pytest.fixture
def log(tmp_path: Path) -> Iterator[logging.Logger]:
    logger = open_log(tmp_path / "checkout.log")
    yield logger
    for handler in list(logger.handlers):
        handler.close()
        logger.removeHandler(handler)


class TestCheckout:
    @pytest.fixture
    def service(self, tmp_path: Path, log: logging.Logger) -> Checkout:
        Config(version="2026.11.2", pool_size=2).write(tmp_path / "current.json")
        return Checkout(tmp_path / "current.json", log)

    def lines(self, tmp_path: Path) -> list[str]:
        return (tmp_path / "checkout.log").read_text(encoding="utf-8").splitlines()

    def test_logs_a_deploy_with_time_zone_and_level(self, service: Checkout, tmp_path: Path) -> None:
        (line,) = self.lines(tmp_path)
        stamp, rest = line.split(" ", 1)
        assert stamp.endswith("+00:00")
        assert len(stamp) == len("2026-11-29T21:20:06.151+00:00")
        assert rest == "INFO  [checkout] deployed version 2026.11.2 config pool_size=2"

    def test_an_order_is_taken_through_the_pool(self, service: Checkout, tmp_path: Path) -> None:
        assert service.order() == (200, "order 000001 taken")
        assert self.lines(tmp_path)[-1].endswith("order=000001")

    def test_a_full_pool_is_a_503_with_a_real_trace(self, service: Checkout, tmp_path: Path) -> None:
        service.pool.timeout = 0.01
        with service.pool.connection(), service.pool.connection():
            assert service.order() == (503, "order 000001 failed")
        text = "\n".join(self.lines(tmp_path))
        assert (
            "ERROR [checkout] pool exhausted: 2/2 connections in use, timed out after 0.01 s: order 000001"
            in text
        )
        assert "Traceback (most recent call last):" in text
        assert 'checkout.py", line ' in text
        assert "PoolExhaustedError: pool exhausted: 2/2 connections in use, timed out after 0.01 s" in text

    def test_enough_failures_turn_health_bad_and_it_says_so(self, service: Checkout, tmp_path: Path) -> None:
        service.health = Health(time.monotonic() - HEALTH_WINDOW_SECONDS)
        assert service.check() == (200, "ok")
        service.pool.timeout = 0.0
        with service.pool.connection(), service.pool.connection():
            for _ in range(UNHEALTHY_FAILURES):
                service.order()
        assert service.check() == (503, "failing")
        assert any("ERROR [checkout] health changed to failing" in line for line in self.lines(tmp_path))

    def test_a_deploy_takes_up_the_new_file(self, service: Checkout, tmp_path: Path) -> None:
        Config(version="2026.11.1", pool_size=20).write(tmp_path / "current.json")
        service.deploy()
        assert service.pool.size == 20
        assert self.lines(tmp_path)[-1].endswith("deployed version 2026.11.1 config pool_size=20")
