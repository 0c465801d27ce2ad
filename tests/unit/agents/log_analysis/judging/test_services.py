from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest

from agents.log_analysis.judging import services
from agents.log_analysis.judging.halves import _numbers, _told
from agents.log_analysis.judging.services import Suspect, rank_services, row_side
from tests.support.log_scans import log, read, stamp


def _window(calls: int, *, failing: str = "", silent: str = "", offset: float = 0.0) -> str:
    """Calls of front → order → store, and of mail on its own; `failing` errs and its callers with it."""
    lines = []
    for number in range(calls):
        one = f"trace_id=t{offset:.0f}n{number:05}"
        second = offset + number * 5.0
        path = ["front", "order", "store"] if number % 4 else ["mail"]
        failed = False
        for depth, service in enumerate(path):
            if service == silent:
                break
            lines.append(f"{stamp(second + depth / 100)} INFO {service} - {one} entered")
            if service == failing and number % 2:
                failed = True
                break
            lines.append(
                f"{stamp(second + depth / 100 + 0.001)} INFO {service} - {one} worked on item {number}"
            )
        if failed:
            for depth, service in enumerate(reversed(path[: path.index(failing) + 1])):
                said = "disk gone" if service == failing else f"call failed: {failing} answered 500"
                lines.append(f"{stamp(second + 0.1 + depth / 100)} ERROR {service} - {one} {said}")
    return "\n".join(lines) + "\n"


def _ranked(folder: Path, after: str) -> list[tuple[str, list[str]]]:
    scan, _ = read(folder, _window(200), after)
    return [
        (scan.services[s.service], [r for r, _ in s.reasons]) for s in rank_services(scan, row_side({0}, {1}))
    ]


def test_the_failing_service_goes_before_its_callers(tmp_path: Path) -> None:
    ranked = _ranked(tmp_path, _window(100, failing="store", offset=5000.0))
    assert ranked[0][0] == "store"
    callers = {name: reasons for name, reasons in ranked if name in ("front", "order")}
    assert all("after another service's failure" in " ".join(reasons) for reasons in callers.values())


def test_a_service_that_is_called_and_says_nothing_is_first(tmp_path: Path) -> None:
    ranked = _ranked(tmp_path, _window(100, silent="store", offset=5000.0))
    assert ranked[0][0] == "store"
    assert ranked[0][1][0].startswith("75 of 75 paths leave their usual way at it")


def test_an_entry_that_vanished_is_told_and_what_it_called_is_explained(tmp_path: Path) -> None:
    ranked = _ranked(tmp_path, _window(100, silent="front", offset=5000.0))
    assert [name for name, _ in ranked] == ["front"]


def test_half_the_load_names_nobody(tmp_path: Path) -> None:
    assert _ranked(tmp_path, _window(100, offset=5000.0)) == []


def test_without_ids_the_first_to_fail_goes_first_however_often_the_last_complains(tmp_path: Path) -> None:
    def window(offset: float, *, fails: bool) -> str:
        lines = []
        for number in range(300):
            for depth, service in enumerate(("store", "order", "front")):
                lines.append(f"{stamp(offset + number + depth / 100)} INFO {service} - served item {number}")
        if fails:
            lines.append(f"{stamp(offset + 100.5)} ERROR store - disk gone")
            lines.append(f"{stamp(offset + 101.5)} ERROR order - reply lost")
            lines += [f"{stamp(offset + 102.5 + n)} ERROR front - page broken {n}" for n in range(40)]
        return "\n".join(sorted(lines)) + "\n"

    scan, _ = read(tmp_path, window(0.0, fails=False), window(1000.0, fails=True))
    ranked = rank_services(scan, row_side({0}, {1}))
    assert [scan.services[s.service] for s in ranked] == ["store", "order", "front"]


def _calm(
    services: tuple[str, ...], start: float, seconds: int, rng: random.Random
) -> list[tuple[float, str]]:
    """Chatter of several services and a few errors that are always there."""
    lines = []
    for service in services:
        lines += [
            (start + rng.random() * seconds, f"INFO {service} - finished job {n} in {rng.randint(3, 60)} ms")
            for n in range(seconds)
        ]
        lines += [
            (start + rng.random() * seconds, f"ERROR {service} - rejected input {n}")
            for n in range(seconds // 150)
        ]
    return lines


def _first(folder: Path, before: list[tuple[float, str]], after: list[tuple[float, str]]) -> list[str]:
    scan, _ = read(folder, log(*before), log(*after))
    return [scan.services[s.service] for s in rank_services(scan, row_side({0}, {1}))]


SERVICES = ("billing", "catalogue", "delivery", "mailer", "storage")


@pytest.mark.parametrize("seed", range(3))
def test_errors_that_rise_in_one_of_many_services(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    after = _calm(SERVICES, 5000, 600, rng)
    after += [(5000 + rng.random() * 600, f"ERROR delivery - route table is stale {n}") for n in range(60)]
    assert _first(tmp_path, _calm(SERVICES, 0, 900, rng), after)[:1] == ["delivery"]


@pytest.mark.parametrize("seed", range(3))
def test_output_that_vanishes_while_others_complain_of_it(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    after = [line for line in _calm(SERVICES, 5000, 600, rng) if " storage " not in line[1]]
    after += [(5000 + rng.random() * 600, f"ERROR billing - no reply from storage {n}") for n in range(25)]
    assert _first(tmp_path, _calm(SERVICES, 0, 900, rng), after)[:1] == ["storage"]


@pytest.mark.parametrize("seed", range(3))
def test_a_slow_dependency_that_fails_nobody_but_its_callers(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)

    def calls(start: float, count: int, *, slow: bool) -> list[tuple[float, str]]:
        lines = _calm(("catalogue", "mailer"), start, count, rng)
        for n in range(count):
            at, one = start + n, f"request_id=q{start:.0f}x{n:05}"
            late = slow and n % 3 == 0
            lines.append((at, f"INFO billing - {one} charge asked"))
            lines.append((at + 0.01, f"INFO storage - {one} reading"))
            lines.append((at + (9.0 if late else 0.02), f"INFO storage - {one} read"))
            if late:
                lines.append((at + 3.0, f"ERROR billing - {one} timeout after 3000 ms waiting for storage"))
            else:
                lines.append((at + 0.03, f"INFO billing - {one} charge done"))
        return lines

    ranked = _first(tmp_path, calls(0, 900, slow=False), calls(5000, 600, slow=True))
    assert "storage" in ranked[:2]


def test_names_of_services_are_found_as_whole_words_the_longest_first() -> None:
    numbers = _numbers(["", "cart", "cart-store", "com.acme.Pay", "db"])
    assert _told(numbers, "ERROR Cart-Store refused; carts and my-cart not meant") == {2}
    assert _told(numbers, "call of com.acme.Pay/v1 from cart.") == {3, 1}
    assert _told(numbers, "com.acme.Payment db") == set()


@pytest.mark.parametrize("weight", ["_BLAMED", "_FEWER_CALLS"])
@pytest.mark.parametrize("times", [0.5, 2.0])
def test_no_ranking_hangs_on_one_weight(tmp_path: Path, monkeypatch, weight: str, times: float) -> None:
    monkeypatch.setattr(services, weight, getattr(services, weight) * times)
    for number, after in enumerate(
        (_window(100, failing="store", offset=5e3), _window(100, silent="store", offset=5e3))
    ):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert _ranked(folder, after)[0][0] == "store"


def test_a_fully_explained_symptom_is_told_and_weighs_nothing(tmp_path: Path) -> None:
    scan, _ = read(tmp_path, _window(200), _window(100, failing="store", offset=5000.0))
    scores = {scan.services[s.service]: s.score for s in rank_services(scan, row_side({0}, {1}))}
    assert scores["store"] > 1
    assert scores["front"] == scores["order"] == 0.0


Said = list[tuple[float, str, str]]


def _changed(folder: Path, change: Callable[[Said], None]) -> list[tuple[str, Suspect]]:
    """Rank after calls of front → order → store, each with a line of its own after the call, were changed."""

    def window(offset: float, *, fault: bool) -> str:
        lines = []
        for number in range(60):
            one = f"trace_id=t{offset:.0f}n{number:05}"
            said = [
                (0.00, "front", "asked"),
                (0.02, "order", "priced"),
                (0.04, "store", "looked up"),
                (0.05, "store", "reserved"),
                (0.07, "order", "confirmed"),
                (0.09, "front", "answered"),
            ]
            if fault and number % 2:
                change(said)
            lines += [
                (
                    offset + number * 5 + at,
                    f"{'ERROR' if 'fail' in text else 'INFO'} {service} - {one} {text}",
                )
                for at, service, text in said
            ]
        return log(*lines)

    scan, _ = read(folder, window(0.0, fault=False), window(5000.0, fault=True))
    ranked = rank_services(scan, row_side({0}, {1}))
    return [(scan.services[s.service], s) for s in ranked]


def test_a_wrong_answer_points_at_who_gave_it_not_at_the_caller_that_complains(tmp_path: Path) -> None:
    def empty(said: Said) -> None:
        said[3:] = [(0.06, "order", "failed: no stock in the answer")]

    ranked = _changed(tmp_path, empty)
    assert ranked[0][0] == "store"
    assert ranked[0][1].sure
    assert "30 of 60 paths leave their usual way at it, before 0 of 60" in ranked[0][1].reasons[0][0]


def test_an_error_code_without_a_level_points_at_who_wrote_it(tmp_path: Path) -> None:
    def code(said: Said) -> None:
        said[3] = (0.05, "store", "returned status 17")

    assert [name for name, s in _changed(tmp_path, code) if s.sure] == ["store"]


@pytest.mark.parametrize("added", [0.05, 2.0])
def test_a_slow_service_is_named_and_not_those_that_wait_for_it(tmp_path: Path, added: float) -> None:
    def late(said: Said) -> None:
        said[3:] = [(at + added, service, text) for at, service, text in said[3:]]

    assert [name for name, s in _changed(tmp_path, late) if s.sure] == ["store"]


def test_lines_without_a_service_go_by_no_file(tmp_path: Path) -> None:
    before, after = _window(200), _window(100, offset=5000.0)
    plain = "".join(f"{stamp(n * 5.0)} INFO swept the attic\n" for n in range(200))
    scan, _ = read(tmp_path, before + plain, after + plain)
    assert rank_services(scan, row_side({0}, {1})) == []
