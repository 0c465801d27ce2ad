from __future__ import annotations

from pathlib import Path

import pytest

from agents.log_analysis.formats.levels import Level
from agents.log_analysis.judging.alarms import ALARM, alarms, is_dump, severity
from tests.support.log_scans import log, read


@pytest.mark.parametrize(
    "message",
    [
        "disk controller reported an unrecoverable fault",
        "socket to 10.0.0.1:55: Link has been severed",
        "could not recover the journal",
        "open /etc/shop/shop.yaml: no such file or directory",
        "worker killed by signal 9",
        "replica lag watchdog fired",
    ],
)
def test_a_severe_line_is_an_alarm(message: str) -> None:
    assert severity(message, Level.fatal, dumped=True)[0] >= ALARM
    assert severity(message, Level.error, dumped=True)[0] >= ALARM


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("memory error on bank 4 corrected", "well"),
        ("board status: no alarms active, 0 errors", "well"),
        ("connection to db restored", "well"),
        ("job 44: /home/ann/a.out: No such file or directory", "asked for"),
        ("cannot run job 12: Exec format error", "asked for"),
        ("r1=0x0000 r2=0x00ff r3=0x7fff", "dump"),
        ("write protection enable............1", "dump"),
        ("exception link register: 0x00a0b0c0", "dump"),
    ],
)
def test_what_is_mended_asked_wrongly_or_dumped_is_none(message: str, why: str) -> None:
    score, _, against = severity(message, Level.fatal, dumped=True)
    assert score < ALARM
    assert why in " ".join(against)


def test_a_sentence_is_no_dump() -> None:
    assert not is_dump("connection to 10.0.0.1 lost after 3 retries")
    assert not is_dump("request failed: status=500 path=/pay")
    assert is_dump("ERROR rax=0x1f rbx=0x00 rcx=0xffff")


def test_one_labelled_value_alone_is_the_message_itself(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log((1, "FATAL exit status: 0x0001"), (2, "INFO up")))
    assert [a.raised for a in alarms(scan, summary)] == [True]


def test_an_error_is_less_where_failures_are_called_fatal(tmp_path: Path) -> None:
    odd = [(50.0, "ERROR cable position differs from plan")]
    scan, summary = read(tmp_path, log(*odd, (60, "INFO ok")))
    assert [a.raised for a in alarms(scan, summary)] == [True]
    fatal = [(float(n), f"FATAL link {n} lost") for n in range(9)]
    scan, summary = read(tmp_path, log(*odd, *fatal))
    told = {a.level: a.raised for a in alarms(scan, summary)}
    assert told == {Level.fatal: True, Level.error: False}


def test_a_trickle_from_begin_to_end_is_no_alarm_and_a_burst_of_the_same_is_one(tmp_path: Path) -> None:
    usual = [(n * 10.0, f"INFO served {n}") for n in range(720)]
    trickle = [(30 + n * 240.0, f"ERROR reply {n} discarded") for n in range(30)]
    scan, summary = read(tmp_path, log(*usual, *trickle))
    assert not any(a.raised for a in alarms(scan, summary))
    burst = [(5000 + n, f"ERROR reply {n} discarded") for n in range(30)]
    scan, summary = read(tmp_path, log(*usual, *burst))
    assert [a.count for a in alarms(scan, summary) if a.raised] == [30]


def test_warnings_alone_are_no_alarm(tmp_path: Path) -> None:
    scan, summary = read(tmp_path, log(*((float(n), f"WARN slow query took {n} ms") for n in range(50))))
    assert not any(a.raised for a in alarms(scan, summary))


def _cluster(lines: list[tuple[float, str]]) -> str:
    """A cluster's syslog without levels: what all nodes say all day, and some lines."""
    usual = [
        (n * 20.0, f"node{n % 40} {said}")
        for n in range(600)
        for said in (f"crond[{n}]: (root) CMD (run-parts)", "dhcpd: DHCPDISCOVER via eth1: no free leases")
    ]
    return log(*usual, *lines)


@pytest.mark.parametrize(
    "said",
    [
        "kernel: [IB][smac.c:{n}]Fatal error (Local Catastrophic Error) on device Host{n}",
        "kernel: ioc0: attempting task abort! (sc={n})",
        "kernel: scsi{n} (0:0): rejecting I/O to offline device",
        "pbs_mom: task_check, cannot tm_reply to {n}.admin task 1",
        "kernel: nfs: server nfs{n} not responding, still trying",
        "kernel: GM: The NIC ISR is reporting an SRAM parity error.",
    ],
)
def test_where_no_line_names_a_level_what_says_it_failed_is_an_alarm(tmp_path: Path, said: str) -> None:
    burst = [(6000.0 + n, "node7 " + said.format(n=n)) for n in range(9)]
    scan, summary = read(tmp_path, _cluster(burst))
    raised = [a for a in alarms(scan, summary) if a.raised]
    assert [a.count for a in raised] == [9]


def test_where_no_line_names_a_level_what_fails_all_day_or_is_a_users_fault_is_no_alarm(
    tmp_path: Path,
) -> None:
    chronic = [(n * 60.0, f"node1 sendmail[{n}]: gethostbyaddr(10.0.0.{n}) failed: 1") for n in range(200)]
    users = [
        (5000.0 + n, f"node2 sshd[{n}]: Failed password for invalid user bob{n} from 10.0.0.1")
        for n in range(9)
    ]
    well = [(7000.0, "node3 kernel: eth0: link recovered after failure")]
    scan, summary = read(tmp_path, _cluster(chronic + users + well))
    assert [a for a in alarms(scan, summary) if a.raised] == []
