"""Processes by names that nobody else can bear: boot, namespace, pid and start; read from /proc, unknown without it."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
from pathlib import Path

from kernel.clock import monotonic
from kernel.contracts import Value

PROC = Path("/proc")

#: Seconds between TERM and KILL.
GRACE_SECONDS = 2.0

#: Seconds that the kernel gets to end a group after KILL; longer means that it hangs in a device.
_KILL_SECONDS = 2.0

_LOOK_SECONDS = 0.05

#: A program carries the name of its attempt here, and so does all that it starts.
MARK = "NIGHTDESK_CHILD"

_DEAD = frozenset("ZXx")


class Stat(Value):
    """The parts of /proc/PID/stat that say who a process is."""

    pid: int
    state: str
    group: int
    session: int
    #: Clock ticks after boot.
    start_ticks: int

    @property
    def lives(self) -> bool:
        """Return whether it still runs; a zombie only waits to be reaped."""
        return self.state not in _DEAD


class Named(Value):
    """A process as it was when it was recorded; an empty boot or 0 ticks: nobody could read them."""

    host: str
    boot: str
    pid: int
    start_ticks: int
    mark: str


class Sight(Value):
    """What can be seen of a recorded program from here; `gone` is None where that is nothing, and `why` says so."""

    gone: bool | None
    #: Living processes of its group.
    pids: list[int] = []
    why: str = ""


def parse_stat(text: str) -> Stat:
    """Return who a line of /proc/PID/stat speaks of."""
    # the program's name may hold blanks and parentheses: what follows the last one has fixed places
    fields = text.rpartition(")")[2].split()
    return Stat(
        pid=int(text.partition(" (")[0]),
        state=fields[0],
        group=int(fields[2]),
        session=int(fields[3]),
        start_ticks=int(fields[19]),
    )


def stat(pid: int, proc: Path = PROC) -> Stat | None:
    """Return who has this pid now, None where nobody has (or nobody that we may look at)."""
    try:
        return parse_stat((proc / str(pid) / "stat").read_text(encoding="utf-8", errors="replace"))
    except (FileNotFoundError, NotADirectoryError, ProcessLookupError, PermissionError):
        return None


def boot(proc: Path = PROC) -> str:
    """Return the boot and the process namespace: no pid means anything outside both. Empty without /proc."""
    try:
        started = (proc / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{started} {(proc / 'self/ns/pid').readlink()}"
    except OSError:
        return ""


def name(pid: int, mark: str, proc: Path = PROC) -> Named:
    """Return what a process that we have just started can be known by later."""
    seen = stat(pid, proc)
    ticks = seen.start_ticks if seen else 0
    return Named(host=socket.gethostname(), boot=boot(proc), pid=pid, start_ticks=ticks, mark=mark)


def look(named: Named, proc: Path = PROC) -> Sight:
    """Return whether a recorded program, or anything of its group, still runs."""
    here, host = boot(proc), socket.gethostname()
    if named.host != host:
        return Sight(gone=None, why=f"it was started on {named.host}, this is {host}")
    if not (here and named.boot and named.start_ticks):
        return Sight(gone=None, why=f"{host} does not tell which processes are which")
    if named.boot != here:
        return Sight(
            gone=None, why=f"{host} was started anew, or is another machine or container of that name"
        )
    leader = stat(named.pid, proc)
    if leader is not None and leader.start_ticks != named.start_ticks:
        # the kernel gives a number away again only when neither a process nor a group bears it
        return Sight(gone=True)
    group = members(named.pid, proc)
    living = [member.pid for member in group if member.lives]
    if not living:
        return Sight(gone=True)
    if leader is not None or any(_is_of(member, named, proc) for member in group):
        return Sight(gone=False, pids=living)
    return Sight(
        gone=None, why=f"process group {named.pid} lives, but none of it says that it is of this program"
    )


def members(group: int, proc: Path = PROC) -> list[Stat]:
    """Return all processes of a group, zombies too."""
    seen = (stat(int(entry.name), proc) for entry in proc.iterdir() if entry.name.isdigit())
    return [one for one in seen if one is not None and one.group == group]


async def stop_group(group: int) -> bool:
    """End a group of processes that are not our children: TERM, a grace, KILL. Return whether it is gone."""
    for number, seconds in ((signal.SIGTERM, GRACE_SECONDS), (signal.SIGKILL, _KILL_SECONDS)):
        signal_group(group, number)
        until = monotonic() + seconds
        while any(member.lives for member in await asyncio.to_thread(members, group)):
            if monotonic() > until:
                break
            await asyncio.sleep(_LOOK_SECONDS)
        else:
            return True
    return False


def signal_group(group: int, number: signal.Signals) -> None:
    """Send a signal to a whole group, if there is still one."""
    try:
        os.killpg(group, number)
    except (ProcessLookupError, PermissionError):
        return  # gone already; PermissionError is what some systems answer for a group of zombies


def _is_of(member: Stat, named: Named, proc: Path) -> bool:
    """Return whether a process of a group that lost its leader was started by this program, by its mark."""
    if member.session != named.pid or member.start_ticks < named.start_ticks:
        return False
    try:
        variables = (proc / str(member.pid) / "environ").read_bytes().split(b"\0")
    except OSError:
        return False
    return f"{MARK}={named.mark}".encode() in variables
