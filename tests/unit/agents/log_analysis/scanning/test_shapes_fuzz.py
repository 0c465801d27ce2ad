"""Whatever becomes of the digits, words and ids of real lines: remembering shapes changes no event."""

from __future__ import annotations

import random
import re
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.agents.log_analysis.scanning.test_shapes import same, told

DATA = Path(__file__).parents[5].parent / "shared" / "data"
FILES = (
    "lnav/logfile_access_log.0", "lnav/logfile_ecs_log.json", "lnav/logfile_json2.json", "lnav/logfile_logfmt.0",
    "lnav/logfile_mongodb.0", "lnav/logfile_otel_collector.jsonl", "lnav/logfile_postgres.0", "lnav/logfile_rollover.0",
    "lnav/logfile_syslog_with_mixed_times.0", "lnav/logfile_uwsgi.0", "lnav/logfile_vpxd.0", "lnav/logfile_glog.0",
    "loghub_2k/BGL/BGL_2k.log", "loghub_2k/Zookeeper/Zookeeper_2k.log", "loghub_2k/OpenStack/OpenStack_2k.log",
    "loghub_2k/Linux/Linux_2k.log", "synthetic/mixed_gbk_utf8.log", "synthetic/rot_app.log",
)  # fmt: skip
LINES, COPIES = 12, 12
LEVELS = ("INFO", "ERROR", "WARN", "DEBUG", "error", "warning", "E", "W")


def _digits(line: bytes, chance: random.Random, share: float) -> bytes:
    return re.sub(rb"\d", lambda m: b"%d" % chance.randrange(10) if chance.random() < share else m[0], line)


def _numbers(line: bytes, chance: random.Random) -> bytes:
    values = (b"0", b"3", b"60", b"10", b"200", b"500", b"503", b"137", b"000")

    def other(found: re.Match[bytes]) -> bytes:
        fitting = [value for value in values if len(value) == len(found[0])]
        return chance.choice(fitting) if chance.random() < 0.5 else found[0]

    return re.sub(rb"(?<!\d)\d{1,3}(?!\d)", other, line)


def _mutated(line: bytes, chance: random.Random) -> bytes:
    """Return the line of a log with other numbers, ids, levels or words."""
    how = chance.randrange(7)
    if how < 3:
        return _digits(line, chance, (1.0, 0.3, 0.05)[how])
    if how == 3:
        return _numbers(line, chance)
    if how == 4:
        return re.sub(
            rb"(?i)\b(?:info|error|warn(?:ing)?|debug)\b", chance.choice(LEVELS).encode(), line, count=1
        )
    if how == 5:
        signs = chance.choice((b"0123456789abcdef", b"abcdef", b"0123456789"))
        return re.sub(
            rb"\b[0-9a-f]{8,}\b", lambda m: bytes(chance.choice(signs) for _ in range(len(m[0]))), line
        )
    return re.sub(rb"[a-z]{5,}", lambda m: "失败".encode() if chance.random() < 0.05 else m[0], line)


@pytest.mark.skipif(not DATA.is_dir(), reason="needs the shared data beside the repository")
@settings(max_examples=24, derandomize=True, deadline=None)
@given(name=st.sampled_from(FILES), seed=st.integers(0, 1 << 32))
def test_other_digits_levels_and_ids_are_read_the_same(name: str, seed: int) -> None:
    path, chance = DATA / name, random.Random(seed)
    if not path.is_file():
        return
    lines = path.read_bytes().split(b"\n")
    some = chance.sample(lines, min(LINES, len(lines)))
    written = [_mutated(line, chance) if line[:1] != b"#" else line for _ in range(COPIES) for line in some]
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "a.log"
        log.write_bytes(b"\n".join(written))
        known, plain = told(log, remember=True)[0], told(log, remember=False)[0]
    assert known == plain


STAMP = "2026-03-01T06:00:{:02}Z"


@pytest.mark.parametrize(
    "lines",
    [
        # a number with a leading zero is no JSON: the line is read by another way
        ['{{"time":"STAMP","level":"info","msg":"done","took":{:03}}}'],
        # escapes of JSON: their digits are characters, here 错误 and 警告 and more
        [
            '{{"time":"STAMP","level":"\\u9519\\u8bef","msg":"\\u5355\\u5904 {}"}}',
            '{{"time":"STAMP","level":"\\u8b66\\u544a","msg":"\\u7528\\u6237 {}"}}',
            '{{"time":"STAMP","level":"info","msg":"\\u5355\\u5370 {}"}}',
        ],
        # names of fields with digits make other messages
        ['{{"time":"STAMP","disk1":"full","n":{}}}', '{{"time":"STAMP","disk2":"full","n":{}}}'],
        # numbers beside a full stop count too
        ["STAMP upstream said status=500. try {}", "STAMP upstream said status=200. try {}"],
        # the second number decides only where the first is no error
        ['STAMP "GET /a" 200 12 said 503 to {}', 'STAMP "GET /a" 500 12 said 404 to {}', 'STAMP "GET /a" 200 12 said 404 to {}'],
        # nine digits of a second are as long as an id in hexadecimal
        ["2026-03-01T06:00:00.12345678{} ERROR tick", "2026-03-01T06:00:00.1234567a{} ERROR tick"],
        # an id of letters alone may be a word
        ["STAMP INFO job deadbeef of {}", "STAMP INFO job dead1234 of {}", "STAMP INFO job effaced0 of {}"],
        # dashes stand where they stand
        ["STAMP INFO id 12345678-1234 n {}", "STAMP INFO id 1234-12345678 n {}"],
        # a time that there is not, and one that there is
        ["2026-13-01 06:00:0{} tick of a clock", "2026-12-01 06:00:0{} tick of a clock"],
        ['{{"time":"0001-01-01T00:00:00Z","level":"info","n":{}}}', '{{"time":"2026-01-01T00:00:00Z","level":"info","n":{}}}'],
        # one corrupt stamp must not make dates of all that follow
        ["2026-03-01 99:00:00 WARN tick {}", "2026-03-01 06:00:00,123 WARN tick {}"],
        # a clock without a day goes by the day before it, also where that was remembered
        ["STAMP INFO day {}", "STAMP INFO day {}", "23:59:5{} late", "0:00:0{} early", "00:00:0{} early", "12:00:0{} noon"],
    ],
)  # fmt: skip
def test_what_looks_alike_and_is_not_is_told_apart(tmp_path: Path, lines: list[str]) -> None:
    path = tmp_path / "a.log"
    written = [
        line.format(n % 10).replace("STAMP", STAMP.format(n % 60)) for n in range(60) for line in lines
    ]
    path.write_text("\n".join(written), encoding="utf-8")
    same(path)
    path.write_text("\n".join(written[n * 7 % len(written)] for n in range(len(written))), encoding="utf-8")
    same(path)


def test_one_corrupt_stamp_leaves_other_lines_their_clock(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text("2026-03-01 99:00:00 WARN a\n" + "2026-03-01 06:00:05,5 WARN b\n" * 3)
    rows = told(path, remember=False)[0]
    assert {row[1] % 86400 for row in rows[1:]} == {6 * 3600 + 5.5}
