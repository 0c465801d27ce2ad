"""The program of a reading process: reads its parts of the logs and tells what they come to; ends with its parent.

It gets one line of JSON (what to read) and two kinds of descriptors: the logs, and a file without a name that
takes its columns. It answers in lines of JSON: how far it is, and at the end its result.
"""

from __future__ import annotations

import json
import mmap
import os
import sys
import threading
from array import array
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

from agents.log_analysis.formats.parsing import Parser
from agents.log_analysis.formats.text import clean, decode
from agents.log_analysis.scanning.ledger import FileFacts, Ledger
from agents.log_analysis.scanning.opened import Opened, Part
from agents.log_analysis.scanning.reader import Reader
from agents.log_analysis.scanning.table import Table
from agents.log_analysis.sources.bodies import Body

_STOP = threading.Event()


def main() -> int:
    """Read what the first line of standard input names."""
    with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as orders:
        order = json.loads(orders.readline())  # not a byte more than the line: the rest is for `_obey`
    threading.Thread(target=_obey, daemon=True).start()
    out = os.fdopen(order["out"], "r+b")
    ledger = Ledger(Path(), Table(Path(), kept=1, file=out))
    parts: list[dict[str, Any]] = []
    for part in [Part(**part) for part in order["parts"]]:
        if _STOP.is_set():
            break
        parts.append(_read(part, ledger, out))
    _say({"result": {"parts": parts, **ledger.state()}})
    return 0


def _obey() -> None:
    """Stop when told to. Standard input ends when the parent does: nothing is worth finishing then."""
    while os.read(0, 1):
        _STOP.set()
    os._exit(1)


def _read(part: Part, ledger: Ledger, out: BinaryIO) -> dict[str, Any]:
    # opened anew: a descriptor that is handed on shares its position with the parent and the other readers
    body = Body(open(f"/proc/self/fd/{part.fd}", "rb"), part.end)  # noqa: PTH123, SIM115 - a link of the kernel's
    whole = Body(body.file, part.size or os.fstat(body.file.fileno()).st_size)
    body.max_lines = 0 if part.start else part.max_lines
    log = Opened(
        part.file, "", whole, datetime.fromisoformat(part.reference), part.form, part.zone, part.fallback
    )
    parser, facts = log.parser(), FileFacts("")
    if part.start and (header := _header_before(whole, part.start)):
        parser.parse(header)
    noted = dict(parser.tally.forms)
    reader = Reader(body, parser, ledger, facts, file=part.file, fallback=part.fallback)

    def tick(lines: int) -> bool:
        _say({"done": body.place - part.start, "lines": lines, "file": part.file})
        return not _STOP.is_set()

    reader.read(part.start, tick)
    ledger.table.spill()
    offsets: array[int] = body.offsets
    place = ledger.table.store(offsets.tobytes())
    told = _told(part, body, facts, parser, noted)
    told["stopped"], told["offsets"] = reader.stopped, [place, len(offsets)]
    if not reader.stopped:
        told["place"] = part.end
    body.close()
    return told


def _told(part: Part, body: Body, facts: FileFacts, parser: Parser, noted: dict[str, int]) -> dict[str, Any]:
    """Return what a part came to; `noted` are the kinds of lines that were counted before it."""
    return {
        "file": part.file,
        "start": part.start,
        "place": body.place,
        "lines": body.lines,
        "events": facts.events,
        "seen": facts.seen,
        "junk": facts.junk,
        "structured": facts.structured,
        "forms": {f: n - noted.get(f, 0) for f, n in parser.tally.forms.items()},
        "open": parser.stamps.open,
        "notes": parser.notes,
        "body_notes": body.notes,
        "cut": body.cut_lines,
        "nul": body.nul_bytes,
    }


def _header_before(body: Body, start: int) -> str:
    """Return the last line of column names before a place, in a log that may name its columns anew (W3C)."""
    if os.pread(body.file.fileno(), 1, 0) != b"#":
        return ""
    with mmap.mmap(body.file.fileno(), start, access=mmap.ACCESS_READ) as view:
        place = view.rfind(b"\n#Fields") + 1
        return clean(decode(view[place : view.find(b"\n", place)].removesuffix(b"\r")))


def _say(what: dict[str, Any]) -> None:
    sys.stdout.buffer.write(json.dumps(what, ensure_ascii=True).encode() + b"\n")
    sys.stdout.buffer.flush()


if __name__ == "__main__":
    sys.exit(main())
