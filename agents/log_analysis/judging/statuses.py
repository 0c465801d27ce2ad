"""Reads what platforms say of a workload (`kubectl describe`, `get`, `systemctl status`): states, exits, events."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field

from agents.log_analysis.kinds import ERROR, KINDS, Kind, kind_of

#: A longer text without times and levels is no status but a log, or anything else.
LINES = 5000

_KINDS = {kind.key: kind for kind in KINDS}
_NAME = re.compile(r"^(?:Name|Unit|Pod|Deployment):\s+(\S+)|^[●×○*]\s(\S+\.\w+)")
_STATE = re.compile(r"^(\s*)((?:Last )?State):\s+(\w+)")
_FIELD = re.compile(r"^(\s*)(Reason|Exit Code|Message|Signal):\s+(\S.*)")
_STARTS = re.compile(r"^\s*Restart Count:\s+[1-9]")
_LIMIT = re.compile(r"^\s+memory:\s+\d+\w*\s*$")
_EVENT = re.compile(r"^\s*Warning\s+(\w+)\s+\S.{0,40}?\s{2,}\S+\s{2,}(\S.*)")
_LISTED = re.compile(r"^\s*(?:\S+\s+)??Warning\s+([A-Z]\w+)\s+(\S+/\S+)\s+(\S.*)")
_ROW = re.compile(
    r"^(?:[a-z0-9-]+\s+)?([a-z0-9][a-z0-9.-]*)\s+\d+/\d+\s+((?:Init:)?(?:CrashLoopBackOff|Error|OOMKilled|ImagePullBackOff"
    r"|ErrImagePull|Evicted|CreateContainerConfigError|RunContainerError|ContainerCannotRun|StartError|Unknown))\s"
)
_FAILED = re.compile(
    r"^\s*Active: failed|^\s*(?:Main PID|Process): .*code=(?:exited|killed|dumped), status=(?!0/)"
)
_SERVER = re.compile(r"^Error from server|^error: |^Error: ")
_EXIT = re.compile(r"(?i)(?:exit code[: ]+|status=)(\d{1,3})")
_EXEC = re.compile(r"exec: \"([\w./-]{2,40})\"|([\w.-]{2,40}): command not found")
#: What ended well, or goes on as it should.
_WELL = {"Completed", "ContainerCreating", "PodInitializing", "Running"}
#: Programs that people name as a container's command, for names that miss one by a letter.
_PROGRAMS = (
    "wget", "curl", "bash", "python", "python3", "node", "java", "nginx", "sleep", "echo", "grep",
    "perl", "ruby", "gunicorn", "uvicorn", "celery", "redis-server", "postgres", "mysqld",
    "mongod", "envoy", "caddy", "httpd", "apache2", "tail", "kubectl", "docker", "helm", "pip",
    "npm", "yarn", "make", "rsync", "unzip", "chmod", "mkdir", "dotnet", "php", "cargo", "deno",
    "busybox",
)  # fmt: skip
_ALIKE = 0.75
_WAITING = "State: Waiting, Reason: "
#: From so far on the word that tells is too late in a message.
_LONG = 60


@dataclass
class Status:
    """One bad state or event: the line that says it first, those that say it again, what it says and of what."""

    line: int
    kind: Kind
    message: str
    subject: str = ""
    more: list[int] = field(default_factory=list)

    def add(self, other: Status) -> None:
        """Take in another line of the same: an event says why a state waits, an exit code says more than none."""
        self.more.append(other.line)
        if self.message.startswith(_WAITING) and not other.message.startswith("State: "):
            self.message = f"{self.message.removeprefix(_WAITING)}: {other.message}"
        elif not self.exit_code and other.exit_code:
            self.message = other.message

    @property
    def exit_code(self) -> int:
        """Return the exit code it tells of, 0 where it tells none."""
        found = _EXIT.search(self.message)
        return int(found[1]) if found else 0


def statuses(lines: list[str]) -> list[Status]:
    """Return the bad states of a status text, one for each kind and subject, in the order of their lines."""
    found: dict[tuple[str, str], Status] = {}
    subject = ""
    for number, text in enumerate(lines, 1):
        if named := _NAME.match(text):
            subject = named[1] or named[2]
        status = _status(lines, number, text, subject)
        if status is None:
            continue
        key = (status.kind.key, status.subject)
        if key not in found:
            found[key] = status
        else:
            found[key].add(status)
    for status in found.values():
        if status.kind.key in ("out_of_memory", "restarting", "crash"):
            status.more += [n for n, text in enumerate(lines, 1) if _STARTS.match(text)][:1]
        if status.kind.key == "out_of_memory":
            status.more += [n for n, text in enumerate(lines, 1) if _LIMIT.match(text)][:1]
    return sorted(found.values(), key=lambda s: s.line)


def meant(message: str) -> tuple[str, str] | None:
    """Return the command a message says does not exist, and the one that may have been meant."""
    found = _EXEC.search(message)
    name = (found[1] or found[2]).rsplit("/", 1)[-1] if found else ""
    near = (
        difflib.get_close_matches(name, _PROGRAMS, n=1, cutoff=_ALIKE)
        if name and name not in _PROGRAMS
        else []
    )
    return (name, near[0]) if near else None


def _status(lines: list[str], number: int, text: str, subject: str) -> Status | None:
    if found := _STATE.match(text):
        return _state(lines, number, found, subject)
    if found := _EVENT.match(text) or _LISTED.match(text):
        own = "" if len(found.groups()) < 3 else found[2].rsplit("/", 1)[-1]  # noqa: PLR2004 - a list names the object
        message = f"{found[1]}: {found[found.lastindex or 1].strip()}"
        return Status(number, kind_of(message) or ERROR, message, own or subject)
    if found := _ROW.match(text):
        return Status(number, kind_of(found[2]) or _KINDS["crash"], found[2], found[1])
    if _FAILED.match(text):
        return Status(number, kind_of(text) or _KINDS["crash"], text.strip(), subject)
    if _SERVER.match(text):
        return Status(number, kind_of(text) or ERROR, text.strip(), subject)
    return None


def _telling(text: str) -> str:
    """Return what a long message says of its kind, without the steps that passed the failure on."""
    kind = kind_of(text)
    found = kind.pattern.search(text) if kind else None
    start = text.rfind(": ", 0, max(0, found.start() - 12)) + 2 if found and found.start() > _LONG else 0
    return text[start:] if start > 1 else text


def _state(lines: list[str], number: int, head: re.Match[str], subject: str) -> Status | None:
    """Read the fields below `State:` or `Last State:`; None where it ended well or runs."""
    parts, spot = [f"{head[2]}: {head[3]}"], number
    values: dict[str, str] = {}
    for offset, text in enumerate(lines[number : number + 12], number + 1):
        if len(text) - len(text.lstrip()) <= len(head[1]) or not text.strip():
            break
        if (found := _FIELD.match(text)) and found[2] not in values:
            values[found[2]] = found[3].strip()
            parts.append(f"{found[2]}: {_telling(found[3].strip())}")
            if found[2] == "Reason" or (found[2] == "Message" and kind_of(found[3])):
                spot = offset
    reason, code = values.get("Reason", ""), values.get("Exit Code", "0")
    if reason in _WELL or (not reason and code == "0") or (code == "0" and head[3] == "Terminated"):
        return None
    message = ", ".join(parts)
    return Status(spot, kind_of(message) or _KINDS["crash"], message, subject)
