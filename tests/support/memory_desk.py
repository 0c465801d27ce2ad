"""The memory's commands with the real memory worker behind the queue: a Redis, a database and the worker, nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from kernel.database import Database
from kernel.schema import migrate
from kernel.settings import Settings
from tests.integration.memory_service.test_worker import start, wait_for
from tests.support.command_server import quick_desk
from tests.support.desk import Desk
from tests.support.ram import ram_folder
from tests.support.redis_server import redis_server


@contextmanager
def memory_desk(fill: Callable[[Database], None]) -> Iterator[Desk]:
    """Yield a desk whose database was filled before its memory worker started."""
    with ram_folder() as folder, redis_server(folder / "redis") as redis:
        data = folder / "desk"
        data.mkdir()
        database = Database(Settings(data_dir=data).database)
        migrate(database)
        fill(database)
        database.close()
        worker = start(redis.url, data, "memory")
        try:
            with quick_desk(data, {"NIGHTDESK_REDIS_URL": redis.url, "NIGHTDESK_EMBEDDER": "hash"}) as desk:
                wait_for(worker, "worker_ready")
                yield desk
        finally:
            worker.stop()
