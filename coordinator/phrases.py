"""The report's own words in Chinese: headings, states, notes; answers, quotes, names and ids are never among them."""

from __future__ import annotations

from kernel.wording import ENGLISH, KINDS_ZH, STATES_ZH, Phrases, Words

ZH: Phrases = {
    **KINDS_ZH,
    **STATES_ZH,
    "# Run {id}: {ended}": "# 运行 {id}：{ended}",
    ", ": "，",
    "{count} {state}": "{count} 个{state}",
    "Findings": "发现",
    "Actions": "操作",
    "Notifications": "通知",
    "Memories": "记忆",
    "Not found": "未找到",
    "Not done": "未完成",
    "{number}. **{title}** ({severity}, score {score:.2f})": "{number}. **{title}**（{severity}，可信度 {score:.2f}）",
    "   - quoted above: {places}": "   - 上文已引用：{places}",
    "   - speaks against it: {where} {quote}": "   - 反对：{where} {quote}",
    "{what}: {why}": "{what}：{why}",
    "Who did what": "分工",
    "{count} turn": "{count} 轮",
    "{count} turns": "{count} 轮",
    "{count} call": "{count} 次调用",
    "{count} calls": "{count} 次调用",
    "{count} token": "{count} 个词元",
    "{count} tokens": "{count} 个词元",
    "{spent}; planned by {planner}; run {run}": "{spent}；规划者：{planner}；运行 {run}",
    "{seconds:.1f} s": "{seconds:.1f} 秒",
    "nobody yet": "尚无",
    "part": "部分",
    "agent": "代理",
    "state": "状态",
    "worker": "工作进程",
    "brain": "方式",
    "tries": "尝试",
    "(cited)": "（已引用）",
    ", verified": "，已验证",
    ", NOT verified": "，未通过验证",
    ", not verified": "，未验证",
    "No answer: {reason}.": "没有回答：{reason}。",
    "No answer.": "没有回答。",
    "Read because the request mentions it: {sources}.": "因请求中提到而读取的来源：{sources}。",
    "Not accepted: {reason}": "未受理：{reason}",
    # notes on what was not done, as the desk itself words them
    "a claim was left out": "略去了一项说法",
    "a full answer": "完整的回答",
    "an action": "操作",
    "check of cited memories": "核对所引用的记忆",
    "log analysis": "日志分析",
    "MCP tools": "MCP 工具",
    "notify": "通知",
    "standing preferences": "长期偏好",
    "the memory was away: language and length follow the request alone": "记忆服务不可用：语言和长短只按本次请求",
    "read a source": "读取来源",
    "recall of memories": "回忆",
    "tell the channels": "通知各渠道",
    "the model asked for": "所要求的模型",
    "no message was sent": "没有发送消息",
    "none is configured; the routine answered": "没有配置模型；由固定流程回答",
    "an answer of the model": "模型的回答",
    "the model was too slow for the deadline; the routine answered": "模型太慢，赶不上时限；由固定流程回答",
    "no log was given; submit again with --log PATH or sources=[…]": (
        "没有给出日志；请加 --log PATH 或 sources=[…] 再次提交"
    ),
    "the deadline passed": "已过截止时间",
    "the memory did not answer in time: whether they still hold is not known": (
        "记忆服务未及时回答：不知道它们是否仍然有效"
    ),
}
#: The languages whose words the desk has; in any other it says so, and speaks English.
KNOWN = ("", "en", "zh")


def words_of(language: str) -> Words:
    """Return the words of a language, English where there are none."""
    return Words(ZH) if language == "zh" else ENGLISH
