from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.judging.propagation import missing, propagation
from agents.log_analysis.judging.trails import id_kind, id_of, trails
from tests.support.log_scans import log, read, stamp


@pytest.mark.parametrize(
    ("kind", "text", "number"),
    [
        ("trace", '{"trace_id":"4bf92f3577b34da6","msg":"x"}', "4bf92f3577b34da6"),
        ("trace", "INFO TraceID: e01e8dba91e4 SpanID: 3c13 paid", "e01e8dba91e4"),
        ("trace", r"{\"traceId\":\"4bf92f3577\"}", "4bf92f3577"),
        (
            "request",
            "[req-9bc36dd9-91c5-4314-898a-47625eb93b09 - -] GET /v2",
            "req-9bc36dd9-91c5-4314-898a-47625eb93b09",
        ),
        ("request", "request_id=ab12cd34 done", "ab12cd34"),
        ("block", "Receiving block blk_-1608999687919862906 src", "blk_-1608999687919862906"),
        ("uuid", "order f3d4d4ef-693b-4456-8eed-59c0d717dd08 paid", "f3d4d4ef-693b-4456-8eed-59c0d717dd08"),
        ("trace", "nothing here", ""),
    ],
)
def test_ids_are_found_by_name_or_shape(kind: str, text: str, number: str) -> None:
    assert id_of(kind, text) == number


def _call(number: int, second: float, *, fails: bool) -> tuple[list[str], list[str]]:
    """Lines of a front and of a store for one request; where the store fails, the front fails with it."""
    one = f"trace_id=t{number:07}"
    front = [f"{stamp(second)} INFO front - {one} request in"]
    store = [f"{stamp(second + 0.01)} INFO store - {one} query"]
    if fails:
        store.append(f"{stamp(second + 0.03)} ERROR store - {one} disk gone")
        front.append(f"{stamp(second + 0.02)} ERROR front - {one} store answered 500")
    else:
        store.append(f"{stamp(second + 0.02)} INFO store - {one} rows read")
        front.append(f"{stamp(second + 0.03)} INFO front - {one} request done")
    return front, store


def _calls(tmp_path: Path):
    fronts, stores = [], []
    for number in range(30):
        front, store = _call(number, number * 10.0, fails=number in (11, 17))
        fronts += front
        stores += store
    return read(tmp_path, "\n".join(fronts) + "\n", "\n".join(stores) + "\n")


def test_the_callee_is_the_origin_whatever_the_clocks_say(tmp_path: Path) -> None:
    scan, _ = _calls(tmp_path)
    assert id_kind(scan) == "trace"
    found = propagation(scan)
    assert (found.paths, found.failed) == (30, 2)
    names = [[scan.services[s] for s in chain] for chain in found.chains]
    assert names == [["store", "front"]]
    assert list(found.examples.values()) == ["t0000011"]


def test_a_path_knows_what_it_lacks(tmp_path: Path) -> None:
    scan, _ = _calls(tmp_path)
    found = trails(scan, "trace")
    lacking = missing(found["t0000011"], found.values(), scan.miner.final)
    told = [scan.miner.templates[t].text() for t, _, _ in lacking]
    assert ["rows read" in told[0], "request done" in told[1]] == [True, True]
    assert {(count, usual) for _, count, usual in lacking} == {(28, 28)}
    assert missing(found["t0000001"], found.values(), scan.miner.final) == []


def test_the_steps_of_an_id_are_in_the_order_of_time_over_files(tmp_path: Path) -> None:
    scan, _ = _calls(tmp_path)
    path = trails(scan, "trace")["t0000003"]
    assert [row.file for row in path.steps] == [0, 1, 1, 0]
    assert path.errors == 0


def test_a_log_without_ids_has_no_paths(tmp_path: Path) -> None:
    scan, _ = read(tmp_path, log(*((float(n), f"INFO served {n}") for n in range(50))))
    assert id_kind(scan) == ""
    assert propagation(scan).paths == 0
