from __future__ import annotations

import pytest

from memory_service.lexical import document, query, share_script, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node-7", ["node-7", "nod", "7"]),
        ("ERR_4412", ["err_4412", "err", "4412"]),
        ("/var/log/app.log", ["var/log/app.log", "var", "log", "app", "log"]),
        ("10.0.0.17:8080", ["10.0.0.17:8080", "10", "0", "0", "17", "8080"]),
        ("HikariPool", ["hikaripool", "hikari", "pool"]),
        ("requests failed", ["request", "fail"]),
        ("why is it down", ["down"]),
        ("ＥＲＲ＿１", ["err_1", "err", "1"]),
    ],
)
def test_identifiers_are_kept_whole_and_split(text: str, expected: list[str]) -> None:
    assert tokens(text, query=True) == expected


def test_cjk_has_unigrams_and_bigrams_in_documents_and_bigrams_in_questions() -> None:
    assert tokens("连接池", query=False) == ["连", "接", "池", "连接", "接池"]
    assert tokens("连接池", query=True) == ["连接", "接池"]
    assert tokens("池", query=True) == ["池"]
    assert tokens("服务checkout返回503", query=True) == ["服务", "checkout", "返回", "503"]


@pytest.mark.parametrize("text", ["", "???", "the of and", "。。。", "的"])
def test_texts_without_words_have_no_vector(text: str) -> None:
    assert not query(text)


def test_vectors_are_sorted_unique_and_the_same_in_every_process() -> None:
    vector = document("node-7 lost node-7 连接池 ERR_4412")
    assert vector.indices == sorted(set(vector.indices))
    assert all(0 <= index < 2**32 for index in vector.indices)
    assert query("checkout").indices == [2939694414]


def test_a_repeated_word_counts_more_but_not_without_end() -> None:
    index = query("pool").indices[0]

    def weight(text: str) -> float:
        vector = document(text)
        return dict(zip(vector.indices, vector.values, strict=True))[index]

    assert weight("pool") < weight("pool pool") < weight("pool " * 20) < 2.2


def test_words_of_one_form_meet_in_another() -> None:
    assert set(query("timeouts failing").indices) <= set(document("timeout: requests failed").indices)


@pytest.mark.parametrize(
    ("one", "other", "shared"),
    [
        ("the pool", "der Pool", True),
        ("the pool", "连接池", False),
        ("checkout 的连接池", "the pool", True),
        ("コネクション", "连接", True),  # Japanese mixes both
        ("503", "连接池", True),
    ],
)
def test_texts_share_a_script_or_not(one: str, other: str, shared: bool) -> None:
    assert share_script(one, other) is shared
