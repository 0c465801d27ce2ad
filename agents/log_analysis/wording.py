"""The log agent's own sentences in Chinese; lines of logs, names and times are never among them."""

from __future__ import annotations

from agents.log_analysis.phrases import ANSWERS_ZH
from agents.runtime.spec import TurnView
from kernel.style import Style, style_for
from kernel.wording import ENGLISH, KINDS_ZH, Phrases, Words

ZH: Phrases = {
    **KINDS_ZH,
    "{label}: {message}": "{label}：{message}",
    # the verdict
    "No cause was found. {looked}": "没有找到原因。{looked}",
    "No sign of trouble was found. {looked}": "没有发现异常迹象。{looked}",
    "No line tells why. {looked}": "没有日志行说明原因。{looked}",
    "Warnings, none of a known kind of failure:": "警告（都不属于已知的故障类型）：",
    "- {count} × {template}, the first at {time} ({where})": "- {count} × {template}，首次于 {time}（{where}）",
    "Kinds of lines that came only once or twice:": "只出现过一两次的日志行：",
    "Lines with {word} ({shown} of {total}):": "含 {word} 的日志行（共 {total} 行，显示 {shown} 行）：",
    "Most likely cause": "最可能的原因",
    "Possible cause": "可能的原因",
    "{sure} (score {score:.2f}): {title}": "{sure}（可信度 {score:.2f}）：{title}",
    " Only the {events} events around what was asked about were judged: {start} to {end}.": (
        "只看了所问时间前后（{start} 至 {end}）的 {events} 条记录。"
    ),
    "Other candidates:": "其他可能：",
    "Services by what changed between the two windows: {told}.": "按两个时间段之间的变化排列的服务：{told}。",
    "- {title} (score {score:.2f}, {where})": "- {title}（可信度 {score:.2f}，{where}）",
    # what happened
    ". ": "；",
    ".": "。",
    "1 line tells": "有 1 行记录",
    "{count} lines tell": "有 {count} 行记录",
    "{lines} of it, the first of them {where}": "{lines}，首行为 {where}",
    ". Since {time}.": "。始于 {time}。",
    " The log begins in the trouble: what was before it, and what is new with it, cannot be told.": (
        "日志一开始就处于异常之中：无法得知此前的情况，也无法判断哪些是新出现的。"
    ),
    " ({low} to {high}, {count} times)": "（{low} 至 {high}，{count} 次）",
    "What speaks for it:": "支持的理由：",
    "What speaks against it:": "反对的理由：",
    "{lines} of it, first at {time} ({where})": "{lines}，首次出现于 {time}（{where}）",
    ", last at {time} (line {line})": "，最后一次于 {time}（第 {line} 行）",
    "it is the earliest error of the log, at {time}": "它是日志中最早的错误，时间 {time}",
    "a change came shortly before, at {time} ({where})": "此前不久有一次变更：{time}（{where}）",
    "others name it as failing: {names}": "其他服务指明它出现故障：{names}",
    "it comes from {where}": "它来自{where}",
    " Only {by} {entity} shows it.": "仅{by} {entity} 出现。",
    "only {entity} ({count} of {total} lines; {by} with {share} of all lines)": (
        "单一{by} {entity}（{total} 行中的 {count} 行；它占全部日志的 {share}）"
    ),
    "mostly {entity} ({count} of {total} lines; {by} with {share} of all lines)": (
        "以 {entity} 为主的{by}（{total} 行中的 {count} 行；它占全部日志的 {share}）"
    ),
    "{count} of {total} {by}s; the most, {entity}, has {part} ({share} of all lines)": (
        "{total} 个{by}中的 {count} 个；最多的 {entity} 占 {part}（占全部日志的 {share}）"
    ),
    ", in a sample of {count}": "，按 {count} 行的样本",
    "host": "主机",
    "service": "服务",
    "node": "节点",
    "user": "用户",
    "Along {failed} of {paths} {kind} ids the failure ran {told} ({count} of them, such as {id})": (
        "{paths} 个 {kind} 标识中有 {failed} 个失败，故障沿 {told} 传播（其中 {count} 个，例如 {id}）"
    ),
    "{count} stack traces of {exception} lead to {frame} ({where})": (
        "{count} 个 {exception} 堆栈指向 {frame}（{where}）"
    ),
    "at least {count} stack traces of {exception} lead to {frame} ({where})": (
        "至少 {count} 个 {exception} 堆栈指向 {frame}（{where}）"
    ),
    "it was there before the window asked about, at {time} already ({where})": (
        "它在所问时间段之前就已存在：{time}（{where}）"
    ),
    "the log holds nothing but trouble, so what is usual cannot be told from what is new": (
        "日志中只有异常，无法区分平常与新出现的情况"
    ),
    "it names what is wrong itself, not what follows from it": "它指明的是问题本身，而不是后果",
    "it took {low} to {high}, {median} in the middle, measured {measured} times": (
        "耗时 {low} 至 {high}，中位数 {median}，共测得 {measured} 次"
    ),
    "it took {early} at first and {late} from {rose} on": "起初耗时 {early}，自 {rose} 起为 {late}",
    "measured from this line to the next of {until}": "从该行量到下一行{until}",
    "{said} is no known command: it may be a typing error, and {meant} may be meant": (
        "{said}不是已知命令：可能是拼写错误，原意可能是{meant}"
    ),
    "{name} grew from {early:g} to {late:g}, measured {measured} times, and to the end": (
        "{name} 从 {early:g} 增至 {late:g}，共测得 {measured} 次，直到结尾仍在增长"
    ),
    "exit code {code}: {meaning}": "退出码 {code}：{meaning}",
    "the program ended with an error of its own": "程序自身出错退出",
    "the command may not be executed": "命令无执行权限",
    "the command was not found": "找不到命令",
    "the container could not start": "容器无法启动",
    "the program aborted": "程序异常中止",
    "killed by SIGKILL, as the kernel does where the memory limit is passed": (
        "被 SIGKILL 终止，超出内存上限时内核会这样做"
    ),
    "segmentation fault": "段错误",
    "stopped by SIGTERM": "被 SIGTERM 停止",
    "it rose {fold}-fold at {time}": "它在 {time} 增至 {fold} 倍",
    "it came much more often from {time} on": "自 {time} 起它出现得多得多",
    "it came in a burst at {time}": "它在 {time} 突然集中出现",
    "it began at {time} and was not there before": "它始于 {time}，此前没有出现",
    "it is there all the time, so it is hardly what changed": "它一直存在，因此多半不是这次的变化",
    "it names another service as failing: {names}": "它指明出现故障的是其他服务：{names}",
    "a line says that it was over at {time} ({where})": "有一行表明它已结束：{time}（{where}）",
    "nothing of the trouble in the last {told} of the log, in which other lines went on ({where})": (
        "日志最后 {told} 内整个异常再未出现，而其他日志行照常（{where}）"
    ),
    "it says that all is well, or well again": "该行表明一切正常或已恢复",
    "what was asked for was wrong: the fault of one caller, not of the service": (
        "请求本身有误：是调用方的问题，不是服务的问题"
    ),
    "one line of a dump: it shows a state after the failure": "转储中的一行：显示的是故障之后的状态",
    "this log calls its failures fatal, and this line only an error": "该日志把故障记为 fatal，而这一行只是 error",
    "it trickles through the whole log, so it is hardly what changed": "它零星贯穿整个日志，因此多半不是这次的变化",
    "It follows from {blamed}": "它由 {blamed} 引起",
    "It follows a change at {time} ({where})": "此前有一次变更：{time}（{where}）",
    "First error of each service, by its stamp: {told}": "各服务的首个错误（按其时间戳）：{told}",
    "More than a day apart, so hardly the same failure: {told}": "相隔一天以上，多半不是同一故障：{told}",
    "Kinds of lines, against the time before: {told}": "与之前相比，日志行的种类：{told}",
    "new": "种新增",
    "more often": "种增多",
    "less often": "种减少",
    "vanished": "种消失",
    "Slow from {time} on ({where})": "自 {time} 起变慢（{where}）",
    "shortly before came a line that the log hardly ever has: {message}, at {time} ({where})": (
        "此前不久有一行日志中极少见的记录：{message}，时间 {time}（{where}）"
    ),
    "Service: {service}": "服务：{service}",
    'Pattern: "{phrase}"': "特征：“{phrase}”",
    "A model's name for it: {name}": "模型给它的名称：{name}",
    "The log is silent for {told}, from {start} to {end}.": "日志从 {start} 到 {end} 沉默了 {told}。",
    "From {start} on no line is of level {level} or below; those above go on: its level may be raised.": (
        "自 {start} 起不再有 {level} 及以下级别的行，更高级别的行照旧：日志级别可能已调高。"
    ),
    "From {time} on the log has {fold} times as many lines as before, of all kinds, to its end.": (
        "自 {time} 起直到结束，日志的行数是此前的 {fold} 倍，各类行都是如此。"
    ),
    " Its stamps name no zone: clocks that are put forward leave out such an hour.": (
        "其时间戳未注明时区：时钟拨快时恰好会缺这样一个小时。"
    ),
    "{name} is silent for {told}, from {start} to {end}.": "{name} 从 {start} 到 {end} 沉默了 {told}。",
    "{name} fell silent at {start} and stayed so to the end of the log, {told} later.": (
        "{name} 自 {start} 起沉默，直到 {told} 后日志结束。"
    ),
    "{count} events": "{count} 条记录",
    "event {number}": "第 {number} 条记录",
    "Starts and restarts:": "启动与重启：",
    "Changes seen:": "看到的变更：",
    "{count} lines are stamped far from all others: their times are not believed": (
        "{count} 行的时间与其他所有行相距甚远：不予采信"
    ),
    "Reading notes:": "读取说明：",
    "Lines that were asked for": "所要的日志行",
    "Error lines": "错误日志行",
    "Lines with words of trouble, at harmless levels": "级别正常但含故障字样的日志行",
    "{heading}: none.": "{heading}：无。",
    "{heading} ({shown} of {total}):": "{heading}（共 {total} 行，显示 {shown} 行）：",
    # what was looked at
    " from {start} to {end}": "，时间从 {start} 到 {end}",
    " without times": "，没有时间",
    "none": "无",
    "no file": "无文件",
    "Looked at {events} events{span} ({levels}) in {names}.": "查看了 {names} 中的 {events} 条记录{span}（{levels}）。",
    "no line of level error or worse, and no line that tells of a known kind of failure. {looked}": (
        "没有 error 及以上级别的日志行，也没有已知故障类型的日志行。{looked}"
    ),
    "Looked for errors, warnings, words of known causes, slow work, bad states, silences, restarts.": (
        "查找了错误、警告、已知原因的字样、缓慢的操作、异常状态、沉默与重启。"
    ),
    **ANSWERS_ZH,
    # a memory that hits
    "Most likely cause: {title}": "最可能的原因：{title}",
    "Seen before [mem:{id}]: {text}": "以前见过 [mem:{id}]：{text}",
    "The log says it again: {lines} so, first in line {line}; newest first:": (
        "日志再次证实：{lines}，首见于第 {line} 行；最新的在前："
    ),
    "1 line says": "有 1 行",
    "{count} lines say": "有 {count} 行",
    "time stamps name no zone: taken as {zone}": "时间戳未注明时区：按 {zone} 处理",
    "time stamps name no year: taken from the file's last change and the order of lines": (
        "时间戳没有年份：按文件最后修改时间和行的先后推定"
    ),
    "some time stamps name no year: taken from lines beside them that do": "部分时间戳没有年份：按旁边有年份的行推定",
    "time stamps name no date: the first is taken as the day of the file's last change": (
        "时间戳没有日期：第一行按文件最后修改的日期计"
    ),
    "dates such as 01/02/2026 are taken as day first": "01/02/2026 这类日期按日在前解读",
    " very long line(s) were cut; head and end were kept": " 行过长的日志被截短，保留了首尾",
    " NUL bytes were skipped (a hole left by truncating the file)": " 个 NUL 字节被跳过（截断文件留下的空洞）",
    # what nobody follows
    "orders in a log: {place}": "日志中的指令：{place}",
    "shaped like an instruction: read as data, and not followed": "形似指令：只作为数据读取，未予执行",
    # nothing to look at
    "Nothing was asked. The memory is given this when the run has ended:": "没有提出问题。运行结束后会交给记忆：",
    "No log was given, so nothing was analysed. Name one with --log PATH, or pass `sources`.": (
        "没有给出日志，因此未做分析。请用 --log PATH 指定，或传入 `sources`。"
    ),
    "no log was given: the request names no source": "没有给出日志：请求没有指明来源",
    "The logs could not be read: {why}. {advice}": "无法读取日志：{why}。{advice}",
}


def style(view: TurnView) -> Style:
    """Return how the requester wants to be answered."""
    return style_for(view.work)


def words(view: TurnView) -> Words:
    """Return the words of the requester's language, English where the agent has none of it."""
    return Words(ZH) if style(view).language == "zh" else ENGLISH
