"""Hard input: the made-up files of shared/data/synthetic, and every lnav and Nezha file read without loss."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
from dataclasses import replace
from datetime import datetime
from pathlib import Path

import pytest

from agents.log_analysis.reading import open_reading
from kernel.contracts import Source
from kernel.errors import Correctable, NightdeskError, Refused

SECRET = "S3cr3t-Pa55!"


def physical_lines(raw: bytes) -> int:
    return raw.count(b"\n") + (not raw.endswith(b"\n") and bool(raw))


@pytest.fixture
def synthetic(data: Path) -> Path:
    return data / "synthetic"


@pytest.fixture
def expected(synthetic: Path) -> dict:
    return json.loads((synthetic / "EXPECTED.json").read_text(encoding="utf-8"))


async def test_mixed_gbk_and_utf8_make_one_template(desk, synthetic: Path, expected) -> None:
    answer = await desk.call(desk.ctx([synthetic / "mixed_gbk_utf8.log"]), "overview")
    assert answer["lines"] == expected["mixed_gbk_utf8.log"]["lines"]
    assert answer["templates"] == 1
    hits = await desk.call(
        desk.ctx([synthetic / "mixed_gbk_utf8.log"]), "search", pattern="连接超时", limit=1
    )
    assert hits["total"] == 200


@pytest.mark.parametrize(
    ("name", "errors"),
    [("utf16le_bom.log", 1), ("huge_line.log.gz", 1), ("docker_json_nested.log", 5), ("binary_junk.log", 2)],
)
async def test_errors_are_counted(desk, synthetic: Path, expected, name, errors) -> None:
    assert expected[name]["errors"] == errors
    answer = await desk.call(desk.ctx([synthetic / name]), "overview")
    assert answer["levels"]["error"] == errors
    assert answer["lines"] == expected[name].get("lines", answer["lines"])


async def test_a_five_megabyte_line_keeps_level_and_message_and_its_cut_is_told(
    desk, synthetic: Path
) -> None:
    answer = await desk.call(desk.ctx([synthetic / "huge_line.log.gz"]), "overview")
    assert "upstream failed" in answer["problems"][0]["message"]
    assert "very long line" in " ".join(answer["files"][0]["notes"])
    assert len(json.dumps(answer)) < 12_000


async def test_the_hole_of_copytruncate_is_skipped_and_told(desk, synthetic: Path, expected) -> None:
    facts = expected["copytruncate_nul_prefix.log.gz"]
    answer = await desk.call(desk.ctx([synthetic / "copytruncate_nul_prefix.log.gz"]), "overview")
    assert answer["lines"] == facts["lines"]
    assert f"{facts['nul_prefix_bytes']:,} NUL" in " ".join(answer["files"][0]["notes"])


async def test_container_parts_are_joined_by_stream(desk, synthetic: Path, expected) -> None:
    answer = await desk.call(desk.ctx([synthetic / "cri_partial_interleaved.log"]), "overview")
    assert answer["events"] == expected["cri_partial_interleaved.log"]["events"]
    messages = [row["message"] for row in answer["problems"]]
    assert "part1-part2-part3" in messages
    assert sum("IllegalStateException" in m for m in messages) == 1


async def test_a_secret_in_json_in_json_leaks_nowhere(desk, synthetic: Path, expected) -> None:
    assert expected["docker_json_nested.log"]["secret_must_not_leak"] == SECRET
    path = synthetic / "docker_json_nested.log"
    ctx = desk.ctx([path])
    answers = [
        await desk.call(ctx, "overview"),
        await desk.call(ctx, "search", pattern="password"),
        await desk.call(ctx, "context", source=str(path), line=3),
        await desk.call(ctx, "compare", split_at="2024-02-02T02:02:02Z"),
        (await desk.analyse(path)).outcome.model_dump(mode="json"),
    ]
    assert SECRET not in json.dumps(answers)


async def test_a_rotated_set_is_one_log_of_29_minutes(desk, synthetic: Path) -> None:
    names = ["rot_app.log", "rot_app.log.1", "rot_app.log.2.gz"]
    ctx = desk.ctx([synthetic / n for n in names])
    answer = await desk.call(ctx, "overview")
    start, end = (datetime.fromisoformat(answer["window"][side]) for side in ("from", "to"))
    assert (end - start).total_seconds() == 29 * 60
    assert answer["levels"]["error"] == 1
    hits = (await desk.call(ctx, "search", pattern=r"tick \d+", limit=50))["hits"]
    ticks = [int(h["quote"].rsplit(" ", 1)[-1]) for h in hits]
    assert ticks == sorted(ticks)
    assert [Path(f["source"]).name for f in answer["files"]] == names[::-1]


async def test_colours_are_gone_and_split_words_are_found(desk, synthetic: Path, expected) -> None:
    ctx = desk.ctx([synthetic / "ansi.log"])
    hits = await desk.call(ctx, "search", pattern="error split by colour")
    assert hits["total"] == 1
    everything = json.dumps(
        [hits, await desk.call(ctx, "overview"), await desk.call(ctx, "search", limit=50)]
    )
    assert "\\u001b" not in everything
    assert "evil.example" not in everything
    assert set(expected["ansi.log"]["levels"]) <= {
        name.upper() for name in (await desk.call(ctx, "overview"))["levels"]
    }


async def test_a_cut_archive_and_a_bomb_are_read_as_far_as_wanted(desk, synthetic: Path) -> None:
    answer = await desk.call(desk.ctx([synthetic / "truncated.log.gz"]), "overview")
    assert answer["lines"] > 2000
    assert "cut" in answer["files"][0]["notes"][0]
    answer = await desk.call(desk.ctx([synthetic / "bomb_200MiB.log.gz"]), "overview")
    assert "bomb" in " ".join(answer["files"][0]["notes"])


async def test_planted_secrets_are_hidden_and_look_alikes_are_kept(desk, synthetic: Path, logs) -> None:
    rows = [
        json.loads(line)
        for line in (synthetic / "redaction.jsonl").read_text(encoding="utf-8").split("\n")
        if line
    ]
    path = logs("app.log", "".join(f"2026-01-01T00:00:00Z ERROR {row['line']}\n" for row in rows))
    hits = (await desk.call(desk.ctx([path]), "search", limit=50))["hits"]
    pairs = list(zip(rows, (hit["quote"] for hit in hits), strict=True))
    assert [r["must_hide"] for r, text in pairs if "must_hide" in r and r["must_hide"] in text] == []
    assert [r["must_keep"] for r, text in pairs if "must_keep" in r and r["must_keep"] not in text] == []


async def test_every_injection_is_only_a_line(desk, synthetic: Path, logs) -> None:
    rows = [
        json.loads(line)
        for line in (synthetic / "injection.jsonl").read_text(encoding="utf-8").split("\n")
        if line
    ]
    for number, row in enumerate(rows):
        text = row["log"].replace("\n", " ")
        path = logs(f"{number}.log", f"2026-01-01T00:00:00Z INFO ok\n2026-01-01T00:00:01Z ERROR {text}\n")
        analysis = await desk.analyse(path)
        assert {call.tool for call in analysis.calls} <= set(desk.tools)
        assert all(tool.effect == "read" for tool in desk.tools.values())
        assert await desk.check_evidence(analysis) >= 1
        assert analysis.outcome.findings[0].evidence[0].line == 2


def test_every_lnav_file_is_read_without_losing_a_line(desk, data: Path) -> None:
    files = [p for p in sorted((data / "lnav").iterdir()) if p.name.startswith(("log", "datafile"))]
    assert len(files) >= 50
    for path in files:
        reading = open_reading(desk.ctx([path]))
        body, facts = reading.scan.body(0), reading.scan.facts[0]
        assert body.lines == physical_lines(path.read_bytes()), path.name
        assert len(dict(body.texts())) == body.lines
        assert facts.events > 0
        assert facts.events <= body.lines or facts.form == "otlp", (
            path.name
        )  # a line may be a batch of records
        assert reading.scan.table.rows == facts.events


@pytest.mark.parametrize(("minute", "lines"), [("09_34", 315), ("09_35", 451), ("10_20", 245)])
async def test_nezha_minutes_are_read_whole_with_service_and_time(desk, data: Path, minute, lines) -> None:
    path = data / "nezha" / f"fault_2023-01-29_{minute}_log.csv.gz"
    answer = await desk.call(desk.ctx([path]), "overview")
    assert answer["lines"] == lines
    assert answer["events"] == lines
    assert "ts-travel-service" in answer["services"]
    assert answer["window"]["from"].startswith("2023-01-29T")
    assert answer["levels"]["info"] > 0


@pytest.mark.parametrize("pack", [gzip.compress, bz2.compress, lzma.compress])
async def test_compression_is_told_by_content_not_by_name(desk, logs, pack) -> None:
    path = logs("app.log", pack(b"2026-01-01T00:00:00Z ERROR boom\n" * 3))
    assert (await desk.call(desk.ctx([path]), "overview"))["levels"] == {"error": 3}


@pytest.mark.parametrize(
    ("name", "content", "kind", "words"),
    [
        ("empty.log", b"", Correctable, "empty"),
        ("broken.log.gz", b"\x1f\x8b\x08\x0000000:000000", Correctable, "decompress"),
        ("picture.log", b"\x89PNG\r\n\x1a\n" + bytes(range(128, 256)) * 200, Correctable, "not a log"),
        ("app.log.zst", b"\x28\xb5\x2f\xfd" + b"x" * 50, Correctable, "zstd"),
    ],
)
async def test_what_cannot_be_read_says_why_and_what_to_do(desk, logs, name, content, kind, words) -> None:
    path = logs(name, content)
    with pytest.raises(kind, match=words) as error:
        await desk.call(desk.ctx([path]), "overview")
    assert error.value.next_step
    outcome = (await desk.analyse(path)).outcome
    assert outcome.findings == []
    assert words in outcome.not_done[0].why


async def test_outside_the_roots_is_refused(desk, tmp_path: Path) -> None:
    path = tmp_path / "outside.log"
    path.write_text("2026-01-01T00:00:00Z ERROR boom\n")
    with pytest.raises(Refused):
        await desk.call(desk.ctx([path]), "overview")


async def test_one_bad_source_does_not_lose_the_others(desk, logs) -> None:
    good, bad = logs("good.log", "2026-01-01T00:00:00Z ERROR boom\n"), logs("bad.log", b"")
    outcome = (await desk.analyse(good, bad, "/nowhere/x.log")).outcome
    assert outcome.findings
    assert len(outcome.not_done) == 2


async def test_an_attached_file_is_read_by_its_name(desk) -> None:
    artifact = desk.resources.artifacts.put(io.BytesIO(b"2026-01-01T00:00:00Z ERROR boom\n"))
    analysis = await desk.analyse(Source(name="mine.log", artifact=artifact))
    assert analysis.outcome.findings[0].evidence[0].source == "mine.log"
    assert await desk.check_evidence(analysis) == 1


async def test_a_log_that_grew_is_read_again_by_the_next_run(desk, logs) -> None:
    path = logs("app.log", "2026-01-01T00:00:00Z INFO a\n")
    ctx = desk.ctx([path])
    assert (await desk.call(ctx, "overview"))["lines"] == 1
    logs("app.log", "2026-01-01T00:00:00Z INFO a\n2026-01-01T00:00:01Z ERROR b\n")
    assert (await desk.call(ctx, "overview"))["lines"] == 1
    other = replace(ctx, work=ctx.work.model_copy(update={"run_id": "run-2"}))
    assert (await desk.call(other, "overview"))["lines"] == 2


async def test_no_scratch_file_stays_behind(desk, data: Path) -> None:
    await desk.analyse(data / "holmesgpt/generated/71_connection_pool_starvation.log.gz")
    scratch = desk.resources.settings.data / "scratch"
    assert list(scratch.iterdir()) == []


async def test_a_bad_argument_is_correctable(desk, logs) -> None:
    ctx = desk.ctx([logs("app.log", "2026-01-01T00:00:00Z ERROR boom\n")])
    for name, arguments in (
        ("search", {"pattern": "(a"}),
        ("search", {"pattern": r"(a)\1"}),
        ("search", {"level": "loud"}),
        ("search", {"since": "yesterday"}),
        ("search", {"cursor": "x"}),
        ("search", {"source": "other.log"}),
        ("context", {"source": str(ctx.work.sources[0].name), "line": 99}),
        ("compare", {}),
        ("compare", {"before": "a..b", "after": "c..d"}),
        ("histogram", {"bucket": "often"}),
    ):
        with pytest.raises(NightdeskError) as error:
            await desk.call(ctx, name, **arguments)
        assert error.value.code == "invalid", (name, arguments)
