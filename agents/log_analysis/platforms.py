"""What a kind of cause is, and the kinds that container platforms and service managers name; pure."""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Kind:
    """One kind of cause. `weight` says how far down the chain it usually lies; `alone` needs no error level."""

    key: str
    label: str
    weight: float
    pattern: re.Pattern[str]
    alone: bool = False


def kind(key: str, label: str, weight: float, pattern: str, *, alone: bool = False) -> Kind:
    """Return a kind; its pattern ignores case."""
    return Kind(key, label, weight, re.compile(rf"(?i){pattern}"), alone)


PLATFORM_KINDS = (
    kind(
        "command_not_found",
        "The command to start does not exist",
        1.0,
        r"executable file not found|exec format error|\bcommand not found\b|no such file or directory: unknown"
        r"|exec: \"[^\"]{1,200}\": (?:stat|permission|is a directory)|status=203/EXEC|找不到命令",
        alone=True,
    ),
    kind(
        "image_pull",
        "The image cannot be pulled",
        1.0,
        r"ImagePullBackOff|ErrImage(?:Pull|NeverPull)|InvalidImageName|pull access denied|manifest (?:for .{1,200} )?"
        r"(?:not found|unknown)|fail\w* to pull (?:and unpack )?(?:the )?image|Back-off pulling image"
        r"|repository .{1,200} not found|镜像拉取失败",
        alone=True,
    ),
    kind(
        "unschedulable",
        "No node can take the pod",
        1.0,
        r"FailedScheduling|nodes? (?:are|is) available: |insufficient (?:cpu|memory|ephemeral-storage|pods)"
        r"|untolerated taint|didn'?t match pod'?s node|\bUnschedulable\b",
        alone=True,
    ),
    kind(
        "probe_failed",
        "A health probe fails",
        0.6,
        r"(?:readiness|liveness|startup) probe (?:failed|errored)|failed (?:readiness|liveness|startup) probe"
        r"|failed liveness|health ?check failed",
    ),
    kind(
        "restarting",
        "The container restarts again and again",
        0.5,
        r"CrashLoopBackOff|back-?off restarting failed|start request repeated too quickly|Start-limit",
        alone=True,
    ),
)
