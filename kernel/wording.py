"""Our own sentences in other languages: English stands in the code, a table says it otherwise."""

from __future__ import annotations

import re
from collections.abc import Mapping

#: English templates with what is said in their place.
Phrases = Mapping[str, str]

#: Labels of the kinds of causes (agents.log_analysis.kinds), which stand in the titles of findings.
KINDS_ZH: Phrases = {
    "Out of memory": "内存不足",
    "No space left on disk": "磁盘空间不足",
    "The command to start does not exist": "启动命令不存在",
    "The image cannot be pulled": "镜像无法拉取",
    "No node can take the pod": "没有节点可以调度该 Pod",
    "A health probe fails": "健康探针失败",
    "Work piles up": "任务积压",
    "The container restarts again and again": "容器反复重启",
    "Slow operations": "操作缓慢",
    "A number keeps growing": "数值持续增长",
    "Too many open files": "打开的文件过多",
    "Connection pool exhausted": "连接池耗尽",
    "Thread pool exhausted": "线程池耗尽",
    "Clocks differ": "时钟不一致",
    "Certificate or TLS failure": "证书或 TLS 故障",
    "Name resolution failed": "域名解析失败",
    "Connection refused": "连接被拒绝",
    "Database schema does not match": "数据库结构不匹配",
    "A query is wrong": "查询语句有误",
    "Database constraint violated": "违反数据库约束",
    "Deadlock or lock timeout": "死锁或等锁超时",
    "Rate limit reached": "触发限流",
    "Authentication or authorisation failed": "认证或授权失败",
    "Configuration is wrong or missing": "配置错误或缺失",
    "Connection lost": "连接中断",
    "Timeout": "超时",
    "Crash": "崩溃",
    "Corrupt data": "数据损坏",
    "A dependency fails": "依赖服务故障",
    "The process stops": "进程停止",
    "Retries": "重试",
    "Errors": "错误",
}
#: States of runs, calls and messages.
STATES_ZH: Phrases = {
    "succeeded": "成功",
    "done": "已完成",
    "failed": "失败",
    "cancelled": "已取消",
    "expired": "已过期",
    "denied": "被拒绝",
    "unknown": "结果未知",
    "sent": "已发送",
    "skipped": "已跳过",
    "critical": "严重",
    "error": "错误",
    "warning": "警告",
    "info": "提示",
}


#: The first label in a title is its own; what comes later is quoted.
_LABEL = re.compile(rf"(?<!\w)({'|'.join(map(re.escape, KINDS_ZH))}): ")


class Words:
    """Says our own sentences in one language; what the table lacks is said in English."""

    def __init__(self, phrases: Phrases | None = None) -> None:
        self._phrases = phrases or {}

    def __call__(self, english: str, **values: object) -> str:
        """Return a sentence with its values put in; braces in a value mean nothing."""
        return self._phrases.get(english, english).format(**values)

    def plain(self, text: str) -> str:
        """Return a fixed text as the table has it."""
        return self._phrases.get(text, text)

    def title(self, title: str) -> str:
        """Return a finding's title with the label of its kind in this language; the rest is quoted."""
        told = _LABEL.search(title)
        if told is None or told[1] not in self._phrases:
            return title
        return f"{title[: told.start()]}{self._phrases[told[1]]}：{title[told.end() :]}"


ENGLISH = Words()
