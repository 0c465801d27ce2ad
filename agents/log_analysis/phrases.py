"""The sentences in Chinese that answer questions which are no search for a cause; names and times are filled in."""

from __future__ import annotations

from kernel.wording import Phrases

ANSWERS_ZH: Phrases = {
    "lines": "行日志",
    "lines of level {level} or worse": "行 {level} 及以上级别的日志",
    "lines of the kind {kind}": "行 {kind} 类日志",
    "lines that say that a login failed": "行记录登录失败的日志",
    "In all, {total} lines have {words}, or other words for it.": "含有 {words} 或同义词的日志共 {total} 行。",
    "lines of level {level}": "行 {level} 级别的日志",
    "lines of level {level} with {pattern}": "行含 {pattern} 的 {level} 级别日志",
    "{count} {what}, by {by}:": "共 {count} {what}，按{by}：",
    "{count} {what}, by {by} ({other} name none):": "共 {count} {what}，按{by}（{other} 行没有）：",
    "- none: {names}": "- 没有的：{names}",
    "- none: {names} and {count} more": "- 没有的：{names} 等，另有 {count} 个",
    "At any level, lines with each word: {told}.": "不论级别，各词语的行数：{told}。",
    "- and {count} more of them": "- 另有 {count} 个",
    "{name} ({by}) has none of the {total} {what}.": "{name}（{by}）没有：{total} {what}均不属于它。",
    "{name} ({by}) has {count} of {total} {what}, the first of them {first}.": (
        "{name}（{by}）占 {total} {what}中的 {count}，首行为 {first}。"
    ),
    "{what} of {name} ({by})": "{what}，仅限 {name}（{by}）",
    "These have them:": "它们属于：",
    "lines with {pattern}": "行含 {pattern} 的日志",
    "the beginning": "开头",
    "the end": "结尾",
    "no time": "未知时间",
    "There are no {what}.": "没有{what}。",
    "{total} {what}: {rate} per {unit} on average; most from {time} on: {count} in {width}.": (
        "共 {total} {what}：平均每{unit} {rate}；最多的一段始于 {time}：{width} 内 {count}。"
    ),
    "{total} {what}: all within {told}, too short for a rate per {unit}.": (
        "共 {total} {what}：全部在 {told} 之内，时间太短，不足以给出每{unit}的速率。"
    ),
    " As many again from {times} on.": "自 {times} 起同样多。",
    "In parts of {width}:": "每 {width} 一段：",
    "{total} {what}: without times.": "共 {total} {what}：没有时间。",
    "minute": "分钟",
    "hour": "小时",
    "day": "天",
    "1 line only ({what}), at {time} ({where}).": "仅 1 {what}，时间 {time}（{where}）。",
    "Outside of it the log tells of trouble: {title}, at {time} ({where}).": (
        "该时间段之外日志中有异常：{title}，时间 {time}（{where}）。"
    ),
    "- and {count} more": "- 另有 {count} 段",
    "No {by} stands in the {count} {what}.": "{count} {what}中没有 {by}。",
    "{entity} has most: {count} of {events} {what} (different {by}: {total}).": (
        "最多的是 {entity}：{events} {what}中占 {count}（共 {total} 个不同的 {by}）。"
    ),
    "{total} {what}, the first at {start} ({first}), the last at {end} ({last}).": (
        "共 {total} {what}，首次于 {start}（{first}），最后于 {end}（{last}）。"
    ),
    "{total} {what}, {bad} of them warnings or worse.": "共 {total} {what}，其中 {bad} 行为警告或更严重。",
    "Warnings and worse:": "警告及更严重的：",
    "What the log said:": "日志内容：",
    "Since {time}: of the kinds of lines {new} new, {more} more often, {fewer} less often, {vanished} vanished.": (
        "自 {time} 起：新增 {new} 种日志行，{more} 种增多，{fewer} 种减少，{vanished} 种消失。"
    ),
    "Hardly ever seen, and shortly before the trouble:": "极少出现、且就在异常之前的日志行：",
    "No line holds {words}; this is what the log does tell of:": "没有含 {words} 的行；日志中实际记录的是：",
    "From {start} to {end} no line is of level error or worse.": "{start} 至 {end} 没有 error 及以上级别的日志行。",
    "{count} of the {total} lines with {word} are of level error or worse, first at {time} ({where}).": (
        "含 {word} 的 {total} 行中有 {count} 行为 error 及以上级别，首次于 {time}（{where}）。"
    ),
    "None of the {total} lines with {word} is of level error or worse.": (
        "含 {word} 的 {total} 行中没有一行为 error 及以上级别。"
    ),
    "No line with {word} is of level error or worse from {start} to {end}.": (
        "{start} 至 {end} 没有含 {word} 的 error 及以上级别的日志行。"
    ),
    "What came after it:": "此后：",
    "shortly before it was warned {count} times: {message}, at {time} ({where}); last: {last} ({until})": (
        "此前不久有 {count} 次警告：{message}，{time}（{where}）；最后一次：{last}（{until}）"
    ),
    "a change came {told} after its last line, at {time} ({where})": "其最后一行之后 {told} 有变更：{time}（{where}）",
    "Errors of one id within {seconds:g} s are one failure: the service called last goes first": (
        "同一标识在 {seconds:g} 秒内的错误算作同一次故障：无论时间戳先后，最后被调用的服务排在最前"
    ),
    "Not shown: no line of the log tells of a change.": "没有依据：日志中没有任何变更记录。",
    "Not proven: lines tell of changes, but not when.": "无法证实：日志记录了变更，但没有时间。",
    "Hardly: the trouble began at {began}, and the first change that the log tells of came later, at {time}.": (
        "可能性不大：异常始于 {began}，而日志中最早的变更在其后，时间 {time}。"
    ),
    "Possible, not proven: a change came {told} before the trouble began; no line says that it is the cause.": (
        "有可能，但未证实：异常开始前 {told} 有一次变更；没有日志行说明它就是原因。"
    ),
    " Another came {told} after its last line.": "异常最后一行之后 {told} 又有一次变更。",
    "New:": "新增：",
    "More often:": "增多：",
    "Vanished:": "消失：",
    "Less often:": "减少：",
    "- {template}: {before} before, {after} after ({where})": "- {template}：之前 {before}，之后 {after}（{where}）",
    "No line says so.": "没有这样的日志行。",
    "The first line that says so is of {time} ({where}); {total} lines do.": (
        "最早的一行是 {time}（{where}）；共 {total} 行。"
    ),
    "It began at {time}; the first line of trouble is {where}.": "始于 {time}；最早的异常行是 {where}。",
    "Yes: a line says so at {time} ({where}).": "已恢复：{time} 的日志行这样写明（{where}）。",
    "It began at {time} ({where}); the first line of other trouble is {earlier}, at {before}.": (
        "始于 {time}（{where}）；其他异常最早的一行是 {earlier}，时间 {before}。"
    ),
    "It stopped: the last line of the trouble came at {time} ({where}).": (
        "已停止：异常的最后一行出现于 {time}（{where}）。"
    ),
    "No line says so: the last line of the trouble came at {time} ({where}).": (
        "没有日志行表明已恢复：异常的最后一行出现于 {time}（{where}）。"
    ),
    " {count} events followed without it": "此后有 {count} 条记录不含该异常",
    ", until {time} ({told} later)": "，直至 {time}（其后 {told}）",
    "; {count} of them are other errors": "；其中 {count} 条是其他错误",
    "An ordinary line after it:": "此后的一行正常日志：",
    "No line says so: it came last at {time} (line {line}), and the log ends at {end}.": (
        "没有日志行表明已恢复：最后一次于 {time}（第 {line} 行），日志结束于 {end}。"
    ),
    "The most frequent {what}:": "最常见的{what}：",
    "lines of level {level} or worse with {pattern}": "行含 {pattern} 的 {level} 及以上级别日志",
    "Not looked for: {words}.": "未用于查找：{words}。",
    "No line holds {words}.": "没有含 {words} 的行。",
    "No line holds all of it; lines with each word: {told}.": "没有同时包含全部词语的行；各词语的行数：{told}。",
    "It came last at {time} ({where}); {total} lines say so.": "最后一次于 {time}（{where}）；共 {total} 行。",
    "A tie: {names} have {count} each of the {events} {what} (different {by}: {total}).": (
        "并列最多：{events} {what}中 {names} 各占 {count}（共 {total} 个不同的 {by}）。"
    ),
    "None stands out: {even} have {count} each of the {events} {what} (different {by}: {total}).": (
        "没有突出的：{events} {what}中 {even} 个各占 {count}（共 {total} 个不同的 {by}）。"
    ),
    "{number}. {count} lines: {message} ({where})": "{number}. {count} 行：{message}（{where}）",
}
