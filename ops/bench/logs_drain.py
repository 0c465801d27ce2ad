"""drain3 beside our miner: with the masks published for each set, and with four generic ones."""

from __future__ import annotations

from collections.abc import Sequence

from drain3 import TemplateMiner
from drain3.masking import MaskingInstruction
from drain3.template_miner_config import TemplateMinerConfig

#: Masks, similarity and depth that Drain's authors publish for each set: logpai/logparser (Apache-2.0),
#: logparser/Drain/benchmark.py. They are the rival's tuning and stand here alone; ours knows no set.
PUBLISHED: dict[str, tuple[tuple[str, ...], float, int]] = {
    "HDFS": ((r"blk_-?\d+", r"(\d+\.){3}\d+(:\d+)?"), 0.5, 4),
    "Hadoop": ((r"(\d+\.){3}\d+",), 0.5, 4),
    "Spark": ((r"(\d+\.){3}\d+", r"\b[KGTM]?B\b", r"([\w-]+\.){2,}[\w-]+"), 0.5, 4),
    "Zookeeper": ((r"(/|)(\d+\.){3}\d+(:\d+)?",), 0.5, 4),
    "BGL": ((r"core\.\d+",), 0.5, 4),
    "HPC": ((r"=\d+",), 0.5, 4),
    "Thunderbird": ((r"(\d+\.){3}\d+",), 0.5, 4),
    "Windows": ((r"0x.*?\s",), 0.7, 5),
    "Linux": ((r"(\d+\.){3}\d+", r"\d{2}:\d{2}:\d{2}"), 0.39, 6),
    "Android": (
        (
            r"(/[\w-]+)+",
            r"([\w-]+\.){2,}[\w-]+",
            r"\b(\-?\+?\d+)\b|\b0[Xx][a-fA-F\d]+\b|\b[a-fA-F\d]{4,}\b",
        ),
        0.2,
        6,
    ),
    "HealthApp": ((), 0.2, 4),
    "Apache": ((r"(\d+\.){3}\d+",), 0.5, 4),
    "Proxifier": (
        (r"<\d+\ssec", r"([\w-]+\.)+[\w-]+(:\d+)?", r"\d{2}:\d{2}(:\d{2})*", r"[KGTM]B"),
        0.6,
        3,
    ),
    "OpenSSH": ((r"(\d+\.){3}\d+", r"([\w-]+\.){2,}[\w-]+"), 0.6, 5),
    "OpenStack": ((r"((\d+\.){3}\d+,?)+", r"/.+?\s", r"\d+"), 0.5, 5),
    "Mac": ((r"([\w-]+\.){2,}[\w-]+",), 0.7, 6),
}

_EDGES = r"((?<=[^A-Za-z0-9])|^)({})((?=[^A-Za-z0-9])|$)"
#: ip, uuid, hex, number: what one would write without knowing the log; similarity and depth are drain3's defaults.
GENERIC: tuple[tuple[str, ...], float, int] = (
    (
        _EDGES.format(r"\d{1,3}\.\d{1,3}\.\d{1,3}\.\d{1,3}"),
        _EDGES.format(r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"),
        _EDGES.format(r"0x[a-f0-9A-F]+"),
        _EDGES.format(r"[\-\+]?\d+"),
    ),
    0.4,
    4,
)
_UNKNOWN_SET: tuple[tuple[str, ...], float, int] = ((), 0.5, 4)


def published(messages: Sequence[str], name: str) -> list[str]:
    """Return each message's template, mined with the masks published for the set of this name."""
    return _mined(messages, PUBLISHED.get(name, _UNKNOWN_SET))


def generic(messages: Sequence[str], name: str) -> list[str]:
    """Return each message's template, mined with the four generic masks."""
    del name
    return _mined(messages, GENERIC)


def _mined(messages: Sequence[str], setting: tuple[tuple[str, ...], float, int]) -> list[str]:
    masks, similarity, depth = setting
    config = TemplateMinerConfig()
    config.masking_instructions = [MaskingInstruction(mask, "*") for mask in masks]
    config.drain_sim_th, config.drain_depth = similarity, depth
    miner = TemplateMiner(config=config)
    found = [miner.add_log_message(message)["cluster_id"] for message in messages]
    texts = {cluster.cluster_id: cluster.get_template() for cluster in miner.drain.clusters}
    return [texts[one] for one in found]
