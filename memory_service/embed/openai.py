"""Any OpenAI-compatible endpoint for embeddings, over plain HTTP."""

from __future__ import annotations

from collections.abc import Callable

import httpx

from kernel.clock import monotonic, now
from kernel.errors import Fatal, Retryable
from kernel.model.outcomes import seconds_to_wait
from memory_service.embed.port import Vector, unit
from memory_service.scoring import Scale

_BATCH = 64
_TIMEOUT_SECONDS = 10.0
#: A busy endpoint that says no time is left alone for so long.
_REST_SECONDS = 1.0
#: Longer than this a wrong header must not silence an endpoint.
_REST_MOST_SECONDS = 300.0
#: Seed values for models with cosines from 0 to 1; `nightdesk memory calibrate` measures them for the model in use.
_SCALE = Scale(low=0.0, middle_cut=0.3, high_cut=0.45)


class OpenAIEmbedder:
    """`POST {base_url}/embeddings`; while the endpoint asked to be left alone it is not asked at all."""

    scale = _SCALE

    def __init__(
        self,
        base_url: str,
        model: str,
        api_key: str,
        *,
        transport: httpx.BaseTransport | None = None,
        clock: Callable[[], float] = monotonic,
    ) -> None:
        self.name = f"openai/{model}"
        self._model = model
        self._clock = clock
        self._rests_until = float("-inf")
        self._client = httpx.Client(
            base_url=base_url.rstrip("/"),
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=_TIMEOUT_SECONDS,
            transport=transport,
        )

    def passages(self, texts: list[str]) -> list[Vector]:
        """Return one vector for each stored text."""
        vectors: list[Vector] = []
        for start in range(0, len(texts), _BATCH):
            vectors += self._embed(texts[start : start + _BATCH])
        return vectors

    def question(self, text: str) -> Vector:
        """Return the vector of a question."""
        return self._embed([text])[0]

    def _embed(self, texts: list[str]) -> list[Vector]:
        left = self._rests_until - self._clock()
        if left > 0:
            raise Retryable(
                "the embedding endpoint is busy", why=f"it asked for {left:.0f} s more", retry_after=left
            )
        try:
            answer = self._client.post("/embeddings", json={"model": self._model, "input": texts})
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = [unit([float(x) for x in row["embedding"]]) for row in rows]
        except httpx.HTTPStatusError as error:
            raise self._refused(error.response) from error
        except httpx.HTTPError as error:
            raise Retryable("the embedding endpoint did not answer", why=str(error)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise Fatal(
                "the embedding endpoint sent no embeddings", why=f"{type(error).__name__}: {error}"
            ) from error
        if len(vectors) != len(texts):
            raise Fatal("the embedding endpoint sent too few embeddings")
        return vectors

    def _refused(self, response: httpx.Response) -> Exception:
        code = response.status_code
        if code == httpx.codes.TOO_MANY_REQUESTS or code >= httpx.codes.INTERNAL_SERVER_ERROR:
            told = seconds_to_wait(response.headers.get("retry-after"), now())
            wait = min(told if told is not None else _REST_SECONDS, _REST_MOST_SECONDS)
            self._rests_until = self._clock() + wait
            return Retryable("the embedding endpoint is busy", why=f"it answered {code}", retry_after=told)
        return Fatal(
            "the embedding endpoint refused the request",
            why=f"it answered {code}",
            next_step="Check NIGHTDESK_EMBEDDER_BASE_URL, _MODEL and _API_KEY.",
        )
