from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory_service.domain import Candidate
from memory_service.learning.dialogue import (
    ANSWERED,
    HEARER,
    LEAST,
    TELLS,
    TELLS_WHEN,
    Place,
    Session,
    Turn,
    episodes,
    words_of,
)

AT = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
TOLD = [
    ("Ann", "Hi Bo!"),
    ("Bo", "Hi! What did the storage team decide?"),
    ("Ann", "They moved the archive to the north site yesterday."),
    ("Bo", "好的,上周五不是说要推迟吗?"),
    ("Ann", "Thanks!"),
    ("Ann", "Thanks!"),
]


def made(at: datetime = AT, seen: list[str] | None = None) -> list[Candidate]:
    turns = [
        Turn(id=f"D1:{number}", speaker=speaker, text=text, seen=seen or [])
        for number, (speaker, text) in enumerate(TOLD, 1)
    ]
    return episodes(Session(id="session_1", at=at, turns=turns), Place(namespace="talk", user="ann"))


def test_every_turn_is_an_episode_in_its_order() -> None:
    found = made()
    assert [one.text for one in found] == [f"{speaker}: {text}" for speaker, text in TOLD]
    assert {(one.kind, one.namespace, one.user, one.session) for one in found} == {
        ("episode", "talk", "ann", "session_1")
    }
    assert [one.slots["turn"] for one in found] == list(range(6))
    moments = [one.valid_from for one in found]
    assert moments == sorted(moments)
    assert moments[0] == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)


def test_the_same_words_said_twice_are_two_episodes() -> None:
    *_, first, second = made()
    assert first.text == second.text
    assert first.key_hash != second.key_hash


def test_the_context_holds_two_turns_on_each_side() -> None:
    context = made()[2].context
    for words in ("Hi !", TOLD[1][1], TOLD[3][1], TOLD[4][1]):
        assert words in context
    assert TOLD[2][1] not in context


def test_the_question_just_before_counts_thrice() -> None:
    third, fourth = (made()[number].context for number in (2, 3))
    assert third.count("What did the storage team decide?") == 1 + ANSWERED
    assert third.count("Hi!") == 1, "the rest of that turn counts once"
    assert fourth.count("What did the storage team decide?") == 1


def test_where_two_speak_their_names_tell_only_who_says_a_turn() -> None:
    found = made()
    assert found[0].text == "Ann: Hi Bo!"
    assert words_of(found[0].text, found[0].slots) == "Ann: Hi !"
    assert not {"Ann", "Bo"} & set(found[1].context.split())


def test_where_more_speak_names_stay() -> None:
    turns = [
        Turn(id=str(n), speaker=name, text=f"Ask {name}, Bo") for n, name in enumerate(["Ann", "Bo", "Cy"])
    ]
    found = episodes(Session(id="s", at=AT, turns=turns), Place(namespace="talk"))
    assert "Ask Ann, Bo" in found[1].context
    assert [words_of(one.text, one.slots) for one in found] == [one.text for one in found]


def test_names_are_whole_words_except_where_a_script_has_none() -> None:
    assert words_of("Bo: Annual report, Ann", {HEARER: "Ann"}) == "Bo: Annual report, "
    assert words_of("李雷: 谢谢韩梅梅", {HEARER: "韩梅梅"}) == "李雷: 谢谢"
    assert words_of("told by a log", {HEARER: 7}) == "told by a log"


def test_a_part_of_a_session_gives_the_same_as_the_whole() -> None:
    whole = made()
    turns = [Turn(id=f"D1:{n}", speaker=who, text=text) for n, (who, text) in enumerate(TOLD, 1)]
    part = Session(id="session_1", at=AT, turns=turns[1:], first=1, speakers=["Ann", "Bo"])
    assert episodes(part, Place(namespace="talk", user="ann"))[2:] == whole[3:]


def test_dates_are_resolved_against_the_day_of_the_session() -> None:
    found = made()
    assert found[0].context.startswith("2023-05-08\n")
    assert found[2].context.startswith("2023-05-08 2023-05-07\n")
    assert found[3].context.startswith("2023-05-08 2023-05-05\n")


def test_the_day_is_that_of_the_speakers_zone() -> None:
    late = datetime(2023, 5, 7, 19, 30, tzinfo=UTC).astimezone(ZoneInfo("Asia/Kolkata"))
    found = made(late)[2]
    assert found.context.startswith("2023-05-08 2023-05-07\n")
    assert found.valid_from == late + timedelta(seconds=2)


def test_what_answers_is_worth_more_than_what_asks() -> None:
    greeting, asks, answers, *_, thanks = (one.importance for one in made())
    assert asks < thanks <= greeting < answers


def test_who_says_more_tells_more_and_so_does_who_tells_when() -> None:
    def worth(text: str) -> float:
        turn = Turn(id="1", speaker="Ann", text=text)
        return episodes(Session(id="s", at=AT, turns=[turn]), Place(namespace="talk"))[0].importance

    assert worth("The archive moved to the north site.") > worth("It moved.")
    assert worth("The archive moved yesterday.") - worth("The archive moved north.") == pytest.approx(
        TELLS_WHEN
    )
    assert worth(" ".join(map(str, range(19)))) == pytest.approx(TELLS), "as long as usual"
    assert worth("?") == LEAST


def test_pictures_are_found_by_their_descriptions() -> None:
    found = made(seen=["a photo of a rack"])[0]
    assert found.text == "Ann: Hi Bo! [a photo of a rack]"
    assert "a photo of a rack" in found.context  # those of its neighbours
