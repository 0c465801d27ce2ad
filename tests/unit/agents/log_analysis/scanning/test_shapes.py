"""What is remembered of a shape must say what parsing says: of every line, whatever its digits are."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.formats.parsing import Parser, Record
from agents.log_analysis.scanning.ledger import FileFacts, Ledger
from agents.log_analysis.scanning.probing import DIGITS, hexed
from agents.log_analysis.scanning.reader import Reader
from agents.log_analysis.sources.bodies import Body
from ops.bench.logsize_lines import write


class Counting(Parser):
    """A parser that counts the lines it was given."""

    parsed = 0

    def parse(self, text: str, nesting: int = 0) -> Record:
        self.parsed += not nesting
        return super().parse(text, nesting)


Told = tuple[int, float | None, Level, str, str, str]


def told(path: Path, *, remember: bool) -> tuple[list[Told], int, dict[str, int], FileFacts]:
    """Return what comes of a log, how many lines were parsed, and the counts."""
    parser, ledger, facts = (
        Counting(datetime(2026, 11, 30, tzinfo=UTC)),
        Ledger(path.parent / "s"),
        FileFacts("x"),
    )
    with path.open("rb") as file:
        Reader(Body(file, path.stat().st_size), parser, ledger, facts, remember=remember).read()
    miner = ledger.miner
    rows = [
        (
            row.line,
            None if row.time != row.time else round(row.time, 5),
            Level(row.level),
            miner.templates[miner.final(row.template)].text(),
            ledger.services.all[row.service],
            ledger.hosts.all[row.host],
        )
        for row in ledger.table
    ]
    counts = {miner.templates[n].text(): miner.templates[n].count for n in miner.live()}
    return rows, parser.parsed, {**counts, **parser.tally.forms}, facts


def same(path: Path) -> tuple[int, int]:
    """Check that remembering changes nothing; return how many lines were parsed, without and with it."""
    plain, all_parsed, counts, facts = told(path, remember=False)
    known, parsed, same_counts, same_facts = told(path, remember=True)
    assert known == plain
    assert (same_counts, same_facts) == (counts, facts)
    return all_parsed, parsed


def repeated(lines: Sequence[str], times: int = 40, seed: int = 3) -> str:
    """Return lines again and again with other digits; a stamp keeps to what a clock may show."""
    chance = random.Random(seed)

    def other(found: re.Match[str]) -> str:
        return found[1] + "".join(chance.choice("123456789") for _ in found[2])

    written = []
    for number in range(times):
        for line in lines:
            moment = f"2026-03-01T06:{number % 60:02}:{chance.randrange(60):02}.{chance.randrange(1000):03}Z"
            text = line.replace("STATUS", str(chance.choice([200, 204, 404, 500, 503])))
            text = text.replace("HEX", f"{chance.getrandbits(128):032x}")
            written.append(re.sub(r"([#=:/ ])N+()", lambda m: m[0], text))
            written[-1] = re.sub(r"()(N+)\b", other, written[-1]).replace("TIME", moment)
    return "".join(f"{line}\n" for line in written)


def test_a_log_of_services_is_read_the_same_and_seldom_parsed(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    write(path, 0.7)
    all_parsed, parsed = same(path)
    assert parsed < all_parsed * 0.7


def test_digits_that_decide_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(
        repeated(
            [
                '{"time":"TIME","level":"info","service":"pod-N","status":STATUS,"msg":"done in NN ms","id":"HEX"}',
                '{"time":"TIME","level":NN,"hostname":"node-NN","msg":"number as a level"}',
                '10.0.0.N - - [01/Mar/2026:06:00:0N +0000] "GET /a/NNN HTTP/1.1" STATUS NNNN "-" "x"',
                "TIME INFO shop [host-N] order NNNN took NN ms trace=HEX",
                "TIME finished with N errors",
                "<NN>1 TIME web-N app - - - words of NN",
                'ts=TIME level=info status=STATUS msg="logfmt NN"',
            ]
        ),
        encoding="utf-8",
    )
    all_parsed, parsed = same(path)
    assert parsed < all_parsed


def test_a_trace_joins_the_line_of_a_known_shape_before_it(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    head = "2026-03-01T06:00:{:02}Z ERROR shop order {} failed\n"
    trace = "java.lang.IllegalStateException: no stock\n\tat a.B.c(B.java:{})\nCaused by: java.io.IOException: gone\n"
    path.write_text(
        "".join(head.format(n, n + 10) + (trace.format(n) if n % 5 == 4 else "") for n in range(60))
    )
    same(path)


def test_a_new_header_gives_rows_another_meaning(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    row = "2026-03-01 06:00:{:02} {} {} GET /a\n"
    first = "#Fields: date time sc-status time-taken cs-method cs-uri-stem\n"
    second = "#Fields: date time time-taken sc-status cs-method cs-uri-stem\n"
    rows = "".join(row.format(n, 200 if n % 2 else 500, 301) for n in range(50))
    path.write_text(first + rows + second + rows)
    same(path)


def test_broken_bytes_colours_and_cjk_are_read_the_same(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    lines = [
        f"2026-03-01T06:00:{n % 60:02}Z ERROR 订单 {n} 支付失败".encode() + (b" \xff\xfe" if n % 3 else b"")
        for n in range(90)
    ]
    lines += [f"\x1b[31m2026-03-01T06:01:{n % 60:02}Z WARN slow {n}\x1b[0m".encode() for n in range(60)]
    lines += [f"2026-03-01T06:02:{n % 60:02}Z ERROR 磁盘 {n} 已满".encode("gbk") for n in range(60)]
    path.write_bytes(b"\n".join(lines))
    same(path)


def test_stamps_without_a_year_go_on_past_new_year(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    path.write_text(
        "".join(f"Dec 31 23:59:{n:02} web app[12]: tick {n}\n" for n in range(60))
        + "".join(f"Jan  1 00:00:{n:02} web app[12]: tick {n}\n" for n in range(60))
    )
    same(path)


def test_a_hexadecimal_number_is_one_shape_and_keeps_its_length() -> None:
    one, two = b"id=9f86d081884c7d65 done 12", b"id=2c26b46b68ffc68f done 98"
    assert hexed(one.translate(DIGITS)) == hexed(two.translate(DIGITS)) == b"id=0000000000000000 done 00"
    assert hexed(b"defaced effaced") == b"defaced effaced"
