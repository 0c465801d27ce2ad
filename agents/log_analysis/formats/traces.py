"""Lines of stack traces in many languages: which lines belong to one, which begin one, what the exception is; pure."""

from __future__ import annotations

import re

#: Class names are short; a bound keeps hostile lines cheap.
_CLASS = (
    r"(?:[A-Za-z_$][\w$]{0,80}(?:::|[.:\\])){0,20}"
    r"(?:[A-Z][\w$]{0,80}?)?(?:Exception|Error|Throwable|Fault|Interrupt|Warning|Exit|Panic)\b"
)
_EXCEPTION = re.compile(rf"(?:(?:Uncaught|Unhandled) (?:exception )?)?{_CLASS}")
#: A line that can only be inside a trace.
_INSIDE = re.compile(
    r"\s{1,40}at \S|\s{0,40}\.\.\. \d{1,9} (?:more|common frames|lines matching|frames)"
    r"|\s{0,40}(?:Caused by|Suppressed|Wrapped by):"
    r"|\s{0,40}File \"[^\"]{1,300}\", line \d|\s{0,40}---> |\s{0,40}--- End of "
    r"|goroutine \d{1,12} \[|\[signal |\t\S{1,300}\.go:\d|\s{0,40}During handling of the above"
    r"|\s{0,40}The above exception was|\s{1,40}\| |\s{1,40}\+-{2,4}|\[stacktrace\]|[Ss]tack (?:trace|backtrace):"
    r"|#\d{1,4} {1,3}\S|created by \S|\s{1,40}[\^~]{1,200}\s{0,9}$|exit status \d{1,3}$|\s{1,40}\d{1,4}: \S"
    r"|note: (?:run with|Some details)|\s{1,40}from \S{1,300}:\d|\s{1,40}\[cause\]: |\s{1,40}\[errors\]: "
    r"|Next [A-Z]\S{1,200}(?:Exception|Error): |\s{2,40}thrown in |\s{1,40}at async |\S{1,300}\.rb:\d{1,7}:in [`']"
    r"|[\"')\]}]{1,4}\s{0,9}$|\*\* \([A-Z]\w{1,60}|Last message(?: \(from [^)]{1,80}\))?: |State: [%#{\[]|\s-- \S"
    r"|\[0x[0-9a-f]{6,16}\] \S|script_filename = "
)
#: A line that begins a trace, or ends a Python one.
_HEAD = re.compile(
    rf"Traceback \(most recent|panic: |fatal error: |Unhandled [Ee]xception|Exception in thread|thread '[^']{{0,80}}'"
    rf"(?: \(\d{{1,9}}\))? panicked|(?:PHP )?(?:Fatal|Parse) error:  ?Uncaught |ExceptionGroup"
    rf"|{_EXCEPTION.pattern}(?::|$| \()"
)
_ROOT = re.compile(
    rf"(\s{{0,40}})(?:Caused by: |Next |(?:PHP )?Fatal error:  ?|\[cause\]: |---> (?:\(Inner Exception #\d{{1,3}}\) )?"
    rf"|Exception in thread \"[^\"]{{0,200}}\" )?"
    rf"({_EXCEPTION.pattern}(?:(?::| \().*)?|panic: .*|fatal error: .*|thread '[^']{{0,80}}'.{{0,20}} panicked at .*"
    rf"|\S{{1,300}}\.rb:\d{{1,7}}:in .{{0,2000}}\([A-Z]\w*(?:::\w+){{0,9}}\))$"
)
#: First characters of lines inside traces: asked first, because most lines are not.
_STARTS = frozenset(" \t#.[gcCSDTWens-/NabF\"')]}*L")
#: Every line that names an exception has one of these.
_STEMS = (
    "Error", "Exception", "panic", "Traceback", "fatal", "Fault", "Throwable", "Interrupt", "Warning", "Exit",
    "Unhandled", "Uncaught", "Panic", ".rb:",
)  # fmt: skip
#: The last line of a Python trace names the exception, whatever its class is called.
_PYTHON_END = re.compile(r"[A-Za-z_][\w.]{0,200}(?:: .*)?$")
_GO_CALL = re.compile(
    r"[\w./\-]{1,300}(?:\(\*?[\w.\[\]]{1,80}\)[\w.]{0,200})?(?:\.func\d{1,4}[\d.]{0,20})?\([^)]{0,2000}\)$|\[?\.{3}"
)
_INDENTED = re.compile(r"\s{2,40}\S|\t\S")
#: What a runtime writes by itself when a program or a thread of it ends.
_DIES = re.compile(r"thread '[^']{0,80}'|panic: |fatal error: |Exception in thread|Unhandled ")
#: A line that may go on the one before it although a time stands at its head.
_LATE = re.compile(r"[ :]\t|  at | at [\w$.<>/]{1,120}\(|Caused by|\.\.\. \d|File \"|Traceback")
_SHOWN = 400


def inside(text: str) -> bool:
    """Tell whether a line can only be inside a trace."""
    return text[:1] in _STARTS and _INSIDE.match(text) is not None


def indented(text: str) -> bool:
    """Tell whether a line is set in, as lines that go on others are."""
    return _INDENTED.match(text) is not None


def heads(text: str) -> bool:
    """Tell whether a line begins a trace, or names its exception."""
    return _names(text) and _HEAD.match(text) is not None


def dies(text: str) -> bool:
    """Tell whether a line that begins a trace was written as a program or a thread of it ended."""
    return _DIES.match(text) is not None


def joins(text: str) -> bool:
    """Tell whether a line with a time of its own may belong to the trace of the line before it."""
    return inside(text) or heads(text)


def go_call(text: str) -> bool:
    """Tell whether a line is a call in a trace of Go."""
    return _GO_CALL.match(text) is not None


def python_end(text: str) -> str:
    """Return the exception that ends a trace of Python, or nothing."""
    found = _PYTHON_END.match(text)
    return found[0][:_SHOWN] if found else ""


def root(text: str, *, suppressed: bool = False) -> str:
    """Return the exception that a line names as itself or as a cause; not one set in below a suppressed one."""
    found = _ROOT.match(text) if _names(text) else None
    if found is None or (suppressed and found[1]):
        return ""
    return found[2][:_SHOWN]


def of_text(text: str) -> str:
    """Return the root exception of a whole trace in one text."""
    if "\n" not in text:
        return root(text)
    lines = [line for line in text.split("\n") if line.strip()]
    found, suppressed, python = "", False, False
    for number, line in enumerate(lines):
        python = python or line.startswith("Traceback")
        suppressed = suppressed or line.lstrip().startswith("Suppressed:")
        if "direct cause of the following" in line and found:
            return found
        if told := root(line, suppressed=suppressed):
            found = told
        elif python and line[0] not in " \t" and number and (end := python_end(line)):
            found = end
    return found


def _names(text: str) -> bool:
    return any(map(text[:_SHOWN].__contains__, _STEMS))


def late(text: str) -> bool:
    """Tell whether a line with a time of its own may yet be inside a trace."""
    return _LATE.search(text, 0, 200) is not None


def begins(text: str) -> bool:
    """Tell whether a line without framing begins an event, whatever stands before it."""
    first = text[:1]
    if first == "{":
        return True
    if not first or first in " \t" or inside(text) or late(text):
        return False
    return not (heads(text) or python_end(text) or go_call(text))
