"""The pool lends no more than it has, and whoever waits too long is told how full it was."""

from __future__ import annotations

import threading

import pytest

from ops.demo.pool import Pool, PoolExhaustedError


class TestPool:
    def test_lends_no_more_than_its_size_and_says_so(self) -> None:
        pool = Pool(2, timeout=0.01)
        with (
            pool.connection() as first,
            pool.connection() as second,
            pytest.raises(PoolExhaustedError) as caught,
            pool.connection(),
        ):
            pass
        assert (first, second) == (1, 2)
        assert str(caught.value) == "pool exhausted: 2/2 connections in use, timed out after 0.01 s"

    def test_a_waiting_request_gets_the_connection_that_comes_back(self) -> None:
        pool = Pool(1, timeout=30)
        got = threading.Event()

        def wait_for_it() -> None:
            with pool.connection():
                got.set()

        with pool.connection():
            waiting = threading.Thread(target=wait_for_it)
            waiting.start()
            assert not got.is_set()
        assert got.wait(30)
        waiting.join()
        assert pool.in_use == 0

    def test_a_connection_comes_back_after_an_error(self) -> None:
        pool = Pool(1)
        with pytest.raises(KeyError), pool.connection():
            raise KeyError
        assert pool.in_use == 0
