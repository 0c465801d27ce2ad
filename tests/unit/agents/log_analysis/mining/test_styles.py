"""Lines made up in the styles of many systems: no style falls to pieces, and none melts into one template."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from agents.log_analysis.mining.miner import Miner
from ops.bench.logs_scores import Scores, corrected, score

Maker = Callable[[random.Random], str]
_LINES = 60


def number(top: int = 99_999) -> Maker:
    return lambda chance: str(chance.randrange(top))


def digits(length: int) -> Maker:
    return lambda chance: "".join(chance.choice("0123456789abcdef") for _ in range(length))


def address(chance: random.Random) -> str:
    return ".".join(str(chance.randrange(1, 255)) for _ in range(4))


def port(chance: random.Random) -> str:
    return f"{address(chance)}:{chance.randrange(1024, 65000)}"


def one_of(*words: str) -> Maker:
    return lambda chance: chance.choice(words)


def dotted(chance: random.Random) -> str:
    parts = [
        chance.choice(["alpha", "beta", "player", "chat", "camera", "music", "wallet"]) for _ in range(3)
    ]
    return "com." + ".".join(parts)


def serial(prefix: str, top: int = 999) -> Maker:
    return lambda chance: f"{prefix}{chance.randrange(top)}"


#: style -> (template with {} where a value stands, makers of the values); `<*>` is what a reader wants to see there.
STYLES: dict[str, list[tuple[str, list[Maker]]]] = {
    "phone": [
        ('acquire lock={}, flags={}, tag="{}", name={}, ws={}, uid={}, pid={}',
         [number(10**9), digits(1), one_of("Screen On", "SyncLoop", "Audio Mix Out", "RIL"), dotted,
          one_of("null", "WorkSource{10113}"), number(), number()]),
        ('release:lock={}, flg={}, tag="{}"', [number(10**9), number(3), one_of("Screen On", "SyncLoop", "Audio Mix Out")]),
        ("setVisibility vis={} mask={} oldVal={} newVal={} diff={} bounds=Rect({}, {} - {}, {})", [number(9)] * 9),
        ("ready={},policy={},wakefulness={},bootcompleted={},auto={}",
         [one_of("true", "false"), number(4), number(4), one_of("true", "false"), number(9)]),
        ("Skipping Window{{{} token=Token{{{} Activity{{{} u0 {}/.MainActivity t{}}}}}}} -- going to hide",
         [digits(7), digits(7), digits(7), dotted, number(999)]),
        ("screen turned on", []),
        ("screen turned off", []),
        ("Killing {}:{}/u0a{} (adj {}): empty for {}s", [number(), dotted, number(300), number(900), number(9999)]),
    ],
    "steps": [
        ("onStepChanged {}", [number()]),
        ("onExtend:{} {} {} {}", [number(10**12)] + [number(20)] * 3),
        ("getTodayDetail = {}##{}##{}##{}", [number(10**12)] + [number()] * 3),
        ("calculateCalories total={}", [number()]),
        ("flush sensor data", []),
        ("REPORT : {} {} {} {}", [number()] * 4),
        ("needSync end date is {}", [number(10**8)]),
    ],
    "cluster": [
        ("Component State Change: Component {} is in the unavailable state (HWID={})", [serial("\\042alt"), number()]),
        ("Link error on broadcast tree Interconnect-{}:{}:{}:{}", [serial("0T"), number(60), number(9), number(9)]),
        ("PSU status ( on on )", []),
        ("ambient={}", [number(60)]),
        ("Fan speeds ( {} {} {} {} )", [number(5000)] * 4),
        ("boot (command {})", [number(4000)]),
        ("Linkerror event interval expired", []),
        ("NIFF: node node-{} has detected an available network connection on network {} via interface alt{}",
         [number(500), address, number(2)]),
    ],
    "desktop": [
        ("ARPT: {}.{}: Radio_Brcm::powerChange: System Sleep", [number(), number()]),
        ("en0: BSSID changed to {}", [lambda c: ":".join(digits(2)(c) for _ in range(6))]),
        ("PM response took {} ms ({}, powerd)", [number(3000), number(99)]),
        ("SwitchDriver<{}>({})::callback - packet for route = {} port = {} unplug = {}",
         [number(2), lambda c: "0x" + digits(4)(c), lambda c: "0x" + digits(2)(c), number(12), number(2)]),
        ("Sandbox: com.example.Viewer({}) deny({}) mach-lookup com.example.coreservices.launcher", [number(), number(2)]),
        ("network changed: DNS* Proxy", []),
        ("Error in CoreDragRemoveTrackingHandler: {}", [serial("-")]),
        ("Created Activity ID: {}, Description: retrieving cache entry", [lambda c: "0x" + digits(12)(c)]),
    ],
    "installer": [
        ("Session: {} initialized by client UpdateAgent.", [lambda c: f"{c.randrange(10**8)}_{c.randrange(10**9)}"]),
        ("Read out cached package applicability for package: {}, ApplicableState: {}, CurrentState:{}",
         [lambda c: f"Package_for_KB{c.randrange(10**7)}~{digits(16)(c)}~amd64~~6.1.1.{c.randrange(9)}", number(200), number(200)]),
        ("Loaded Servicing Stack {} with Core: {}", [one_of("v6.1.7601.23505"), one_of(r"C:\Win\winsxs\amd64_stack_31bf\core.dll")]),
        ("Failed to internally open package. [HRESULT = {} - E_INVALID_PACKAGE]", [lambda c: "0x" + digits(8)(c)]),
        ("{} WcpInitialize (wcp.dll version {}) called (stack @{})",
         [lambda c: f"0000000{c.randrange(9)}@2016/9/2{c.randrange(9)}:20:40:5{c.randrange(9)}.744", one_of("0.0.0.6"), lambda c: "0x" + digits(9)(c)]),
        ("Warning: Unrecognized packageExtended attribute.", []),
        ("Ending TrustedInstaller finalization.", []),
    ],
    "batch": [
        ("Finished task {} in stage {} (TID {}). {} bytes result sent to driver", [serial("0."), serial("1."), number(), number()]),
        ("Block {} stored as values in memory (estimated size {} KB, free {} KB)",
         [lambda c: f"rdd_{c.randrange(9)}_{c.randrange(99)}", lambda c: f"{c.randrange(99)}.{c.randrange(9)}", lambda c: f"{c.randrange(99)}.{c.randrange(9)}"]),
        ("Found block {} locally", [lambda c: f"rdd_{c.randrange(99)}_{c.randrange(99)}"]),
        ("Input split: {}", [lambda c: f"hdfs://{port(c)}/jobs/logs/part-{c.randrange(9999):05}:{c.randrange(9999)}+{c.randrange(9999)}"]),
        ("Registered signal handlers for [TERM, HUP, INT]", []),
        ("Progress of TaskAttempt {} is : {}",
         [lambda c: f"attempt_{c.randrange(10**13)}_00{c.randrange(99)}_m_00000{c.randrange(9)}_0", lambda c: f"0.{c.randrange(10**6)}"]),
        ("Address change detected. Old: {} New: {}", [lambda c: f"rack-sa-{c.randrange(90)}/{port(c)}", lambda c: f"rack-sa-{c.randrange(90)}:9000"]),
        ("Recalculating schedule, headroom=<memory:{}, vCores:{}>", [number(), lambda c: f"-{c.randrange(30)}"]),
        ("ERROR IN CONTACTING RM.", []),
    ],
    "supercomputer": [
        ("session opened for user {} by (uid={})", [one_of("root", "ann", "bob"), number(3)]),
        ("session closed for user {}", [one_of("root", "ann", "bob")]),
        ("synchronized to {}, stratum {}", [address, number(5)]),
        ("data_thread() got not answer from any [cluster_A{}] datasource", [number(9)]),
        ("sweep.c:{}: No topology change", [number(2000)]),
        ("pbs_mom: Bad file descriptor ({}) in tm_request, job {} not running", [number(20), number()]),
        ("running: run-parts {}", [one_of("/etc/cron.hourly", "/etc/cron.daily")]),
    ],
    "shop": [
        ("用户{}登录失败，来源 {}", [number(), address]),
        ("订单 {} 支付成功，金额 {} 元", [lambda c: f"SO{c.randrange(10**10)}", number()]),
        ("缓存刷新完成，用时{}毫秒", [number(900)]),
        ("数据库连接池已满", []),
        ("GET {} {} in {} ms", [lambda c: f"/cart/{c.randrange(9999)}", one_of("200", "404"), number(900)]),
    ],
}  # fmt: skip


def mined(style: str, seed: int = 7) -> tuple[list[str], list[str]]:
    chance = random.Random(seed)
    truth, lines = [], []
    for _ in range(_LINES):
        for template, makers in STYLES[style]:
            truth.append(template.format(*["<*>"] * len(makers)))
            lines.append(template.format(*(maker(chance) for maker in makers)))
    miner = Miner()
    found = [miner.add(line) for line in lines]
    return truth, [miner.templates[miner.final(one)].text() for one in found]


def scores(style: str) -> Scores:
    truth, found = mined(style)
    return score([corrected(one) for one in truth], [corrected(one) for one in found])


@pytest.mark.parametrize("style", STYLES)
def test_no_style_falls_to_pieces_or_melts(style: str) -> None:
    found = scores(style)
    assert found.ga >= 0.9
    assert found.fga >= 0.85
    assert found.fta >= 0.6
