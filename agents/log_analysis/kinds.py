"""The kinds of causes that log lines name, from the most telling to the mere symptom; pure."""

from __future__ import annotations

import re

from agents.log_analysis.platforms import PLATFORM_KINDS, Kind
from agents.log_analysis.platforms import kind as _kind
from agents.log_analysis.sieves import Sieve

__all__ = ["CHANGE", "ERROR", "GROWTH", "KINDS", "SLOW", "SYMPTOM", "Kind", "kind_of"]

#: The first that matches names the line. A weight below SYMPTOM marks what follows from something else.
KINDS = (
    *PLATFORM_KINDS,
    _kind(
        "out_of_memory",
        "Out of memory",
        1.0,
        r"out of memory|\boom[- _]?kill|OutOfMemory|cannot allocate memory|\bENOMEM\b|memory (?:limit"
        r"|cgroup).{0,20}"
        r"(?:exceed|out)|java heap space|exit(?:ed)?.{0,12}\b137\b|\bMemoryError\b|bad_alloc|heap limit"
        r"|内存不足|内存溢出",
        alone=True,
    ),
    _kind(
        "disk_full",
        "No space left on disk",
        1.0,
        r"no space left|\bENOSPC\b|dis[ck] (?:is )?full|(?:dis[ck]|filesystem|volume).{0,30}(?:9[89]"
        r"|100) ?%|quota exceeded"
        r"|read-only file ?system|\bEROFS\b|磁盘已满|磁盘空间不足",
        alone=True,
    ),
    _kind(
        "too_many_open_files",
        "Too many open files",
        1.0,
        r"too many open files|\bEMFILE\b|\bENFILE\b|file descriptors? (?:limit|exhaust)|打开的文件过多",
        alone=True,
    ),
    _kind(
        "threads_exhausted",
        "Thread pool exhausted",
        1.0,
        r"(?:thread|worker|executor)[ _-]?pool.{0,40}(?:exhaust|\bfull|starv|deplet|no (?:available|free|idle))"
        r"|\bRejectedExecution|no (?:available|free|idle) (?:worker )?threads?"
        r"|unable to create (?:new )?(?:native )?thread|can'?t start new thread|线程池.{0,12}(?:满|耗尽|不足)",
    ),
    _kind(
        "pool_exhausted",
        "Connection pool exhausted",
        1.0,
        r"pool.{0,60}(?:exhaust|empty|is full|starv|deplet|no (?:available|free|idle))|(?:exhaust|starv"
        r"|deplet)\w*.{0,40}pool"
        r"|(?:could ?n[o']t|cannot|can't|unable to|failed to|timeout|timed out).{0,40}"
        r"(?:acquir\w*|obtain\w*|wait\w* for|borrow\w*|check ?out|get).{0,30}(?:\bpool|(?:a|new|free|jdbc"
        r"|database|db) connection|from pool)"
        r"|connection slots|too many (?:connections|clients)|QueuePool limit"
        r"|connection is not available, request timed out"
        r"|max(?:imum)?[ _](?:number of )?connections? (?:reached|exceeded)"
        r"|(?:no (?:free|available|idle)|all) (?:\w+ )?connections?(?: \w+)* (?:in use|busy|available"
        r"|left)|连接池.{0,12}(?:耗尽|满|不足)",
    ),
    _kind(
        "certificate",
        "Certificate or TLS failure",
        1.0,
        r"certificate.{0,60}(?:expir|invalid|untrusted|unknown|fail|revok|verif|not (?:yet )?valid|error)"
        r"|x509|PKIX path"
        r"|(?:expired|invalid|untrusted|self.signed|verify).{0,30}certificate|CERT_\w+|(?:ssl"
        r"|tls).{0,30}(?:handshake|fail|error|alert)"
        r"|SSLHandshake|证书.{0,12}(?:过期|无效|失败)",
    ),
    _kind(
        "clock",
        "Clocks differ",
        1.0,
        r"clock[ _-]?skew|(?:token|jwt|assertion|signature|claim|request)\b.{0,60}(?:not (?:yet valid|valid yet)"
        r"|in the future|used (?:too early|before)|too skewed)|\bRequestTimeTooSkewed"
        r"|\b(?:nbf|iat)\b.{0,30}(?:future|early|after)"
        r"|(?:system )?clock (?:is )?(?:wrong|off|ahead|behind|unsynchroni[sz]ed)|时钟(?:偏差|偏移|不同步|不一致)",
    ),
    _kind(
        "name_resolution",
        "Name resolution failed",
        1.0,
        r"no such host|name or service not known|\bENOTFOUND\b|EAI_AGAIN|temporary failure in name|name resolution"
        r"|getaddrinfo (?!for)|UnknownHost|NXDOMAIN|could ?n[o']t resolve"
        r"|dns.{0,30}(?:fail|error|timeout)|域名解析失败",
    ),
    _kind(
        "connection_refused",
        "Connection refused",
        1.0,
        r"connection (?:to \S{1,80} |was )?refused|\bECONNREFUSED\b|connect: refused|actively refused"
        r"|拒绝连接|连接被拒绝",
    ),
    _kind(
        "schema",
        "Database schema does not match",
        0.95,
        r"relation .{1,80} does not exist|no such (?:table|column)|unknown column|column .{1,60} does not exist"
        r"|table .{1,60} doesn'?t exist|migration.{0,40}(?:fail|error|pending)",
    ),
    _kind(
        "query_error",
        "A query is wrong",
        0.95,
        r"syntax error (?:at or near|in (?:query|sql))|error in your sql syntax|\bsql ?syntax|malformed query"
        r"|parse error.{0,20}quer"
        r"|invalid (?:sql|query)|ambiguous column|SQL语法",
    ),
    _kind(
        "constraint_violation",
        "Database constraint violated",
        0.85,
        r"duplicate (?:key|entry)|unique constraint|violates .{0,30}constraint|foreign key constraint"
        r"|integrity ?error",
    ),
    _kind(
        "deadlock",
        "Deadlock or lock timeout",
        0.95,
        r"deadlock|lock wait timeout|could not obtain lock|死锁",
    ),
    _kind(
        "rate_limited",
        "Rate limit reached",
        0.9,
        r"rate.?limit|too many requests|throttl(?:ed|ing)|\bstatus(?: code)?[=: ]+429\b|限流",
    ),
    _kind(
        "auth_failure",
        "Authentication or authorisation failed",
        0.9,
        r"auth\w* fail|fail\w* (?:to )?(?:log ?in|password|auth)|invalid (?:credential|token|password"
        r"|user|api.?key|signature)"
        r"|unauthori[sz]ed|access (?:is )?denied|permission denied|token (?:has )?expired|login fail"
        r"|\bEACCES\b|forbidden"
        r"|password authentication|wrong password|认证失败|鉴权失败|权限不足|密码错误",
    ),
    _kind(
        "configuration",
        "Configuration is wrong or missing",
        0.95,
        r"missing (?:required )?(?:\w+ ){0,3}(?:config\w*|env\w*|setting|variable|key|option|parameter)"
        r"|invalid (?:\w+ )?config"
        r"|environment variable"
        r"|misconfigur|unknown (?:property|option|flag|directive)|(?:pars|load"
        r"|read)\w* (?:the )?config.{0,40}(?:fail|error)"
        r"|(?:fail|error)\w*.{0,30}(?:pars|load|read)\w* .{0,20}config|config\w*.{0,30}(?:not found|invalid|error)"
        r"|KeyError: ['\"][A-Z][A-Z0-9_]{3,60}['\"]"
        r"|CreateContainerConfigError|(?:configmap|secret) \"[^\"]{1,200}\" not found|MountVolume\.SetUp failed"
        r"|\w+ (?:is )?(?:not set|must be set|is required|not configured)\b"
        r"|ModuleNotFound|ImportError|cannot find module|ClassNotFound|NoClassDefFound|配置.{0,8}(?:错误|缺失)",
    ),
    _kind(
        "connection_lost",
        "Connection lost",
        0.95,
        r"connection (?:to \S{1,80} )?(?:was )?(?:reset|aborted|closed|lost|terminated|dropped)"
        r"|\bECONNRESET\b|broken pipe|\bEPIPE\b"
        r"|lost (?:the )?connection|server has gone away|no route to host|\bE(?:HOST|NET)UNREACH\b"
        r"|socket hang up|unexpected EOF"
        r"|network is unreachable|link has been severed|连接(?:断开|丢失|重置)",
    ),
    _kind(
        "backlog",
        "Work piles up",
        0.7,
        r"consumer lag (?:is|of|grew|too|high|exceed)|\blag(?:ging)? (?:behind|is|of|grew|growing|increas\w*)"
        r"|(?:queue|buffer|backlog) (?:is )?(?:full|overflow|growing|depth)"
        r"|falling behind|backpressure|max\.poll\.interval|消息积压|积压",
    ),
    _kind(
        "timeout",
        "Timeout",
        0.85,
        r"time[d]?[ -]?out|\bETIMEDOUT\b|deadline exceeded|\bTimeout\w*|超时",
    ),
    _kind(
        "crash",
        "Crash",
        0.9,
        r"\bpanic\b|segmentation fault|segfault|SIG(?:SEGV|ABRT|BUS|KILL)|core dumped|unhandled exception"
        r"|uncaught|assert(?:ion)? fail|stack overflow|NullPointer|NullReference|nil pointer|kernel bug|\bOops\b",
        alone=True,
    ),
    _kind(
        "corrupt_data",
        "Corrupt data",
        0.9,
        r"checksum (?:mismatch|error|fail)|corrupt(?:ed|ion)|parity error|uncorrectable|machine check"
        r"|I/O error|Input/output error",
    ),
    _kind(
        "dependency_failed",
        "A dependency fails",
        0.5,
        r"\b50[234]\b|service (?:is )?unavailable|unavailable|upstream|bad gateway|depend(?:ency|ent)"
        r"|circuit.?breaker"
        r"|returned (?:an )?error|responded with|failed to (?:call|fetch|reach|contact|connect)"
        r"|cannot (?:reach|connect|validate)"
        r"|unable to (?:reach|connect|establish)|connection (?:\w+ )?failed|不可用",
    ),
    _kind(
        "shutdown",
        "The process stops",
        0.3,
        r"shutting down|shutdown|exiting|process exited|terminating|giving up|aborting",
    ),
    _kind("retry", "Retries", 0.3, r"\bretr(?:y|ies|ying)\b|reconnect|attempts? (?:\d|exceed)|重试"),
)

#: A line of an error level that fits no kind.
ERROR = Kind("error", "Errors", 0.6, re.compile(r"(?!)"))

#: A number that keeps growing; found by measuring, too.
GROWTH = Kind("growth", "A number keeps growing", 0.75, re.compile(r"(?!)"))

#: Durations that are high or rose; found by measuring, not by a word.
SLOW = Kind("slow", "Slow operations", 0.8, re.compile(r"(?!)"))

SYMPTOM = 0.55

#: Lines that tell of a change people made: what they are looked for near the beginning of a failure.
CHANGE = re.compile(
    r"(?i)\bdeploy(?:ed|ing|ments?)\b|\bdeploy (?:v?\d|of|to|start|finish|complet|succe|#)"
    r"|\broll(?:ed|ing)?[ -]?(?:out|back)\b|\breleas(?:e|ed|ing)\b"
    r"|\bupgrad(?:e|ed|ing)\b|\brotated\b.{0,40}(?:secret|key|credential|password|token|cert)"
    r"|(?:secret|\bkey|credential|password|token|certificate).{0,40}\brotated\b"
    r"|\bflags?\b.{0,60}\b(?:changed|enabled|disabled|toggled|switched|turned)\b|\bchanged from \S{1,40} to \S"
    r"|config\w*.{0,30}(?:changed|updated|reload|applied|set to)|(?:changed|updated|reload\w*|applied"
    r"|new).{0,20}config"
    r"|feature[ _-]?flag|\bmigrat(?:ion|ed|ing)\b|\bscal(?:ed|ing) (?:up|down|to)\b|version.{0,20}(?:->|→|to v?\d)"
    r"|pool.?size.{0,20}(?:set|changed|=)|发布|上线|部署|配置变更"
)


_SIEVE = Sieve(kind.pattern.pattern for kind in KINDS)


def kind_of(text: str) -> Kind | None:
    """Return the kind of cause a text names, or None."""
    return next((KINDS[n] for n in _SIEVE.passing(text) if KINDS[n].pattern.search(text)), None)
