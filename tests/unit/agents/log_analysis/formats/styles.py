"""Made-up lines in the styles of many programs, beyond one sample for each kind, with what they say."""

from __future__ import annotations

from tests.unit.agents.log_analysis.formats.samples import Sample

T0 = "2025-11-29T10:20:00.000Z"
HALF = "2025-11-29T10:20:00.500Z"
FROM_CHINA = "2025-11-29T02:20:00.000Z"

#: By the style's name.
STYLES: dict[str, Sample] = {
    "times: a moment that a line only tells of": Sample(
        "syslog", ["Nov 29 10:20:00 n1 pay[7]: next run at 2025-12-24 00:00:00"],
        ["unknown"], T0, "next run at 2025-12-24 00:00:00", "pay",
    ),
    "times: a line with its own time behind that of syslog": Sample(
        "log4j", ["Nov 29 10:19:58 n1 pay[7]: 2025-11-29T10:20:00.5Z ERROR [main] boom"],
        ["error"], HALF, "boom",
    ),
    "times: year beside a head without one": Sample(
        "syslog", ["Nov 29 10:20:00 n1 lb[7]: 10.0.0.1:5 [29/Nov/2025:10:19:58.655] in be/s1 1/0/3/6/9 503 27 - -"],
        ["unknown"], T0, "10.0.0.1:5 [29/Nov/2025:10:19:58.655] in be/s1 1/0/3/6/9 503 27 - -", "lb",
    ),
    "times: the zone of a place": Sample(
        "text", ["[29-Nov-2025 10:20:00 Asia/Shanghai] PHP Warning:  no file", "[29-Nov-2025 10:20:01 Asia/Nowhere] PHP Notice:  x"],
        ["warning", "info"], FROM_CHINA, "no file",
    ),
    "times: a zone in a field": Sample(
        "logfmt", ['date=2025-11-29 time=10:20:00 tz="+0800" level="warning" msg="blocked"'],
        ["warning"], FROM_CHINA, "blocked",
    ),
    "times: a zone after the year": Sample("text", ["Sat Nov 29 05:20:00 2025 -05:00 x"], ["unknown"], T0, "x"),
    "times: half of the day in front": Sample(
        "text", ["2025-11-29 下午 6:20:00 [错误] 磁盘已满", "2025/11/29 上午 10:20:01 WARN x"],
        ["error", "warning"], "2025-11-29T18:20:00.000Z", "磁盘已满",
    ),
    "times: month and day in Chinese": Sample("text", ["11月29日 10:20:00 错误: 磁盘已满"], ["error"], T0, "磁盘已满"),
    "times: single digits, no seconds": Sample("text", ["2025/11/29 9:05 ERROR x"], ["error"], "2025-11-29T09:05:00.000Z", "x"),
    "times: a comma and then a long number": Sample(
        "text", ["1,2025/11/29 10:20:00,001801000001,TRAFFIC"], ["unknown"], T0, "001801000001,TRAFFIC",
    ),
    "times: glued with a colon": Sample("text", ["  7:20251129:102000.500 cannot connect"], ["warning"], HALF, "cannot connect"),
    "times: day and clock with a dash between": Sample("text", ["11/29/2025-10:20:00.5  [**] x"], ["unknown"], HALF, "[**] x"),
    "times: strace": Sample("text", ["[pid  12] 10:20:00.5 close(3) = 0"], ["unknown"], "2025-11-30T10:20:00.500Z", "close(3) = 0"),
    "times: what journalctl says itself": Sample(
        "syslog", ["-- Logs begin at Sat 2025-11-01 00:00:00 UTC. --", "2025-11-29T10:20:00+0000 n1 pay[7]: x", "2025-11-29T10:20:00+0000 n1 pay[7]: y"],
        ["unknown", "unknown", "unknown"], T0, "-- Logs begin at Sat 2025-11-01 00:00:00 UTC. --",
    ),
    "levels: short forms": Sample(
        "text",
        ["2025-11-29 10:20:00.5 +00:00 [FTL] no", "[10:20:00 INF] up", "2025-11-29T10:20:00Z WRN slow", "ERRO[0012] x", "2025-11-29 10:20:00 ratio INF"],
        ["fatal", "info", "warning", "error", "unknown"], HALF, "no",
    ),
    "levels: of a column, whatever is said": Sample(
        "text",
        ["11-29 10:20:00.500  12  34 E Pay: FATAL page", "2025-11-29T10:20:00.5Z I NET      [c1] ERROR page", "E/Pay     (  12): INFO",
        "[11/29/25 10:20:00:500 UTC] 0000001a PayService    W   PAY1: x", "2025-11-29 10:20:00.5+0000 0x1a  Fault  0x0  1  0  pay: x",
        "kern  :err   : [  1.5] x", "2025-11-29 10:20:00 I/O went on"],
        ["error", "info", "error", "warning", "fatal", "error", "unknown"], HALF, "Pay: FATAL page",
    ),
    "levels: network devices": Sample(
        "text", ["Nov 29 2025 10:20:00 fw1 : %ASA-3-710003: x", "*Nov 29 10:20:00.5: %LINK-5-UPDOWN: x", "Nov 29 2025 10:20:00 s1 %%01IFNET/4/STATE(l): x"],
        ["error", "info", "warning"], T0, "fw1 : %ASA-3-710003: x",
    ),
    "levels: Redis": Sample(
        "text", ["7:M 29 Nov 2025 10:20:00.500 * up", "7:M 29 Nov 10:20:01.000 . x", "7:M 29 Nov 10:20:01.000 # WARNING x"],
        ["info", "debug", "warning"], HALF, "up",
    ),
    "levels: the status of a request": Sample(
        "text",
        ['[2025-11-29T10:20:00.500Z] "GET /a HTTP/1.1" 503 UF,URX x "-"', '2025-11-29T10:20:00.5Z lb 10.0.0.1:28 - -1 -1 -1 504 0 0 0 "GET http://a:80/ HTTP/1.1"',
        "1764411600.500  9 10.0.0.1 TCP_MISS/503 0 GET http://a/ -", '[GIN] 2025/11/29 - 10:20:00 | 500 | 1ms | 10.0.0.1 | GET "/x"'],
        ["error", "error", "error", "error"], HALF, '"GET /a HTTP/1.1" 503 UF,URX x "-"',
    ),
    "levels: what only sounds bad": Sample(
        "text", ["2025-11-29T10:20:00.5+0000: 12.3: [GC (Allocation Failure) 6K->1K(7K), 0.01 secs]"],
        ["unknown"], HALF, "12.3: [GC (Allocation Failure) 6K->1K(7K), 0.01 secs]",
    ),
    "fields: times by other names": Sample(
        "json",
        ['{"stageTimestamp":"2025-11-29T10:20:00.5Z","verb":"get","responseStatus":{"code":500}}', '{"time_local":"29/Nov/2025:10:20:01 +0000","status":"200"}',
        '{"instant":{"epochSecond":1764411602,"nanoOfSecond":5},"level":"WARN","message":"x"}', '{"loggedTime":"2025-11-29T10:20:03Z","expiryTime":"2030-01-01T00:00:00Z"}'],
        ["error", "unknown", "warning", "unknown"], HALF, "verb=get",
    ),
    "fields: a list of records": Sample(
        "json",
        ['{"Records":[{"eventTime":"2025-11-29T10:20:00Z","eventName":"Start"},{"eventTime":"2025-11-29T10:20:01Z","errorMessage":"not allowed"}]}'],
        ["unknown", "error"], T0, "eventName=Start",
    ),
    "rows: csvlog of PostgreSQL": Sample(
        "csv",
        ['2025-11-29 10:20:00.500 UTC,,,9,,6388.63,4,,2025-11-29 10:19:59 UTC,,0,LOG,00000,"done",,,,,,,,,"","x",,0',
        '2025-11-29 10:20:01.000 UTC,"a","b",9,"h",6388.63,3,"INSERT",2025-11-29 10:19:59 UTC,3/12,0,ERROR,23505,"no ""room""","k",,,,,"insert',
        ' into a",,,"psql","client backend",,0'],
        ["info", "error"], HALF, "done",
    ),
    "rows: flows": Sample(
        "w3c",
        ["version account-id interface-id srcaddr srcport start end action log-status", "2 1 eni-1 10.0.0.1 9 1764411600 1764411660 REJECT OK"],
        ["unknown", "unknown"], T0, "version account-id interface-id srcaddr srcport start end action log-status",
    ),
    "rows: a cell over two lines": Sample(
        "csv", ["time,level,message", '2025-11-29T10:20:00Z,ERROR,"a', 'b"', "2025-11-29T10:20:01Z,INFO,c"],
        ["unknown", "error", "info"], T0, "time,level,message",
    ),
    "blocks: reports of Erlang": Sample(
        "text", ["=ERROR REPORT==== 29-Nov-2025::10:20:00.500000 ===", "** Generic server pay", "", "** Reason: no", "=INFO REPORT==== 29-Nov-2025::10:20:01 ===", "    x: y"],
        ["error", "info"], HALF, "** Generic server pay ** Reason: no",
    ),
    "blocks: heads of two lines": Sample(
        "text",
        ["Nov 29, 2025 10:20:00 AM a.b.Pay charge", "SEVERE: failed", "a.b.NoRoute: x", "\tat a.b.Pay.charge(Pay.java:1)", "Nov 29, 2025 10:20:01 PM a.b.Pay end", "信息: bye"],
        ["error", "unknown", "info"], T0, "failed", "a.b.Pay",
    ),
    "blocks: export of the journal": Sample(
        "journald", ["__CURSOR=s=7", "__REALTIME_TIMESTAMP=1764411600500000", "PRIORITY=3", "SYSLOG_IDENTIFIER=pay", "MESSAGE=boom", "", "__CURSOR=s=8", "PRIORITY=6", "MESSAGE=x"],
        ["error", "info"], HALF, "boom", "pay",
    ),
    "traces: a thread that dies is no part of a warning": Sample(
        "text", ["[2025-11-29T10:20:00Z WARN  pay] slow", "thread 'a' panicked at src/a.rs:1:5:", "no route", "stack backtrace:", "   0: f"],
        ["warning", "error"], T0, "pay] slow",
    ),
    "traces: below a line that names the exception": Sample(
        "plain",
        ["[ERROR] KeyError: 'sku'", "Traceback (most recent call last):", '  File "a.py", line 1, in f', "KeyError: 'sku'",
        "Traceback (most recent call last):", '  File "a.py", line 2, in g', "ValueError: x"],
        ["error", "error"], "", "KeyError: 'sku'",
    ),
    "times: of a common event format": Sample(
        "text", ["CEF:0|Acme|Fire|1.0|100|Allowed|3|rt=1764411600500 src=10.0.0.1"],
        ["unknown"], HALF, "CEF:0|Acme|Fire|1.0|100|Allowed|3|rt=1764411600500 src=10.0.0.1",
    ),
    "traces: of Elixir": Sample(
        "text", ["10:20:00.500 [error] GenServer A terminating", "** (RuntimeError) no", "    (a 0.1.0) lib/a.ex:1: A.f/0", "Last message: :x", "State: %{}"],
        ["error"], "2025-11-30T10:20:00.500Z", "GenServer A terminating",
    ),
    "traces: what is set in below a line with a time": Sample(
        "text", ["2025-11-29 10:20:00.50 Server   Engine 17.0 (X64)", "\tFeb 25 2025 20:54:27", "\tSome Edition", "2025-11-29 10:20:01.00 Server   x"],
        ["unknown", "unknown"], HALF, "Server   Engine 17.0 (X64)",
    ),
}  # fmt: skip
