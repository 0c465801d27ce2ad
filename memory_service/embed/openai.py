"""Any OpenAI-compatible endpoint for embeddings, over plain HTTP."""

from __future__ import annotations

import httpx

from kernel.errors import Fatal, Retryable
from memory_service.embed.port import Vector, unit
from memory_service.scoring import Scale

_BATCH = 64
_TIMEOUT_SECONDS = 10.0
#: Seed values for models with cosines from 0 to 1; `calibrate` (a later issue) measures them per model.
_SCALE = Scale(low=0.0, middle_cut=0.3, high_cut=0.45)


class OpenAIEmbedder:
    """`POST {base_url}/embeddings`."""

    scale = _SCALE

    def __init__(
        self, base_url: str, model: str, api_key: str, *, transport: httpx.BaseTransport | None = None
    ) -> None:
        self.name = f"openai/{model}"
        self._model = model
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
        try:
            answer = self._client.post("/embeddings", json={"model": self._model, "input": texts})
            answer.raise_for_status()
            rows = sorted(answer.json()["data"], key=lambda row: row["index"])
            vectors = [unit([float(x) for x in row["embedding"]]) for row in rows]
        except httpx.HTTPStatusError as error:
            raise _refused(error.response) from error
        except httpx.HTTPError as error:
            raise Retryable("the embedding endpoint did not answer", why=str(error)) from error
        except (KeyError, TypeError, ValueError) as error:
            raise Fatal(
                "the embedding endpoint sent no embeddings", why=f"{type(error).__name__}: {error}"
            ) from error
        if len(vectors) != len(texts):
            raise Fatal("the embedding endpoint sent too few embeddings")
        return vectors


def _refused(response: httpx.Response) -> Exception:
    code = response.status_code
    if code == httpx.codes.TOO_MANY_REQUESTS or code >= httpx.codes.INTERNAL_SERVER_ERROR:
        wait = response.headers.get("retry-after", "")
        return Retryable(
            "the embedding endpoint is busy",
            why=f"it answered {code}",
            retry_after=float(wait) if wait.isdigit() else None,
        )
    return Fatal(
        "the embedding endpoint refused the request",
        why=f"it answered {code}",
        next_step="Check NIGHTDESK_EMBEDDER_BASE_URL, _MODEL and _API_KEY.",
    )
