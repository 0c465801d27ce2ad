"""A process that adds memories to a database: `python -m tests.support.concurrent_adds URL COUNT CANDIDATE…`."""

from __future__ import annotations

import sys

from kernel.clock import now
from kernel.database import Database
from memory_service.domain import Candidate
from memory_service.store import Store


def main() -> None:
    """Say that it is ready, wait for a line, then add each candidate as often as told."""
    url, count, *told = sys.argv[1:]
    store = Store(Database(url))
    candidates = [Candidate.model_validate_json(text) for text in told]
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(int(count)):
        store.write(candidates[number % len(candidates)], "store", at=now(), actor="adder")


if __name__ == "__main__":
    main()
