"""Names of the kinds of log, what a caller may overrule, and how sure the reader is; pure."""

from __future__ import annotations

from kernel.errors import Correctable

#: Every kind that is told apart, with what it is.
FORMS = {
    "access": "access log in the common or combined format",
    "audit": "audit log of Linux",
    "bunyan": "JSON lines of bunyan",
    "compose": "output of docker compose: `service | line`",
    "cri": "container log of Kubernetes: time, stream, P or F, line",
    "csv": "comma-separated with a header",
    "docker": "json-file of Docker: log, stream, time",
    "ecs": "JSON lines in Elastic's common schema",
    "gelf": "JSON lines of Graylog",
    "glog": "glog and klog: letter, month and day, clock, thread, file and line",
    "journald": "journalctl -o json",
    "json": "JSON lines",
    "kubectl": "kubectl logs with --prefix or --timestamps",
    "labelled": "label, epoch, date and node before each line, as in public sets of machine logs",
    "log4j": "time, level, thread and class, as log4j, logback and Spring write",
    "logfmt": "key=value pairs",
    "mongodb": "JSON lines of MongoDB",
    "otlp": "OpenTelemetry logs as JSON",
    "pino": "JSON lines of pino",
    "plain": "text without times",
    "python": "time, logger and level between hyphens or colons, as Python's logging writes",
    "serilog": "compact JSON lines of Serilog",
    "slowlog": "slow queries of MySQL and MariaDB",
    "syslog": "syslog of RFC 3164, or with an ISO time",
    "syslog5424": "syslog of RFC 5424 with structured data",
    "text": "text with times",
    "tsv": "tab-separated with a header, as Zeek writes",
    "w3c": "W3C extended format, as IIS writes",
    "xml": "XML of log4j, java.util.logging or Windows events",
    "zap": "JSON lines of zap",
    "zerolog": "JSON lines of zerolog",
}
#: Kinds by how their lines are read.
JSON = frozenset(
    [
        "bunyan",
        "docker",
        "ecs",
        "gelf",
        "journald",
        "json",
        "mongodb",
        "otlp",
        "pino",
        "serilog",
        "zap",
        "zerolog",
    ]
)
FRAMES = frozenset(("cri", "compose", "kubectl"))
TABLES = frozenset(("csv", "tsv", "w3c"))
_ALIASES = {
    "apache": "access", "auditd": "audit", "evtx": "xml", "mysql-slow": "slowlog",
    "bro": "tsv", "clf": "access", "combined": "access", "docker-compose": "compose",
    "elastic": "ecs", "iis": "w3c", "java": "log4j", "json-file": "docker", "jsonl": "json", "k8s": "cri",
    "klog": "glog", "kubernetes": "cri", "logback": "log4j", "mongo": "mongodb", "ndjson": "json",
    "nginx": "access", "opentelemetry": "otlp", "otel": "otlp", "rfc3164": "syslog", "rfc5424": "syslog5424",
    "spring": "log4j", "zeek": "tsv",
}  # fmt: skip


def form_named(name: str) -> str:
    """Return the kind of log a name means, or nothing for no name; raise with what there is."""
    wanted = name.strip().lower()
    found = _ALIASES.get(wanted, wanted)
    if found and found not in FORMS:
        raise Correctable(
            f"no format is named {name[:60]!r}",
            why=f"these are known: {', '.join(sorted(FORMS))}",
            next_step="Use one of these names, or leave it empty so that the format is detected.",
        )
    return found


class Tally:
    """Counts what kind of log the lines of one file are."""

    def __init__(self, forced: str = "") -> None:
        self.forms: dict[str, int] = {}
        self.last = ""
        self._forced = forced

    def note(self, form: str, lines: int = 1) -> None:
        """Count one line, or many that are known to be alike."""
        self.last = form
        self.forms[form] = self.forms.get(form, 0) + lines

    @property
    def form(self) -> str:
        """Return the kind that was asked for, else the kind that most lines are."""
        return self._forced or max(self.forms, key=lambda f: (self.forms[f], f != "plain"), default="empty")

    @property
    def confidence(self) -> float:
        """Return the share of lines that are of that kind, 0 to 1."""
        total = sum(self.forms.values())
        return self.forms.get(self.form, 0) / total if total else 0.0
