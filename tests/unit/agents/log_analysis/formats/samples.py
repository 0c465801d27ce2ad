"""Made-up lines of every kind of log, with what they say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass
class Sample:
    """A log of one kind: its lines, the levels of its events in order, the time of the first, what the first says."""

    form: str
    lines: list[str]
    levels: list[str]
    time: str
    message: str
    service: str = ""


SAMPLES = [
    Sample(
        "journald",
        [
            ('{"__REALTIME_TIMESTAMP":"1764411600123456","PRIORITY":"3","_HOSTNAME":"n1","SYSLOG_IDENTIFIER":"pay",'
            '"MESSAGE":[100,105,115,107,32,102,117,108,108,27,91,48,109]}'),
            '{"__REALTIME_TIMESTAMP":"1764411601000000","PRIORITY":"6","SYSLOG_IDENTIFIER":"pay","MESSAGE":null}',
            ('{"__REALTIME_TIMESTAMP":"1764411602000000","PRIORITY":"4","SYSLOG_IDENTIFIER":"pay",'
            '"MESSAGE":"first\\nsecond"}'),
        ],
        ["error", "info", "warning"],
        "2025-11-29T10:20:00.123Z",
        "disk full",
        "pay",
    ),
    Sample(
        "docker",
        [
            '{"log":"java.lang.IllegalStateException: boom\\n","stream":"stderr","time":"2025-11-29T10:20:00.1Z"}',
            '{"log":"\\tat a.b.C.d(C.java:1)\\n","stream":"stderr","time":"2025-11-29T10:20:00.1Z"}',
            '{"log":"{\\"level\\":\\"warn\\",\\"msg\\":\\"slow\\"}\\n","stream":"stdout","time":"2025-11-29T10:20:01Z"}',
        ],
        ["error", "warning"],
        "2025-11-29T10:20:00.100Z",
        "java.lang.IllegalStateException: boom",
    ),
    Sample(
        "cri",
        [
            '2025-11-29T10:20:00.000000001Z stdout P {"level":"error",',
            "2025-11-29T10:20:00.000000002Z stderr F WARN low memory",
            '2025-11-29T10:20:00.000000003Z stdout F  "msg":"a b"}',
        ],
        ["error", "warning"],
        "2025-11-29T10:20:00.000Z",
        "a b",
    ),
    Sample(
        "kubectl",
        [
            "[pod/pay-0/main] 2025-11-29T10:20:00.000000000Z ERROR failed",
            "[pod/pay-0/main] 2025-11-29T10:20:00.000000001Z \tat a.b.C.d(C.java:1)",
            "[pod/pay-1/main] 2025-11-29T10:20:01.000000000Z INFO fine",
        ],
        ["error", "info"],
        "2025-11-29T10:20:00.000Z",
        "failed",
        "pay-0",
    ),
    Sample(
        "compose",
        ["web-1  | 2025-11-29T10:20:00Z WARN slow", "db     | 2025-11-29T10:20:01Z LOG:  ready"],
        ["warning", "info"],
        "2025-11-29T10:20:00.000Z",
        "slow",
        "web-1",
    ),
    Sample(
        "syslog",
        [
            "<11>Nov 29 10:20:00 n1 pay[7]: cannot write",
            "Nov 29 10:20:01 n1 pay[7]: done",
            "2025-11-29T10:20:02+00:00 n1 sshd(pam_unix)[9]: ERROR x",
        ],
        ["error", "unknown", "error"],
        "2025-11-29T10:20:00.000Z",
        "cannot write",
        "pay",
    ),
    Sample(
        "syslog5424",
        [
            '<131>1 2025-11-29T10:20:00.5Z n1 pay 7 ID1 [ex@1 a="b\\"]c" d="e"][x@2] \ufeffcard refused',
            "<134>1 2025-11-29T10:20:01Z n1 pay 7 - - fine",
        ],
        ["error", "info"],
        "2025-11-29T10:20:00.500Z",
        "card refused",
        "pay",
    ),
    Sample(
        "access",
        [
            '1.2.3.4 - bob [29/Nov/2025:11:20:00 +0100] "GET /a?x=\\"y HTTP/1.1" 503 12 "-" "curl/8"',
            'shop.example:443 ::1 - - [29/Nov/2025:10:20:01 +0000] "-" 400 0 "-" "-"',
        ],
        ["error", "unknown"],
        "2025-11-29T10:20:00.000Z",
        '"GET /a?x=\\"y HTTP/1.1" 503 12 "-" "curl/8"',
    ),
    Sample(
        "w3c",
        [
            "#Software: x",
            "#Fields: date time cs-method cs-uri-stem cs(User-Agent) sc-status",
            '2025-11-29 10:20:00 GET /x "a b" 503',
        ],
        ["unknown", "unknown", "error"],
        "2025-11-29T10:20:00.000Z",
        "#Software: x",
    ),
    Sample(
        "bunyan",
        [
            '{"name":"pay","hostname":"n1","pid":1,"level":50,"msg":"boom","time":"2025-11-29T10:20:00Z","v":0}',
        ],
        ["error"],
        "2025-11-29T10:20:00.000Z",
        "boom",
    ),
    Sample(
        "pino",
        ['{"level":40,"time":1764411600000,"pid":1,"hostname":"n1","msg":"slow"}'],
        ["warning"],
        "2025-11-29T10:20:00.000Z",
        "slow",
    ),
    Sample(
        "ecs",
        [
            ('{"@timestamp":"2025-11-29T10:20:00Z","log":{"level":"error"},"ecs":{"version":"1"},"message":"boom",'
            '"service":{"name":"pay"}}')
        ],
        ["error"],
        "2025-11-29T10:20:00.000Z",
        "boom",
        "pay",
    ),
    Sample(
        "zap",
        ['{"level":"warn","ts":1764411600.5,"caller":"a.go:1","msg":"slow"}'],
        ["warning"],
        "2025-11-29T10:20:00.500Z",
        "slow",
    ),
    Sample(
        "zerolog",
        ['{"level":"error","error":"EOF","time":1764411600,"message":"read"}'],
        ["error"],
        "2025-11-29T10:20:00.000Z",
        "read: EOF",
    ),
    Sample(
        "mongodb",
        ['{"t":{"$date":"2025-11-29T10:20:00.000+00:00"},"s":"E","c":"NET","id":1,"ctx":"x","msg":"boom"}'],
        ["error"],
        "2025-11-29T10:20:00.000Z",
        "boom",
    ),
    Sample(
        "serilog",
        ['{"@t":"2025-11-29T10:20:00Z","@l":"Error","@m":"boom","@x":"System.Exception: a\\n   at B.C()"}'],
        ["error"],
        "2025-11-29T10:20:00.000Z",
        "boom: System.Exception: a",
    ),
    Sample(
        "gelf",
        ['{"version":"1.1","host":"n1","short_message":"boom","timestamp":1764411600.0,"level":3}'],
        ["error"],
        "2025-11-29T10:20:00.000Z",
        "boom",
    ),
    Sample(
        "otlp",
        [
            ('{"resourceLogs":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"pay"}}]},'
            '"scopeLogs":[{"logRecords":[{"timeUnixNano":"1764411600000000000","severityNumber":17,'
            '"body":{"stringValue":"boom"}},{"timeUnixNano":0,"observedTimeUnixNano":"1764411601000000000",'
            '"severityNumber":5,"body":{"stringValue":"quiet"}}]}]}]}'),
            ('[{"timeUnixNano":"1764411602000000000","severityNumber":20,"body":{"stringValue":"x"}},'
            '{"timeUnixNano":1764411603000000000,"severityNumber":10,"body":{"stringValue":"y"}}]'),
        ],
        ["error", "debug", "error", "info"],
        "2025-11-29T10:20:00.000Z",
        "boom",
        "pay",
    ),
    Sample(
        "json",
        ['{"when":"2025-11-29T10:20:00Z","lvl":"WARN","text":"slow"}'],
        ["warning"],
        "2025-11-29T10:20:00.000Z",
        "slow",
    ),
    Sample(
        "logfmt",
        ['ts=2025-11-29T10:20:00Z level=error msg="no \\"room\\"" err="disk full" path=/a'],
        ["error"],
        "2025-11-29T10:20:00.000Z",
        'no "room": disk full',
    ),
    Sample(
        "glog",
        ["E1129 10:20:00.123456    7 a/b.go:12] boom", "W1129 10:20:01.000000    7 c.cc:3] slow"],
        ["error", "warning"],
        "2025-11-29T10:20:00.123Z",
        "boom",
        "a/b.go",
    ),
    Sample(
        "csv",
        ["time,level,message", '2025-11-29T10:20:00Z,ERROR,"a, b"', "2025-11-29T10:20:01Z,INFO,ok"],
        ["unknown", "error", "info"],
        "2025-11-29T10:20:00.000Z",
        "time,level,message",
    ),
    Sample(
        "tsv",
        ["#separator \\x09", "#fields\tts\tuid\tstatus_code\turi", "1764411600.5\tC1\t503\t/x", "1764411601.5\tC2\t-\t/y"],
        ["unknown", "unknown", "error", "unknown"],
        "2025-11-29T10:20:00.500Z",
        "#separator \\x09",
    ),
    Sample(
        "log4j",
        [
            "2025-11-29 10:20:00.123 ERROR 7 --- [main] com.acme.Pay : boom",
            "2025-11-29 10:20:01,000 WARN  [pool-1] com.acme.Pay - slow",
        ],
        ["error", "warning"],
        "2025-11-29T10:20:00.123Z",
        "boom",
        "com.acme.Pay",
    ),
    Sample(
        "python",
        ["2025-11-29 10:20:00,123 - pay.api - ERROR - boom", "2025-11-29 10:20:01,123:WARNING:pay:slow"],
        ["error", "warning"],
        "2025-11-29T10:20:00.123Z",
        "boom",
        "pay.api",
    ),
    Sample(
        "audit",
        [
            'type=SYSCALL msg=audit(1764411600.123:7): arch=c000003e success=yes pid=9 comm="pay"',
            "node=n1 type=USER_LOGIN msg=audit(1764411601.000:8): pid=9 msg='op=login res=failed'",
        ],
        ["unknown", "warning"],
        "2025-11-29T10:20:00.123Z",
        'type=SYSCALL arch=c000003e success=yes pid=9 comm="pay"',
    ),
    Sample(
        "slowlog",
        [
            "# Time: 2025-11-29T10:20:00.123Z",
            "# User@Host: pay[pay] @ n1 [10.0.0.1]  Id:  7",
            "# Query_time: 2.5  Rows_sent: 1",
            "use shop;",
            "SET timestamp=1764411597;",
            "select a",
            "from b where c > '2025-01-01 00:00:00';",
            "# User@Host: pay[pay] @ n1 [10.0.0.1]  Id:  8",
            "# Query_time: 3.5  Rows_sent: 1",
            "SET timestamp=1764411600;",
            "commit;",
            "# Time: 251129 10:20:05",
            "# User@Host: pay[pay] @ n1 [10.0.0.1]  Id:  9",
            "# Query_time: 1.5  Rows_sent: 1",
            "# administrator command: Ping;",
        ],
        ["unknown", "unknown", "unknown"],
        "2025-11-29T10:20:00.123Z",
        "select a from b where c > '2025-01-01 00:00:00'; # Query_time: 2.5 Rows_sent: 1",
    ),
    Sample(
        "xml",
        [
            '<log4j:event logger="a.Pay" timestamp="1764411600123" level="ERROR" thread="main">',
            "<log4j:message><![CDATA[no <route>]]></log4j:message>",
            "",
            "<log4j:throwable><![CDATA[a.NoRoute: x",
            "\tat a.Pay.go(Pay.java:1)",
            "]]></log4j:throwable>",
            "</log4j:event>",
            ("<Event xmlns='x'><System><Provider Name='Disk'/><EventID>7</EventID><Level>3</Level>"
            "<TimeCreated SystemTime='2025-11-29T10:20:01.5Z'/><Computer>n1</Computer></System></Event>"),
            '<Event timeMillis="1764411602000" level="INFO" loggerName="a.Pay">',
            '  <Instant epochSecond="1764411602" nanoOfSecond="5000000"/>',
            "  <Message>done &amp; dusted</Message>",
            "</Event>",
        ],
        ["error", "warning", "info"],
        "2025-11-29T10:20:00.123Z",
        "no <route>: a.NoRoute: x",
        "a.Pay",
    ),
    Sample(
        "labelled",
        [
            "- 1764411600 2025.11.29 n1 2025-11-29-02.20.00.123456 n1 RAS KERNEL INFO all well",
            "KERNPANIC 1764411601 2025.11.29 n1 2025-11-29-02.20.01.123456 n1 RAS KERNEL FATAL stopped",
            "ERROR 1764411602 2025.11.29 n1 Nov 29 02:20:02 n1/n1 crond[7]: session closed",
        ],
        ["info", "fatal", "unknown"],
        "2025-11-29T10:20:00.000Z",
        "all well",
    ),
    Sample(
        "text",
        ["[Sat Nov 29 10:20:00.123456 2025] [core:error] [pid 7:tid 8] boom", "2025-11-29 10:20:01 [错误] 磁盘已满"],
        ["error", "error"],
        "2025-11-29T10:20:00.123Z",
        "[pid 7:tid 8] boom",
    ),
    Sample("plain", ["just words", "0 errors, 3 files", "connection refused"], ["unknown", "unknown", "warning"], "", "just words"),
]  # fmt: skip
