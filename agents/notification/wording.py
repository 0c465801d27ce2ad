"""The notification agent's own words in Chinese; titles, quotes and names stay as they are."""

from __future__ import annotations

from kernel.contracts import Work
from kernel.style import style_for
from kernel.wording import ENGLISH, KINDS_ZH, STATES_ZH, Phrases, Words

ZH: Phrases = {
    **KINDS_ZH,
    **STATES_ZH,
    "Request: {text}": "请求：{text}",
    "Cause": "原因",
    "Also": "另外",
    "{word}: {title} ({severity}, {score:.0%} sure)": "{word}：{title}（{severity}，可信度 {score:.0%}）",
    "  and {more} more lines": "  还有 {more} 行",
    "No cause was found.": "没有找到原因。",
    "Action: {text}": "操作：{text}",
    ", verified": "，已验证",
    ", NOT verified": "，未通过验证",
    "Not done: {what}: {why}": "未完成：{what}：{why}",
    "Nobody was notified: {why}.": "没有通知任何人：{why}。",
    "the tool notify is not available here": "这里没有 notify 工具",
    "no channel was named and none is configured by default": "没有指明渠道，也没有默认渠道",
    "{channel}: {state}{detail}.": "{channel}：{state}{detail}。",
}


def words(work: Work) -> Words:
    """Return the words of the requester's language, English where the agent has none of it."""
    return Words(ZH) if style_for(work).language == "zh" else ENGLISH
