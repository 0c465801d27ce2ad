from __future__ import annotations

import pytest

from memory_service.domain import Candidate
from memory_service.learning.tastes import apart, tastes


@pytest.mark.parametrize(
    ("text", "slots"),
    [
        ("answer in Chinese", {"language": "zh"}),
        ("please always reply in English", {"language": "en"}),
        ("以后请用中文回答", {"language": "zh"}),
        ("今後は日本語で答えてください", {"language": "ja"}),
        ("Bitte immer auf Deutsch antworten", {"language": "de"}),
        ("keep answers short", {"length": "short"}),
        ("I prefer detailed reports", {"length": "long"}),
        ("报告请写简短些", {"length": "short"}),
        ("Antworten bitte kurz halten", {"length": "short"}),
        ("常に短く答えて", {"length": "short"}),
        ("Keep answers short, in Chinese", {"language": "zh", "length": "short"}),
        ("以后请用中文简短回答", {"language": "zh", "length": "short"}),
        ("never answer in English", {}),
        ("不要用英文回答", {}),
        ("I prefer short names for services", {}),
        ("always page bob in the German office", {}),
        ("answer in Chinese or English", {}),
        ("from now on, page bob first", {}),
        ("answer with longitude and brevity words like shortage", {}),
    ],
)
def test_the_slots_of_a_preference(text: str, slots: dict[str, str]) -> None:
    assert tastes(text) == slots


def wish(text: str) -> list[tuple[str, str, dict[str, str]]]:
    made = Candidate(namespace="n", kind="preference", text=text, importance=0.8, source_kind="user")
    return [(part.key, part.text, part.slots) for part in apart(made)]


@pytest.mark.parametrize(
    ("text", "language", "length"),
    [
        ("Please answer in English and keep it short", "Please answer in English", "keep it short"),
        ("keep answers brief, and write in German", "write in German", "keep answers brief"),
        ("以后请用中文回答，请保持简短", "以后请用中文回答", "请保持简短"),
        ("Keep answers short, in Chinese", "answer in Chinese", "keep answers short"),
        ("keep it short, 中文", "answer in 中文", "keep answers short"),
        ("always answer in English, short", "answer in English", "keep answers short"),
        ("answer in English and short", "answer in English", "keep answers short"),
        ("以后请用中文简短回答", "用中文回答", "回答要简短"),
        ("报告用中文写，短一些", "用中文回答", "回答要简短"),
        ("今後は日本語で短く答えて", "日本語で答えて", "短く答えて"),
        ("Bitte kurz und auf Deutsch antworten", "auf Deutsch antworten", "kurz antworten"),
        ("I want detailed reports in French", "answer in French", "answer in detail"),
    ],
)
def test_two_wishes_in_one_breath_are_told_apart(text: str, language: str, length: str) -> None:
    told = {key: said for key, said, _ in wish(text)}
    assert told == {"style:language": language, "style:length": length}
    assert [list(slots) for *_, slots in wish(text)] == [["language"], ["length"]]


def test_what_says_more_than_two_wishes_stays_whole_in_both() -> None:
    text = "keep answers short, in Chinese, and page bob first"
    assert [said for _, said, _ in wish(text)] == [text, text]


def test_one_wish_keeps_its_words_and_others_stay_as_they_are() -> None:
    assert wish("answer in Chinese") == [("style:language", "answer in Chinese", {"language": "zh"})]
    assert wish("always page bob first") == [("", "always page bob first", {})]
    fact = Candidate(namespace="n", kind="fact", text="answer in Chinese", importance=0.8, source_kind="user")
    assert apart(fact) == [fact]
