"""A process that runs one night on a database: `decay_worker.py URL MOMENT BATCH NAME [BATCHES]` dies after so many."""

from __future__ import annotations

import os
import signal
import sys
from datetime import datetime

from kernel.database import Database
from memory_service.decay import Decay


def main() -> None:
    url, moment, batch, name, *kill_after = sys.argv[1:]
    left = int(kill_after[0]) if kill_after else -1

    def after_batch() -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    night = Decay(Database(url), name, batch=int(batch)).run(
        datetime.fromisoformat(moment), after_batch=after_batch
    )
    print(
        sum(night.counts.get(tier, 0) for tier in ("hot", "cold", "archived", "deleted")) if night.ran else -1
    )


if __name__ == "__main__":
    main()
