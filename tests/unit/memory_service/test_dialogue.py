from __future__ import annotations

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

from memory_service.dialogue import ANSWERS, ASKS, TELLS, Place, Session, Turn, episodes
from memory_service.domain import Candidate

TOLD = [
    ("Ann", "Hi Bo!"),
    ("Bo", "Hi! What did the storage team decide?"),
    ("Ann", "They moved the archive to the north site yesterday."),
    ("Bo", "好的,上周五不是说要推迟吗?"),
    ("Ann", "Thanks!"),
    ("Ann", "Thanks!"),
]


def made(
    at: datetime = datetime(2023, 5, 8, 13, 56, tzinfo=UTC), seen: list[str] | None = None
) -> list[Candidate]:
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


def test_the_context_holds_two_turns_on_each_side_and_not_their_speakers() -> None:
    context = made()[2].context
    for _, text in (*TOLD[:2], *TOLD[3:5]):
        assert text in context
    assert TOLD[2][1] not in context
    assert "Ann" not in context.replace("Hi Bo", "")


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
    worth = [round(one.importance, 3) for one in made()]
    assert worth == [TELLS, TELLS + ASKS, TELLS + ANSWERS, TELLS + ASKS, TELLS + ANSWERS, TELLS]


def test_pictures_are_found_by_their_descriptions() -> None:
    found = made(seen=["a photo of a rack"])[0]
    assert found.text == "Ann: Hi Bo! [a photo of a rack]"
    assert "a photo of a rack" in found.context  # those of its neighbours
