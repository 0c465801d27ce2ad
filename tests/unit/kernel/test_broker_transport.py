"""Our transport serves our apps also in a process whose plain Celery client was served the stock one before."""

from __future__ import annotations

from kombu.transport import _transport_cache, redis

from kernel.broker import make_celery
from kernel.settings import Settings
from kernel.transport import Transport

URL = "redis://127.0.0.1:1/0"


def test_ours_comes_also_after_a_plain_client() -> None:
    _transport_cache["redis"] = redis.Transport  # what a plain client leaves behind
    ours = make_celery(Settings(redis_url=URL), "test")
    assert issubclass(ours.connection().get_transport_cls(), Transport)
    ours.close()
