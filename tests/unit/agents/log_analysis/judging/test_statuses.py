"""What platforms say of workloads: `kubectl describe`, `get pods`, events, `systemctl status`."""

from __future__ import annotations

import pytest

from agents.log_analysis.judging.statuses import meant, statuses

DESCRIBED = """Name:             shop-7c67
Namespace:        default
Status:           Running
Containers:
  app:
    State:          Waiting
      Reason:       CrashLoopBackOff
    Last State:     Terminated
      Reason:       OOMKilled
      Exit Code:    137
      Started:      Thu, 27 Feb 2025 07:36:21 +0100
    Ready:          False
    Restart Count:  6
    Limits:
      memory:  100Mi
Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s
                             node.kubernetes.io/unreachable:NoExecute op=Exists for 300s
Events:
  Type     Reason     Age                    From               Message
  ----     ------     ----                   ----               -------
  Normal   Pulled     5m10s                  kubelet            Successfully pulled image "shop:1.0" in 271ms
  Warning  BackOff    87s (x23 over 6m33s)   kubelet            Back-off restarting failed container app in pod shop-7c67"""

HEALTHY = """Name:             shop-7c67
Status:           Running
Containers:
  app:
    State:          Running
      Started:      Tue, 26 Nov 2024 13:09:06 +0100
    Last State:     Terminated
      Reason:       Completed
      Exit Code:    0
    Restart Count:  0
    Liveness:       http-get http://:8080/healthz delay=0s timeout=1s period=10s #success=1 #failure=3
Events:           <none>"""

LISTED = """NAME                     READY   STATUS             RESTARTS   AGE
web-7c67-r7wwr           1/1     Running            0          10m
shop-7c67-4jkg9          0/1     ImagePullBackOff   5 (2m ago) 10m
LAST SEEN   TYPE      REASON      OBJECT          MESSAGE
2m          Warning   Unhealthy   pod/cart-1      Readiness probe failed: HTTP probe failed with statuscode: 503
5m          Normal    Pulled      pod/shop-7c67   Container image already present"""


def test_a_described_pod() -> None:
    restarting, memory = statuses(DESCRIBED.split("\n"))
    assert (restarting.kind.key, restarting.line, restarting.more) == ("restarting", 7, [22, 13])
    assert (memory.kind.key, memory.line, memory.more) == ("out_of_memory", 9, [13, 15])
    assert (memory.subject, memory.exit_code) == ("shop-7c67", 137)
    assert memory.message == "Last State: Terminated, Reason: OOMKilled, Exit Code: 137"


def test_a_healthy_pod_says_nothing() -> None:
    assert statuses(HEALTHY.split("\n")) == []


def test_lists_of_pods_and_events() -> None:
    found = [(s.kind.key, s.subject, s.line) for s in statuses(LISTED.split("\n"))]
    assert found == [("image_pull", "shop-7c67-4jkg9", 3), ("probe_failed", "cart-1", 5)]


def test_a_failed_unit() -> None:
    text = "× app.service - App\n     Active: failed (Result: exit-code) since Mon\n   Main PID: 8 (code=exited, status=203/EXEC)"
    assert [(s.kind.key, s.subject) for s in statuses(text.split("\n"))] == [
        ("crash", "app.service"),
        ("command_not_found", "app.service"),
    ]


@pytest.mark.parametrize(
    ("message", "names"),
    [
        ('exec: "wge": executable file not found in $PATH', ("wge", "wget")),
        ('exec: "/usr/bin/pyhton3": no such file', ("pyhton3", "python3")),
        ("sh: crul: command not found", ("crul", "curl")),
        ('exec: "curl": executable file not found in $PATH', None),
        ('exec: "shop-server": executable file not found in $PATH', None),
        ("no command here", None),
    ],
)
def test_what_a_mistyped_command_may_have_meant(message: str, names: tuple[str, str] | None) -> None:
    assert meant(message) == names
