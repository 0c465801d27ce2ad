"""The cut-offs in force for an embedding space: measured ones from SQL, else the embedder's seed values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from importlib.resources import files
from typing import Any

import yaml
from pydantic import ValidationError

from kernel import clock, logs
from kernel.contracts import Value
from kernel.database import Database
from kernel.errors import Correctable
from memory_service.embed.port import Embedder
from memory_service.recalling.calibration import UNRELATED_SHOWN, Calibration, Pair, measure
from memory_service.scoring import Scale
from memory_service.tables import EmbedSpaceRow

log = logs.get(__name__)

_PAIRS = "calibration_pairs.yaml"
#: Another process may have measured anew; this one itself knows at once.
_LOOK_AGAIN_SECONDS = 15.0


class Calibrating(Value):
    """Whether to measure only, and store nothing."""

    dry_run: bool = False


class Cutoffs:
    """Holds the scale of one space; `calibrate` measures it anew."""

    def __init__(
        self,
        database: Database,
        space_id: str,
        embedder: Embedder,
        *,
        pairs: Sequence[Pair] | None = None,
        now: Callable[[], datetime] = clock.now,
    ) -> None:
        self._database = database
        self._space_id = space_id
        self._embedder = embedder
        self._pairs = pairs
        self._now = now
        self._scale = embedder.scale
        self._look_at = float("-inf")

    def scale(self) -> Scale:
        """Return the scale that holds now."""
        if clock.monotonic() >= self._look_at:
            self._look_at = clock.monotonic() + _LOOK_AGAIN_SECONDS
            with self._database.reading() as session:
                row = session.get(EmbedSpaceRow, self._space_id)
                told = row.calibration if row is not None else {}
            self._scale = _scale_of(told) or self._embedder.scale
        return self._scale

    def calibrate(self, question: dict[str, Any]) -> dict[str, Any]:
        """Measure the embedder on known pairs and use what comes out from now on; return all figures.

        Takes as long as embedding a hundred short texts. Raises Correctable where the embedder cannot tell what
        belongs together from what does not: such cut-offs would let everything pass, or nothing.
        """
        try:
            asked = Calibrating.model_validate(question)
        except ValidationError as error:
            raise Correctable("the question cannot be read", why=str(error)) from error
        pairs = self._pairs if self._pairs is not None else shipped_pairs()
        before = self.scale()
        found = measure(self._embedder, pairs)
        told = {
            **found.told(),
            "pairs": len(pairs),
            "measured_at": self._now().isoformat(),
            "unrelated_shown": UNRELATED_SHOWN,
        }
        if not asked.dry_run:
            self._store(found, told)
        before_told = {"low": before.low, "middle_cut": before.middle_cut, "high_cut": before.high_cut}
        return {
            **told,
            "embedder": self._embedder.name,
            "space": self._space_id,
            "before": before_told,
            "stored": not asked.dry_run,
        }

    def _store(self, found: Calibration, told: dict[str, Any]) -> None:
        if found.useless:
            raise Correctable(
                f"{self._embedder.name} cannot tell what belongs together from what does not",
                why=f"only {found.related_middle:.0%} of the related pairs stand out from the unrelated ones",
                next_step="Look with `nightdesk memory calibrate --dry-run`, and use another embedding model.",
            )
        with self._database.writing("memory.calibrate") as session:
            row = session.get(EmbedSpaceRow, self._space_id)
            if row is None:
                raise Correctable(f"there is no embedding space {self._space_id!r} any more")
            row.calibration = told
        self._scale = found.scale
        log.info("calibrated", space=self._space_id, middle=found.scale.middle_cut, high=found.scale.high_cut)


def shipped_pairs() -> list[Pair]:
    """Return the pairs that come with the product."""
    text = files("memory_service.recalling").joinpath(_PAIRS).read_text("utf-8")
    return [Pair(**pair) for pair in yaml.safe_load(text)]


def _scale_of(told: dict[str, Any]) -> Scale | None:
    try:
        scale = told["scale"]
        return Scale(**{name: float(scale[name]) for name in ("low", "middle_cut", "high_cut")})
    except (KeyError, TypeError, ValueError):
        return None  # never measured
