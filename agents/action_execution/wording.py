"""The action agent's own sentences in Chinese; names, parameters and outputs are never among them."""

from __future__ import annotations

from kernel.contracts import Work
from kernel.style import style_for
from kernel.wording import ENGLISH, STATES_ZH, Phrases, Words

ZH: Phrases = {
    **STATES_ZH,
    "Nothing was run: {why}.": "没有执行任何操作：{why}。",
    "no action was named": "没有指明操作",
    "there is no such action here; known actions: {known}": "这里没有这个操作；已知操作：{known}",
    "none": "无",
    "no reason given": "未说明原因",
    "{what} ended as {state}: {detail}.": "{what} 已结束，状态：{state}（{detail}）。",
    "{what} was run; nothing verifies it.": "已执行 {what}；没有可用的验证。",
    "{what} was run and is verified: {detail}.": "已执行 {what}，并已验证：{detail}。",
    "{what} was run and is NOT verified: {detail}.": "已执行 {what}，但未通过验证：{detail}。",
}


def words(work: Work) -> Words:
    """Return the words of the requester's language, English where the agent has none of it."""
    return Words(ZH) if style_for(work).language == "zh" else ENGLISH
