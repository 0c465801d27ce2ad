from __future__ import annotations

import zlib

import pytest

from memory_service.lexical import CONTEXT_WEIGHT, VERSION, Sparse, document, query, share_script, tokens


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("node-7", ["node-7", "node", "7"]),
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


#: What mem0 found in English only (mem0#4884, PR#7164: a run of Chinese was one token).
DOCUMENTS = {
    "zh": "结账服务的连接池在晚上八点耗尽,重启后恢复。",
    "ja": "チェックアウトのコネクションプールが枯渇し、再起動で復旧した。",
    "de": "Der Verbindungspool des Bezahldienstes war erschöpft; nach dem Neustart lief er wieder.",
    "ar": "نَفِدَت الاتصالات في خدمة الدفع وتمت إعادة التشغيل بنجاح",
    "en": "The disk of the search cluster was full.",
    "fr": "Le délai de réponse du catalogue a été dépassé.",
    "ko": "결제 서비스의 연결 풀이 고갈되었다",
    "ru": "Истёк срок действия сертификата шлюза",
}


def score(question: str, text: str, context: str = "") -> float:
    asked, stored = query(question), document(text, context)
    known = dict(zip(stored.indices, stored.values, strict=True))
    return sum(known.get(index, 0.0) for index in asked.indices)


@pytest.mark.parametrize(
    ("language", "question"),
    [
        ("zh", "为什么连接池会耗尽?"),
        ("zh", "结账服务怎么重启"),
        ("ja", "プールの枯渇はなぜ起きた?"),
        ("ja", "ﾁｪｯｸｱｳﾄを再起動"),  # half-width kana
        ("de", "Warum war der VERBINDUNGSPOOL erschopft?"),
        ("de", "Neustart des Bezahldienstes"),
        ("ar", "خدمة الدفع"),
        ("ar", "نفدت اتصالات"),  # without vowel points, without the article
        ("ar", "التشغـــيل"),  # with kashida
        ("fr", "DELAI depasse"),
        ("ko", "연결 풀"),
        ("ru", "СЕРТИФИКАТА истек"),
    ],
)
def test_fault_non_english_documents_are_found_by_keywords_alone(language: str, question: str) -> None:
    ranked = sorted(DOCUMENTS, key=lambda name: -score(question, DOCUMENTS[name]))
    assert ranked[0] == language
    assert score(question, DOCUMENTS[language]) > 0


def test_marks_that_are_letters_stay() -> None:
    assert tokens("がか", query=True) != tokens("かか", query=True)
    assert tokens("कि", query=True) != tokens("का", query=True)


def test_words_of_one_stem_meet() -> None:
    assert score("recommendation", "she recommended a book") > 0
    assert score("studies", "he studied") > 0
    assert score("Caroline's counselling", "Caroline counsels") == score(
        "Caroline counselling", "Caroline counsels"
    )


def test_small_numbers_meet_in_words_and_digits() -> None:
    assert score("seven replicas", "7 replicas") == score("7 replicas", "seven replicas")


def test_a_date_is_found_in_any_form() -> None:
    for text in (
        "deployed on 8 May, 2023",
        "deployed May 8th",
        "2023-05-08 13:01 deployed",
        "2023年5月8日部署",
    ):
        assert score("what happened on 2023-05-08?", text) > score("what happened on 2023-05-09?", text)
    assert tokens("2023-05-08", query=True) == ["2023", "2023-05-08", "--05-08", "2023-05", "--05"]


def test_words_of_the_context_are_found_at_less_weight() -> None:
    text, context = "Yes, it did!", "did the pool run dry on node-7?"
    assert 0 < score("node-7", text, context) < score("node-7", f"{text} {context}")
    assert CONTEXT_WEIGHT < 1
    assert score("node-7", text) == 0
    assert document(text) == document(text, "")


def test_no_words_in_text_and_context_are_no_vector() -> None:
    assert document("", "") == Sparse([], [])


def test_what_changes_the_words_of_a_text_raises_the_version() -> None:
    text = (
        "Restarted node-7 on 2026-11-02: ERR_123 in /var/log/app.log, Caroline's three QueuePools (v1.2.3) hers "
        "连接池已耗尽 接続プール المدينة délai yesterday"
    )
    stored, asked = document(text, "the gateways were failing last Monday"), query(text)
    told = repr((stored.indices, [round(value, 6) for value in stored.values], asked.indices))
    known = {3: 3191153707}
    assert known.get(VERSION) == zlib.crc32(told.encode()), (
        "stored words are not comparable with those of today: raise lexical.VERSION and note its hash here"
    )
