from __future__ import annotations

from pathlib import Path

from agents.log_analysis.judging.baselines import baseline
from agents.log_analysis.judging.problems import problems
from agents.log_analysis.judging.recordings import begun, of_second, second, split_of
from tests.support.log_scans import START, log, read


def _window(begin: float, *, ill: bool) -> list:
    lines = [(begin + n, f"INFO served {n}") for n in range(300)]
    lines += [(begin + 30 * n, f"ERROR reply {n} discarded") for n in range(10)]
    if ill:
        lines += [(begin + 200 + n, f"ERROR disk gone on shelf {n}") for n in range(10)]
    else:
        lines += [(begin + 100 + n, f"ERROR queue full {n}") for n in range(10)]
    return lines


def test_the_second_recording_is_judged_by_the_first(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*_window(0.0, ill=False)), log(*_window(9000.0, ill=True)))
    split = split_of(scan, summary)
    assert split is not None
    assert abs(split - START - 9000) < 15
    found = problems(scan, summary)
    assert {p.profile.message.split(" ")[0] for p in found} == {"reply", "disk", "queue"}
    kept = of_second(scan, found, split)
    assert [p.profile.message.split(" ")[0] for p in kept] == ["disk", "reply"]
    assert [p.chronic for p in kept] == [False, True]
    assert (chosen := baseline(scan, summary)) is not None
    assert chosen.kind == "recordings"
    assert chosen.after.start == split


def test_what_was_there_before_and_rose_is_no_old_story(tmp_path: Path) -> None:
    after = [*_window(9000.0, ill=False), *((9000.0 + n, f"ERROR reply {n} discarded") for n in range(250))]
    scan, summary = read(tmp_path, log(*_window(0.0, ill=False)), log(*after))
    split = split_of(scan, summary)
    assert split is not None
    kept = of_second(scan, problems(scan, summary), split)
    told = {p.profile.message.split(" ")[0]: p.chronic for p in kept}
    assert told["queue"]
    assert kept[0].profile.message.startswith("reply")


def test_one_log_with_a_pause_is_one_recording(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*_window(0.0, ill=False), *_window(400.0, ill=True)))
    assert split_of(scan, summary) is None


def test_the_trouble_of_the_second_recording_begins_with_a_line_that_tells_of_it(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*_window(0.0, ill=False)), log(*_window(9000.0, ill=True)))
    found, split = second(scan, summary, problems(scan, summary))
    assert split is not None
    assert begun(scan, found, split) == START + 9200
    rose = [p for p in found if p.profile.message.startswith("reply")]
    assert begun(scan, rose, split) is None  # it is as it was
    rose[0].chronic = False
    assert begun(scan, rose, split) == START + 9000
