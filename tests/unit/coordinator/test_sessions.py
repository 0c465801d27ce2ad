from coordinator.sessions import WINDOW, window
from coordinator.summary import summarise
from kernel.contracts import SessionTurn


def turns(number: int) -> list[SessionTurn]:
    return [SessionTurn(run_id=str(i), text=f"ask {i}", answer="答" * 3000) for i in range(number)]


def test_the_window_holds_the_last_turns_with_answers_cut_between_characters() -> None:
    seen = window(turns(10))
    assert [t.text for t in seen] == [f"ask {i}" for i in range(4, 10)]
    assert all(t.answer == "答" * 1500 + "…" for t in seen)


def test_older_turns_live_on_in_the_summary() -> None:
    assert summarise(turns(WINDOW)) == ""
    lines = summarise(turns(WINDOW + 2)).splitlines()
    assert [line.split("|")[0].strip() for line in lines] == ["- asked: ask 0", "- asked: ask 1"]
    assert len(summarise(turns(200))) <= 2001
