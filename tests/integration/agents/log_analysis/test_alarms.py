"""Alarms, comparisons, entities and ids over real and healthy logs, through the tools as the model calls them."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from agents.log_analysis.asking import comparing
from agents.log_analysis.judging.alarms import alarms
from agents.log_analysis.judging.changepoints import changes_of
from agents.log_analysis.judging.restarts import restarts
from agents.log_analysis.judging.silences import silences
from agents.log_analysis.reading import ANSWER_BYTES
from agents.runtime.claims import claims
from kernel.errors import Correctable
from ops.bench.alarms import TOP, alarmed, confusion, minutes, read, strip_labels
from tests.support import healthy_logs, log_scans


@pytest.fixture
def labelled(data: Path) -> Path:
    path = data / "loghub_2k" / "BGL" / "BGL_2k.log"
    if not path.exists():
        pytest.skip(f"{path} is missing")
    return path


@pytest.fixture
def nezha(data: Path) -> Path:
    if not (data / "nezha").is_dir():
        pytest.skip(f"{data / 'nezha'} is missing")
    return data / "nezha"


def test_alarms_on_labelled_lines_beat_the_level_alone(labelled: Path) -> None:
    ours, level = confusion(labelled)
    print(f"ours {ours.scores} level alone {level.scores}")
    for row in ours.templates:
        if row["alarm"] != bool(row["labelled"]):
            print(row)
    assert level.scores["f1"] == pytest.approx(0.58, abs=0.02)
    assert ours.scores["f1"] >= 0.9
    assert ours.scores["recall"] >= 0.95


def test_the_label_column_changes_nothing(labelled: Path, tmp_path: Path) -> None:
    bare, shuffled = tmp_path / "bare.log", tmp_path / "shuffled.log"
    strip_labels(labelled, bare)
    rows = [line.split(b" ", 1) for line in labelled.read_bytes().splitlines()]
    labels = [row[0] for row in rows]
    random.Random(7).shuffle(labels)
    shuffled.write_bytes(
        b"".join(b"%b %b\n" % (label, row[1]) for label, row in zip(labels, rows, strict=True))
    )
    assert alarmed(read(bare)) == alarmed(read(labelled)) == alarmed(read(shuffled))


def test_the_faulty_service_is_among_the_first_three(nezha: Path) -> None:
    rows = minutes(nezha)
    for row in rows:
        print(row["minute"], row["injected"], "rank", row["rank"], row["ranked"])
    named = [row for row in rows if row["injected"]]
    assert len(named) >= 3
    assert [row["minute"] for row in named if not 1 <= row["rank"] <= TOP] == []


@pytest.mark.parametrize("kind", healthy_logs.ALL)
def test_a_healthy_log_gives_no_alarm(kind: str, tmp_path: Path) -> None:
    false, told = 0, 0
    for seed in range(1, 4):
        scan, summary = log_scans.read(tmp_path, healthy_logs.ALL[kind](seed=seed))
        assert summary.events > 400
        false += sum(a.raised for a in alarms(scan, summary))
        false += len(silences(scan, summary)) + len(restarts(scan, summary))
        told += len(changes_of(scan, summary))
    print(f"{kind}: {false} false alarms, {told} changes of harmless kinds in 3 logs")
    assert false == 0
    assert told <= 3


def _shop(files: int = 1) -> list[str]:
    """Requests over two services; from the 400th on the store of node-2 fails."""
    rng = random.Random(1)
    texts = [[] for _ in range(files)]
    for number in range(600):
        second, node = number * 2.0, rng.randrange(4)
        one = f"trace_id=t{number:08} node=node-{node}"
        out = texts[number * files // 600]
        out.append(f"{log_scans.stamp(second)} INFO front - {one} request in")
        out.append(f"{log_scans.stamp(second + 0.01)} INFO store - {one} query")
        if number >= 400 and node == 2:
            out.append(f"{log_scans.stamp(second + 0.02)} ERROR store - {one} disk gone")
            out.append(f"{log_scans.stamp(second + 0.03)} ERROR front - {one} call failed")
        else:
            out.append(f"{log_scans.stamp(second + 0.02)} INFO store - {one} rows read")
            out.append(f"{log_scans.stamp(second + 0.03)} INFO front - {one} request done")
    return ["\n".join(lines) + "\n" for lines in texts]


async def test_one_node_is_told_from_all(desk, logs) -> None:
    ctx = desk.ctx([logs("shop.log", _shop()[0])])
    answer = await desk.call(ctx, "entities", by="node", level="error")
    assert answer["statement"].startswith("only node-2 (")
    assert answer["entities"][0]["share"] == 1.0
    assert answer["entities"][0]["share_of_all"] < 0.4
    by_ip = await desk.call(ctx, "entities", by="trace", limit=5)
    assert (by_ip["entities_total"], by_ip["cursor"]) == (600, "5")
    more = await desk.call(ctx, "entities", by="trace", limit=5, cursor="5")
    assert not {r["entity"] for r in more["entities"]} & {r["entity"] for r in by_ip["entities"]}
    with pytest.raises(Correctable):
        await desk.call(ctx, "entities", by="no field!")


async def test_an_id_is_followed_and_ids_with_errors_are_proposed(desk, logs) -> None:
    ctx = desk.ctx([logs("shop.log", _shop()[0])])
    offered = await desk.call(ctx, "follow")
    assert offered["kind"] == "trace"
    assert [row["order"] for row in offered["chains"]] == [["store", "front"]]
    assert offered["fails_first"][0]["service"] == "store"
    one = offered["failed"][0]["id"]
    answer = await desk.call(ctx, "follow", id=one)
    assert answer["events"] == 4
    assert "disk gone" in answer["first_error"]["quote"]
    assert [row["template"].rpartition("> ")[2] for row in answer["missing"]] == ["rows read", "request done"]
    assert [row["level"] for row in answer["lines"]] == ["info", "info", "error", "error"]
    with pytest.raises(Correctable):
        await desk.call(ctx, "follow", id="t99999999")


async def test_two_files_are_compared_and_the_failing_service_is_named(desk, logs) -> None:
    early, late = (logs(f"{n}.log", text) for n, text in enumerate(_shop(2)))
    ctx = desk.ctx([early, late])
    answer = await desk.call(ctx, "compare", before=str(early), after=str(late))
    assert {row["level"] for row in answer["new"]} == {"error"}
    assert answer["vanished_total"] == answer["more_total"] == 0
    assert answer["services"][0]["service"] == "store"
    for row in answer["services"]:  # an answer in Chinese says the numbers of the reasons in words of its own
        said = {claim.value for reason in row["reasons"] for claim in claims(reason) if claim.kind == "count"}
        assert said
        assert said <= set(row["reason_counts"])
    assert all(row["q"] < 0.01 for row in answer["fewer"])


async def test_the_log_chooses_its_baseline_and_tells_its_changes(desk, logs) -> None:
    ctx = desk.ctx([logs("shop.log", _shop()[0])])
    answer = await desk.call(ctx, "compare", baseline="auto")
    assert answer["baseline"] == "first_error"
    assert {row["level"] for row in answer["new"]} == {"error"}
    changes = await desk.call(ctx, "changes", level="error")
    assert changes["groups"][0]["together"] == 2
    assert {row["direction"] for row in changes["groups"][0]["changes"]} <= {"start", "up"}
    assert changes["groups"][0]["where"].startswith("only node-2")
    for wrong in ("deploy", "yesterday"):
        with pytest.raises(Correctable):
            await desk.call(ctx, "compare", baseline=wrong)


async def test_answers_on_large_minutes_fit(desk, nezha: Path) -> None:
    paths = sorted(p for p in nezha.iterdir() if p.name.endswith(".csv.gz"))[:2]
    ctx = desk.ctx(paths)
    for name, arguments in (("follow", {}), ("changes", {}), ("entities", {"by": "trace", "limit": 40})):
        answer = await desk.call(ctx, name, **arguments)
        assert len(str(answer).encode()) < ANSWER_BYTES * 1.2, name


async def test_the_report_judges_the_minute_of_the_fault_by_the_fault_free_one(desk, nezha: Path) -> None:
    free, fault = (next(iter(sorted(nezha.glob(name)))) for name in ("fault_free_*", "fault_*_10_20_*"))
    done = await desk.analyse(free, fault, request="why do the calls fail since 10:19?")
    compared = next(c.value for c in done.calls if c.tool == "compare")
    assert next(row["service"] for row in compared["services"]) == "ts-travel-service"
    assert "1. ts-travel-service" in done.outcome.answer
    cited = {e.source for f in done.outcome.findings[:1] for e in f.evidence}
    assert cited == {str(fault)}
    await desk.check_evidence(done)


@pytest.mark.parametrize("moment", ["", "2026-11-29T10:00:00Z "])
async def test_a_silence_of_a_log_without_times_is_told_in_events(desk, logs, moment) -> None:
    beats = [
        f"{moment}INFO served {n}" + (f"\n{moment}INFO beat of the heart" if n < 2000 and n % 4 == 0 else "")
        for n in range(6000)
    ]
    ctx = desk.ctx([logs("untimed.log", "\n".join(beats) + "\n")])
    (first,) = (await desk.call(ctx, "overview"))["silences"]
    assert "seconds" not in first
    assert first["events"] == pytest.approx(4000, abs=20)
    answer = await desk.call(ctx, "changes")
    (silence,) = answer["silences"]
    assert "seconds" not in silence
    assert silence["events"] == pytest.approx(4000, abs=20)
    assert answer["rates_per"].endswith(" events")


async def test_services_that_were_not_ranked_are_said(desk, logs, monkeypatch) -> None:
    path = logs("app.log", _shop()[0])
    monkeypatch.setattr(comparing, "_RANKED_EVENTS", 10)
    answer = await desk.call(desk.ctx([path]), "compare", baseline="half")
    assert "services were not ranked: over 10 events" in answer["services_note"]
    assert "services" not in answer


@pytest.mark.parametrize("bucket", ["9" * 400 + "s", "1" * 50_000 + " ", " " * 50_000])
async def test_a_width_beyond_all_numbers_is_refused_shortly(desk, logs, bucket) -> None:
    path = logs("app.log", _shop()[0])
    with pytest.raises(Correctable, match="is no width") as told:
        await desk.call(desk.ctx([path]), "histogram", bucket=bucket)
    assert len(str(told.value)) < 300
