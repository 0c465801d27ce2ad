"""Who a process is: /proc read with odd names, other boots, reused pids, groups without their leader, no /proc."""

from __future__ import annotations

import os
import socket
from pathlib import Path

import pytest

from agents.runtime.processes import MARK, Named, boot, look, members, name, parse_stat, stat

BOOT = "0b1c-boot pid:[4026531836]"


def line(pid: int, *, comm: str = "sleep", state: str = "S", group: int, ticks: int, session: int = 0) -> str:
    """Return a line of /proc/PID/stat; the fields between are those of a real one."""
    head = f"{pid} ({comm}) {state} 1 {group} {session or group} 0 -1 4194304 95 0 0 0 0 0 0 0 20 0 1 0"
    return f"{head} {ticks} 2703360 210 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0 0 0 0 0\n"


class Proc:
    """A /proc in a folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "sys/kernel/random").mkdir(parents=True)
        (root / "sys/kernel/random/boot_id").write_text("0b1c-boot\n")
        (root / "self/ns").mkdir(parents=True)
        (root / "self/ns/pid").symlink_to("pid:[4026531836]")

    def add(self, pid: int, *, mark: str = "", **fields: object) -> None:
        folder = self.root / str(pid)
        folder.mkdir()
        (folder / "stat").write_text(line(pid, **fields))  # type: ignore[arg-type] # as `line` takes them
        variables = ["PATH=/bin", f"{MARK}={mark}"] if mark else ["PATH=/bin"]
        (folder / "environ").write_bytes("\0".join(variables).encode())


@pytest.fixture
def proc(tmp_path: Path) -> Proc:
    return Proc(tmp_path / "proc")


def child(**fields: object) -> Named:
    usual = {"host": socket.gethostname(), "boot": BOOT, "pid": 40, "start_ticks": 900, "mark": "r:a.1.1/2"}
    return Named.model_validate(usual | fields)


@pytest.mark.parametrize("comm", ["sleep", "a b", "(sd-pam)", "x) S 1 2 3 (y", "a\nb", "))) ((", "结账"])
def test_the_name_of_a_program_cannot_shift_the_fields(comm: str) -> None:
    seen = parse_stat(line(40, comm=comm, state="D", group=41, session=42, ticks=123456789))
    assert (seen.pid, seen.state, seen.group, seen.session, seen.start_ticks) == (40, "D", 41, 42, 123456789)
    assert seen.lives


def test_this_very_process_is_read_as_the_kernel_tells_of_it() -> None:
    seen = stat(os.getpid())
    if seen is None:
        pytest.skip("needs /proc")
    assert (seen.pid, seen.group, seen.session) == (os.getpid(), os.getpgrp(), os.getsid(0))
    assert (
        0 < seen.start_ticks / os.sysconf("SC_CLK_TCK") < float(Path("/proc/uptime").read_text().split()[0])
    )
    assert os.getpid() in [member.pid for member in members(os.getpgrp())]
    named = name(os.getpid(), "m")
    assert (named.pid, named.start_ticks, named.boot) == (os.getpid(), seen.start_ticks, boot())
    assert Path("/proc/sys/kernel/random/boot_id").read_text().strip() in named.boot


def test_a_name_of_bytes_that_are_no_text_is_read(proc: Proc) -> None:
    (proc.root / "7").mkdir()
    raw = line(7, comm="@", group=7, ticks=5).encode().replace(b"@", b"\xff\xfe)")
    (proc.root / "7/stat").write_bytes(raw)
    seen = stat(7, proc.root)
    assert seen is not None
    assert seen.start_ticks == 5


def test_a_program_that_runs_is_seen_with_its_group(proc: Proc) -> None:
    proc.add(40, group=40, ticks=900)
    proc.add(41, group=40, ticks=950)
    proc.add(42, group=42, ticks=950, mark="r:a.1.1/2")  # a daemon that left the group
    sight = look(child(), proc.root)
    assert (sight.gone, sorted(sight.pids)) == (False, [40, 41])


def test_a_program_that_ended_is_gone_and_so_is_a_zombie(proc: Proc) -> None:
    assert look(child(), proc.root).gone is True
    proc.add(40, group=40, ticks=900, state="Z")
    assert look(child(), proc.root).gone is True


def test_a_pid_that_was_given_away_again_is_somebody_else(proc: Proc) -> None:
    proc.add(40, group=40, ticks=901, mark="r:a.1.1/2")
    proc.add(41, group=40, ticks=902, mark="r:a.1.1/2")
    sight = look(child(), proc.root)
    assert (sight.gone, sight.pids) == (True, [])


def test_a_group_that_lost_its_leader_is_known_by_the_mark(proc: Proc) -> None:
    proc.add(41, group=40, ticks=950, mark="r:a.1.1/2")
    proc.add(43, group=40, ticks=960)  # cleaned its environment, but a group is one
    sight = look(child(), proc.root)
    assert (sight.gone, sorted(sight.pids)) == (False, [41, 43])


def test_a_zombie_leader_vouches_for_its_group(proc: Proc) -> None:
    proc.add(40, group=40, ticks=900, state="Z")
    proc.add(41, group=40, ticks=950)
    sight = look(child(), proc.root)
    assert (sight.gone, sight.pids) == (False, [41])


@pytest.mark.parametrize(
    "fields",
    [
        {"ticks": 950},
        {"ticks": 950, "mark": "r:a.1.1/3"},
        {"ticks": 899, "mark": "r:a.1.1/2"},
        {"ticks": 950, "mark": "r:a.1.1/2", "session": 12},
    ],
    ids=["no mark", "another attempt's", "older than the program", "another session"],
)
def test_a_group_that_nothing_vouches_for_is_not_touched(proc: Proc, fields: dict[str, object]) -> None:
    proc.add(41, group=40, **fields)
    sight = look(child(), proc.root)
    assert (sight.gone, sight.pids) == (None, [])
    assert "none of it says" in sight.why


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"host": "elsewhere"}, "it was started on elsewhere"),
        ({"boot": "another pid:[4026531836]"}, "was started anew"),
        ({"boot": "0b1c-boot pid:[7]"}, "another machine or container"),
        ({"boot": ""}, "does not tell"),
        ({"start_ticks": 0}, "does not tell"),
    ],
)
def test_from_elsewhere_nothing_can_be_told(proc: Proc, fields: dict[str, object], why: str) -> None:
    proc.add(40, group=40, ticks=900)
    sight = look(child(**fields), proc.root)
    assert (sight.gone, sight.pids) == (None, [])
    assert why in sight.why


def test_without_proc_nothing_is_known_and_nothing_breaks(tmp_path: Path) -> None:
    none = tmp_path / "none"
    assert (stat(1, none), boot(none)) == (None, "")
    named = name(os.getpid(), "m", none)
    assert (named.boot, named.start_ticks) == ("", 0)
    assert look(named, none).gone is None
