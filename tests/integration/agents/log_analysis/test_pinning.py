"""A line that a run cites is the same bytes after the log grew, was rotated, packed, copied away or replaced."""

from __future__ import annotations

import bz2
import errno
import gzip
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import fsspec
import pytest
from backports import zstd
from fsspec.implementations.local import LocalFileSystem

from agents.log_analysis.agent import AGENT
from agents.log_analysis.reading import open_reading
from agents.log_analysis.scanning.library import LIBRARY
from agents.log_analysis.sources.pinning import PINS, Pins
from kernel.artifacts import ArtifactStore
from kernel.contracts import Source
from kernel.errors import NightdeskError

READ = AGENT.read_line
LINES = [f"2026-11-29T10:00:{n % 60:02d}Z INFO request {n} answered in {n * 7 % 90} ms" for n in range(200)]
LINES[150] = "2026-11-29T10:02:30Z ERROR connection refused to 10.0.0.7:5432"
TEXT = "".join(line + "\n" for line in LINES).encode()
NEXT = b"".join(b"2026-11-30T00:00:%02dZ INFO a new day %d\n" % (n % 60, n) for n in range(300))


def elsewhere() -> None:
    """Make this process one that has just started."""
    LIBRARY.clear()
    fresh = Pins()
    PINS._records, PINS._checked = fresh._records, fresh._checked


@pytest.fixture(params=[False, True], ids=["same worker", "other worker"])
def later(request) -> Callable[[], None]:
    return elsewhere if request.param else lambda: None


def plain(path: Path) -> None:
    path.write_bytes(TEXT)


def grown(path: Path) -> None:
    with path.open("ab") as file:
        file.write(NEXT)


def renamed(path: Path) -> None:
    path.rename(path.with_name("app.log.1"))
    path.write_bytes(NEXT)


def packed(pack: Callable[[bytes], bytes], name: str) -> Callable[[Path], None]:
    def change(path: Path) -> None:
        # it went on growing before it was rotated
        path.with_name(name).write_bytes(pack(path.read_bytes() + NEXT))
        path.write_bytes(NEXT)

    return change


def copied_and_truncated(path: Path) -> None:
    shutil.copyfile(path, path.with_name("app.log.1"))
    with path.open("r+b") as file:
        file.truncate(0)
        file.write(NEXT[:500])


def gone_without_successor(path: Path) -> None:
    path.rename(path.with_name("app.log.2026-11-29"))


def rotated_twice(path: Path) -> None:
    renamed(path)
    path.with_name("app.log.2.gz").write_bytes(gzip.compress(path.with_name("app.log.1").read_bytes()))
    path.rename(path.with_name("app.log.1"))
    path.write_bytes(NEXT[::-1])


KEPT = {
    "grown": grown,
    "renamed": renamed,
    "gzip": packed(gzip.compress, "app.log.1.gz"),
    "bzip2 by date": packed(bz2.compress, "app.log-20261129.bz2"),
    "zstd in the middle": packed(zstd.compress, "app-2026-11-29.log.zst"),
    "copytruncate": copied_and_truncated,
    "gone": gone_without_successor,
    "twice": rotated_twice,
}


@pytest.mark.parametrize("change", KEPT.values(), ids=KEPT)
async def test_a_cited_line_is_found_again(desk, logs, later, change) -> None:
    path = logs("app.log", TEXT)
    analysis = await desk.analyse(path)
    before = await desk.call(analysis.ctx, "overview")
    cited = analysis.outcome.findings[0].evidence[0]
    assert (cited.source, cited.line) == (str(path), 151)
    change(path)
    later()
    assert await desk.check_evidence(analysis) >= 1
    assert [await READ(analysis.ctx, str(path), n + 1) for n in (0, 99, 199)] == [
        LINES[n] for n in (0, 99, 199)
    ]
    # what came after is no part of this run, and its counts stay
    assert await READ(analysis.ctx, str(path), 201) is None
    assert await desk.call(analysis.ctx, "overview") == before


def replaced(path: Path) -> None:
    path.unlink()
    path.write_bytes(TEXT.replace(b"request 3 ", b"request X "))


def shortened(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(len(TEXT) // 2)


@pytest.mark.parametrize("change", [replaced, shortened, Path.unlink, lambda p: p.write_bytes(NEXT)])
async def test_other_bytes_are_never_quoted(desk, logs, later, change) -> None:
    path = logs("app.log", TEXT)
    logs("app.log.1", NEXT)
    ctx = desk.ctx([path])
    await desk.call(ctx, "overview")
    change(path)
    later()
    assert await READ(ctx, str(path), 1) is None
    with pytest.raises(NightdeskError, match="no longer holds what this run read"):
        await desk.call(ctx, "overview")
    # the next run reads what is there now
    other = replace(ctx, work=ctx.work.model_copy(update={"run_id": "run-2"}))
    if path.exists():
        assert (await desk.call(other, "overview"))["lines"] > 0


async def test_a_whole_set_moves_on_by_one_and_keeps_its_names(desk, logs, later) -> None:
    def day(number: int) -> bytes:
        return b"".join(b"2026-11-%02dT10:00:%02dZ INFO tick %d\n" % (number, n % 60, n) for n in range(100))

    folder = logs("set/app.log", day(29)).parent
    logs("set/app.log.1", day(28))
    logs("set/app.log.2.gz", gzip.compress(day(27)))
    ctx = desk.ctx([folder])
    before = await desk.call(ctx, "overview")
    names = [Path(f["source"]).name for f in before["files"]]
    assert names == ["app.log.2.gz", "app.log.1", "app.log"]
    (folder / "app.log.2.gz").rename(folder / "app.log.3.gz")
    (folder / "app.log.2.gz").write_bytes(gzip.compress((folder / "app.log.1").read_bytes()))
    (folder / "app.log").rename(folder / "app.log.1")
    (folder / "app.log").write_bytes(day(30))
    later()
    for name, number in zip(names, (27, 28, 29), strict=True):
        assert await READ(ctx, str(folder / name), 1) == f"2026-11-{number}T10:00:00Z INFO tick 0"
    assert await desk.call(ctx, "overview") == before


async def test_a_packed_log_is_found_where_it_was_unpacked(desk, logs, later) -> None:
    path = logs("app.log.1.gz", gzip.compress(TEXT))
    ctx = desk.ctx([path])
    await desk.call(ctx, "overview")
    path.unlink()
    logs("app.log.1", TEXT)
    later()
    assert await READ(ctx, str(path), 151) == LINES[150]


async def test_a_big_log_is_known_by_samples_also_when_it_was_packed(desk, logs, later) -> None:
    text = b"".join(b"2026-11-29T10:00:00Z INFO row %07d\n" % n for n in range(30_000))
    path = logs("big.log", text)
    ctx = desk.ctx([path])
    await desk.call(ctx, "overview")
    path.unlink()
    logs("big.log.1.gz", gzip.compress(text + NEXT, 1))
    later()
    assert await READ(ctx, str(path), 20_001) == "2026-11-29T10:00:00Z INFO row 0020000"


async def test_the_limits_of_a_run_are_told_with_counts(desk, logs) -> None:
    path = logs("app.log", TEXT)
    settings = desk.resources.settings.model_copy(update={"log_max_lines": 100})
    desk.resources = replace(desk.resources, settings=settings)
    answer = await desk.call(desk.ctx([path]), "overview")
    assert answer["lines"] == 100
    assert "limit of 100 lines" in " ".join(answer["files"][0]["notes"])


async def test_format_and_zone_of_a_source_are_used(desk, logs) -> None:
    path = logs("app.log", "2026-01-02 08:00:00 ERROR boom\n")
    for zone, hour in (("Asia/Shanghai", "00"), ("UTC", "08"), ("", "07")):
        settings = desk.resources.settings.model_copy(update={"log_zone": "Europe/Berlin"})
        desk.resources = replace(desk.resources, settings=settings)
        ctx = desk.ctx([Source(name=str(path), path=str(path), zone=zone)])
        assert (await desk.call(ctx, "overview"))["window"]["from"].startswith(f"2026-01-02T{hour}:")
    with pytest.raises(NightdeskError, match="no time zone"):
        open_reading(desk.ctx([Source(name=str(path), path=str(path), zone="Mars/Olympus")]))
    with pytest.raises(NightdeskError, match="no format"):
        open_reading(desk.ctx([Source(name=str(path), path=str(path), format="cuneiform")]))
    reading = open_reading(desk.ctx([Source(name=str(path), path=str(path), format="log4j")]))
    assert reading.scan.facts[0].form == "log4j"


class FullDisk(LocalFileSystem):
    """A file system whose disk is full."""

    protocol = "fulldisk"

    def _open(self, path: str, mode: str = "rb", **fields):
        if "w" in mode:
            raise OSError(errno.ENOSPC, "No space left on device")
        return super()._open(path, mode, **fields)


async def test_a_store_that_is_full_keeps_nobody_from_reading(desk, logs, tmp_path) -> None:
    fsspec.register_implementation("fulldisk", FullDisk, clobber=True)
    desk.resources = replace(
        desk.resources, artifacts=ArtifactStore(f"fulldisk://{tmp_path / 'store'}", max_bytes=1 << 20)
    )
    ctx = desk.ctx([logs("app.log", TEXT)])
    reading = open_reading(ctx)
    assert reading.scan.facts[0].lines == 200
    assert "could not be written down" in " ".join(reading.not_read)
    assert "disk is full" in " ".join(reading.not_read)


async def test_a_broken_file_of_names_keeps_nobody_from_a_path(desk, logs, tmp_path) -> None:
    (tmp_path / "sources.yaml").write_text("sources: [")
    settings = desk.resources.settings.model_copy(update={"log_sources": tmp_path / "sources.yaml"})
    desk.resources = replace(desk.resources, settings=settings)
    assert (await desk.call(desk.ctx([logs("app.log", TEXT)]), "overview"))["lines"] == 200
    with pytest.raises(NightdeskError, match="sources.yaml cannot be used"):
        await desk.call(desk.ctx([Source(name="checkout")]), "overview")


async def test_a_named_set_is_cited_by_its_name_after_its_rotation(desk, later, tmp_path) -> None:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (folder / "app.log").write_bytes(TEXT)
    (tmp_path / "sources.yaml").write_text(f"sources: {{checkout: {{paths: ['{folder}/*.log']}}}}")
    settings = desk.resources.settings.model_copy(update={"log_sources": tmp_path / "sources.yaml"})
    desk.resources = replace(desk.resources, settings=settings)
    analysis = await desk.analyse(Source(name="checkout"))
    cited = analysis.outcome.findings[0].evidence[0]
    assert (cited.source, cited.line) == ("checkout/app.log", 151)
    renamed(folder / "app.log")
    later()
    assert await desk.check_evidence(analysis) >= 1
