"""Real logs of many kinds: events, levels, first and last time as counted by hand in the files, not by the reader."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agents.log_analysis.formats.events import Assembler, Event
from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.times import iso
from agents.log_analysis.sources.opening import open_body

#: The data folder was laid then; stamps without a year are taken by it.
LAID = datetime(2026, 11, 30, 6, 35, tzinfo=UTC)
LIMIT = 16 << 20


@dataclass
class Fact:
    """What a file holds: lines and events (0: one per line), levels (what is not named is unknown), times, kind."""

    name: str
    lines: int
    first: str
    last: str
    form: str
    levels: dict[str, int] = field(default_factory=dict)
    events: int = 0


LNAV = [
    Fact("log.clog", 2, "2016-08-03T17:06:31.009Z", "2016-08-03T17:06:31.009Z", "json", {"error": 2}),
    Fact("logfile_access_log.1", 1, "2013-02-15T06:00:31.000Z", "2013-02-15T06:00:31.000Z", "access"),
    Fact("logfile_ansi.0", 1, "2022-06-22T10:20:33.000Z", "2022-06-22T10:20:33.000Z", "text"),
    Fact("logfile_bad_access_log.0", 3, "2009-07-20T22:59:26.000Z", "2009-07-20T22:59:29.000Z", "access"),
    Fact("logfile_block.1", 4, "2021-05-19T13:00:01.000Z", "2021-05-19T13:00:03.000Z", "text"),
    Fact("logfile_blued.0", 6, "2026-04-04T20:02:32.000Z", "2026-04-04T20:02:42.000Z", "syslog"),
    Fact("logfile_bro_http.log.0", 206, "2011-11-03T00:19:26.452Z", "2011-11-03T00:21:13.198Z", "tsv"),
    Fact(
        "logfile_caddy_log.0", 39, "2025-10-21T04:10:22.315Z", "2025-10-21T04:12:37.924Z", "compose",
        {"info": 30, "warning": 9},
    ),
    Fact("logfile_cloudflare.1", 15, "2024-04-10T23:00:00.100Z", "2024-04-10T23:00:44.995Z", "json", {"error": 1}),
    Fact(
        "logfile_crlf.0", 2, "2012-07-02T10:22:40.672Z", "2014-10-08T16:56:38.344Z", "python",
        {"debug": 1, "warning": 1},
    ),
    Fact(
        "logfile_docker_compose.0", 22, "2024-04-25T05:32:35.018Z", "2024-04-25T05:54:43.948Z", "compose",
        {"warning": 2, "info": 9},
    ),
    Fact(
        "logfile_docker_compose_with_ts.0", 22, "2024-04-25T05:32:35.584Z", "2024-04-25T05:54:43.948Z", "compose",
        {"warning": 2, "info": 9},
    ),
    Fact(
        "logfile_ecs_log.json", 5, "2025-01-13T09:58:13.631Z", "2025-01-13T09:58:13.634Z", "ecs",
        {"debug": 1, "info": 1, "warning": 1, "error": 1, "fatal": 1},
    ),
    Fact("logfile_epoch.0", 2, "2015-04-10T02:58:07.123Z", "2015-04-10T02:58:07.456Z", "text"),
    Fact("logfile_filter.0", 13, "2025-12-06T13:01:34.000Z", "2025-12-06T13:05:01.000Z", "syslog"),
    Fact("logfile_for_join.0", 10, "2026-04-28T06:53:55.000Z", "2026-04-28T06:53:55.000Z", "syslog"),
    Fact(
        "logfile_generic.1", 2, "2015-04-24T21:09:29.296Z", "2015-04-24T21:09:39.296Z", "text",
        {"info": 1, "error": 1},
    ),
    Fact(
        "logfile_generic.3", 2, "2012-07-02T10:22:40.672Z", "2014-10-08T16:56:38.344Z", "python",
        {"debug": 1, "warning": 1},
    ),
    Fact(
        "logfile_generic_with_header.0", 4, "2012-07-02T10:22:40.672Z", "2014-10-08T16:56:38.344Z", "python",
        {"debug": 1, "warning": 1},
    ),
    Fact("logfile_grafana.0", 5, "2025-04-24T19:51:48.520Z", "2025-04-24T19:51:48.521Z", "logfmt", {"info": 5}),
    Fact(
        "logfile_invalid_json.json", 5, "2013-09-06T20:00:48.124Z", "2013-09-06T22:00:59.222Z", "json",
        {"trace": 1, "info": 2, "debug": 2},
    ),
    Fact("logfile_invalid_tz.0", 2, "2015-04-24T21:08:10.313Z", "2015-04-24T21:08:58.430Z", "text", {"error": 2}),
    Fact("logfile_java.0", 20, "2025-01-24T07:00:30.139Z", "2025-01-24T07:05:38.884Z", "log4j", {"info": 20}),
    Fact(
        "logfile_journald.json", 2, "2018-08-21T14:04:21.221Z", "2018-08-21T14:04:21.221Z", "journald",
        {"fatal": 1, "info": 1},
    ),
    Fact(
        "logfile_json_invalid.json", 13, "2013-09-06T20:00:48.124Z", "2013-09-06T22:01:49.124Z", "json",
        {"trace": 1, "info": 2, "debug": 5, "warning": 1, "error": 1, "fatal": 2},
    ),
    Fact(
        "logfile_laravel.1", 64, "2025-01-02T11:19:06.000Z", "2025-01-02T11:19:06.000Z", "text",
        {"fatal": 2, "info": 2}, 4,
    ),
    Fact(
        "logfile_logfmt.0", 5, "2021-09-15T21:17:10.220Z", "2021-09-15T21:18:20.335Z", "logfmt",
        {"error": 2, "warning": 1, "info": 2},
    ),
    Fact(
        "logfile_mongodb.0", 3, "2026-03-10T20:58:09.401Z", "2026-03-10T20:58:10.004Z", "mongodb",
        {"info": 2, "warning": 1},
    ),
    Fact("logfile_mux_zookeeper.0", 1, "2024-04-04T18:30:55.424Z", "2024-04-04T18:30:55.424Z", "text", {"info": 1}),
    Fact(
        "logfile_mysql_error.0", 4, "2020-08-06T14:25:02.835Z", "2020-08-06T14:25:03.109Z", "text",
        {"info": 3, "warning": 1},
    ),
    Fact("logfile_nextcloud.0", 5, "2023-10-01T02:39:09.000Z", "2023-10-16T01:50:18.000Z", "json", {"info": 5}),
    Fact(
        "logfile_otel_collector.jsonl", 6, "2023-11-14T22:13:20.000Z", "2023-11-14T22:13:30.000Z", "otlp",
        {"info": 5, "warning": 1, "error": 1, "trace": 1, "debug": 1, "fatal": 1}, 11,
    ),
    Fact("logfile_pino.0", 1, "2025-04-24T22:08:37.537Z", "2025-04-24T22:08:37.537Z", "pino", {"info": 1}),
    Fact(
        "logfile_postgres.0", 28, "2025-08-13T08:45:01.123Z", "2025-08-13T08:50:02.010Z", "text",
        {"info": 19, "error": 1}, 21,
    ),
    Fact("logfile_postgres.2", 8, "2025-08-16T11:02:58.095Z", "2025-08-16T11:03:36.581Z", "text", {"error": 2}),
    Fact("logfile_rollover.0", 6, "2026-11-30T00:00:00.000Z", "2026-12-01T00:01:00.000Z", "text", {"debug": 6}),
    Fact("logfile_spark.0", 399, "2017-06-09T20:10:40.000Z", "2017-06-09T20:10:54.000Z", "log4j", {"info": 399}),
    Fact("logfile_strace_log.0", 9, "2026-11-30T08:09:33.814Z", "2026-11-30T08:09:33.816Z", "text"),
    Fact("logfile_syslog.1", 4, "2025-12-03T09:23:38.000Z", "2026-01-03T09:47:02.000Z", "syslog", {"warning": 2}),
    Fact("logfile_syslog.3", 17, "2026-08-16T00:10:45.000Z", "2026-08-16T00:32:15.000Z", "syslog", events=7),
    Fact(
        "logfile_syslog_with_access_log.0", 5, "2026-01-03T09:47:02.000Z", "2026-03-24T14:26:01.000Z", "syslog",
        {"warning": 1},
    ),
    Fact(
        "logfile_syslog_with_mixed_times.0", 13, "2026-09-13T00:58:45.000Z", "2026-09-13T03:46:03.000Z", "syslog",
        {"warning": 1},
    ),
    Fact("logfile_tcsh_history.0", 4, "2006-11-02T17:59:26.000Z", "2006-11-02T17:59:45.000Z", "text"),
    Fact("logfile_uwsgi.0", 19, "2016-03-13T22:49:12.000Z", "2016-03-13T22:56:15.000Z", "text"),
    Fact(
        "logfile_vdsm.0", 16, "2011-12-05T07:04:56.101Z", "2011-12-07T12:14:15.018Z", "text",
        {"info": 2, "error": 1, "debug": 2}, 5,
    ),
    Fact("logfile_vpxd.0", 12, "2022-06-02T11:58:12.193Z", "2022-06-02T11:58:12.914Z", "text", {"info": 12}),
    Fact("logfile_w3c.1", 7, "2001-10-31T08:00:18.000Z", "2001-10-31T08:00:18.000Z", "w3c"),
    Fact("logfile_w3c.3", 10, "2012-08-15T17:00:00.363Z", "2012-08-15T17:00:00.675Z", "w3c", events=7),
    Fact("logfile_w3c_big.0", 254, "2015-01-13T00:32:17.000Z", "2015-01-13T23:15:41.000Z", "w3c"),
    Fact(
        "logfile_with_zones.0", 3, "2022-08-27T14:22:01.613Z", "2022-08-27T14:22:01.888Z", "syslog5424", {"info": 2}
    ),
    Fact(
        "logfile_yday.0", 2, "2012-01-25T10:22:40.672Z", "2014-11-29T16:56:38.344Z", "python",
        {"debug": 1, "warning": 1},
    ),
]  # fmt: skip
SYNTHETIC = [
    Fact("mixed_gbk_utf8.log", 200, "2024-03-01T12:00:00.000Z", "2024-03-02T12:19:00.199Z", "log4j", {"error": 200}),
    Fact(
        "utf16le_bom.log", 2, "2024-05-01T00:00:01.000Z", "2024-05-01T00:00:02.000Z", "text", {"info": 1, "error": 1}
    ),
    Fact(
        "copytruncate_nul_prefix.log.gz", 30, "2024-06-01T00:00:00.000Z", "2024-06-01T00:00:29.000Z", "text",
        {"warning": 30},
    ),
    Fact(
        "huge_line.log.gz", 3, "2024-06-01T00:00:04.000Z", "2024-06-01T00:00:06.000Z", "zap", {"info": 2, "error": 1}
    ),
    Fact(
        "cri_partial_interleaved.log", 8, "2024-01-21T10:10:24.993Z", "2024-01-21T10:10:25.000Z", "cri",
        {"error": 2}, 3,
    ),
    Fact("docker_json_nested.log", 5, "2024-02-02T02:02:00.123Z", "2024-02-02T02:02:04.123Z", "docker", {"error": 5}),
    Fact("rot_app.log.2.gz", 10, "2025-12-31T23:50:00.000Z", "2025-12-31T23:59:00.000Z", "syslog"),
    Fact("rot_app.log.1", 10, "2026-01-01T00:00:00.000Z", "2026-01-01T00:09:00.000Z", "syslog"),
    Fact("rot_app.log", 10, "2026-01-01T00:10:00.000Z", "2026-01-01T00:19:00.000Z", "syslog", {"error": 1}),
]  # fmt: skip
#: Levels as their own columns name them; the label column of BGL names none.
LOGHUB = [
    Fact("Apache", 2000, "2005-12-04T04:47:44.000Z", "2005-12-05T19:15:57.000Z", "text", {"info": 1405, "error": 595}),
    Fact(
        "BGL", 2000, "2005-06-03T22:42:50.000Z", "2006-01-03T15:13:09.000Z", "labelled",
        {"info": 1597, "fatal": 347, "error": 41 + 7, "warning": 8},
    ),
    Fact("HDFS", 2000, "2008-11-09T20:36:15.000Z", "2008-11-11T10:20:17.000Z", "text", {"info": 1920, "warning": 80}),
    Fact(
        "OpenStack", 2000, "2017-05-16T00:00:00.008Z", "2017-05-16T00:14:47.687Z", "text",
        {"info": 1969, "warning": 31},
    ),
    Fact(
        "Zookeeper", 2000, "2015-07-29T17:41:44.747Z", "2015-08-10T18:12:34.004Z", "log4j",
        {"info": 669, "warning": 1318, "error": 13},
    ),
]  # fmt: skip


def read(path: Path, scratch: Path, zone: str = "UTC") -> tuple[list[Event], Parser, int]:
    """Return the events of a file, its parser, and how many lines belong to no event."""
    blank = 0
    with path.open("rb") as file:
        body = open_body(file, path.name, scratch, LIMIT)
        parser = Parser(LAID, zone=zone)
        lines = list(body.index())
        events = list(Assembler(parser).events(lines))
        body.close()
    blank = sum(1 for _, text in lines if not text or text.isspace())
    assert sum(event.lines for event in events) + blank == body.lines, "a line was lost"
    return events, parser, body.lines


def check(path: Path, fact: Fact, scratch: Path) -> None:
    events, parser, lines = read(path, scratch)
    levels = Counter(event.level.name for event in events)
    levels.pop("unknown", None)
    times = [event.record.time for event in events if event.record.time is not None]
    assert (lines, len(events), dict(levels)) == (fact.lines, fact.events or fact.lines, fact.levels)
    assert (iso(times[0]), iso(times[-1]), parser.form) == (fact.first, fact.last, fact.form)
    assert 0.0 < parser.confidence <= 1.0


@pytest.mark.parametrize("fact", LNAV, ids=lambda fact: fact.name)
def test_files_of_many_kinds(data: Path, tmp_path: Path, fact: Fact) -> None:
    check(data / "lnav" / fact.name, fact, tmp_path)


@pytest.mark.parametrize("fact", SYNTHETIC, ids=lambda fact: fact.name)
def test_hard_files(data: Path, tmp_path: Path, fact: Fact) -> None:
    check(data / "synthetic" / fact.name, fact, tmp_path)


@pytest.mark.parametrize("fact", LOGHUB, ids=lambda fact: fact.name)
def test_public_sets(data: Path, tmp_path: Path, fact: Fact) -> None:
    check(data / "loghub_2k" / fact.name / f"{fact.name}_2k.log", fact, tmp_path)


def test_a_label_never_reaches_the_message(data: Path, tmp_path: Path) -> None:
    path = data / "loghub_2k" / "BGL" / "BGL_2k.log"
    labels = {line.split(" ", 1)[0] for line in path.read_text(encoding="utf-8").split("\n") if line} - {"-"}
    events, _, _ = read(path, tmp_path)
    assert len(labels) > 5
    assert [e.message for e in events if e.message.split(" ", 1)[0] in labels] == []


def test_a_cut_archive_gives_what_decodes(data: Path, tmp_path: Path) -> None:
    events, parser, lines = read(data / "synthetic" / "truncated.log.gz", tmp_path)
    assert lines == len(events) == 2399
    assert iso(events[0].record.time) == "2024-01-01T00:00:00.000Z"
    assert (parser.form, parser.confidence > 0.99) == ("text", True)


async def test_what_format_was_taken_and_how_sure_that_is_is_shown(desk, data: Path) -> None:
    answer = await desk.call(
        desk.ctx([data / "lnav" / "logfile_block.1", data / "lnav" / "logfile_pino.0"]), "overview"
    )
    (mixed, sure) = answer["files"]
    assert (mixed["format"], mixed["confidence"]) == ("text", 0.5)
    assert sure["format"] == "pino"
    assert "confidence" not in sure
