"""The one tool every agent has besides its own: paging and searching results too large to show."""

from __future__ import annotations

import re2

from agents.runtime.tools import ToolContext, tool
from kernel.errors import Correctable

_PAGE_BYTES = 6000
_MAX_HITS = 20
_HIT_CHARACTERS = 300


@tool()
def read_artifact(ctx: ToolContext, artifact: str, offset: int = 0, pattern: str = "") -> dict[str, object]:
    """Page through or search a result that was too large to show whole.

    Use it with the `artifact` id of an earlier result. Without a pattern it returns a page of text from
    the byte offset; with one it returns the matching pieces and their offsets.

    Args:
        artifact: the id an earlier result carried.
        offset: where to start, in bytes.
        pattern: a regular expression (RE2) to search for instead of paging.

    Example: read_artifact(artifact="9f2c…", pattern="ECONNREFUSED")
    """
    with ctx.resources.artifacts.open(artifact) as file:
        content: bytes = file.read()
    if pattern:
        return _search(content, pattern)
    page = content[max(0, offset) : max(0, offset) + _PAGE_BYTES]
    after = offset + len(page)
    return {
        "text": page.decode(errors="ignore"),
        "bytes": len(content),
        "next_offset": after if after < len(content) else None,
    }


def _search(content: bytes, pattern: str) -> dict[str, object]:
    text = content.decode(errors="replace")
    try:
        found = list(re2.finditer(pattern, text))
    except re2.error as error:
        raise Correctable(f"{pattern[:80]!r} is no RE2 pattern", why=str(error)) from error
    hits = [
        {
            "offset": len(text[: m.start()].encode()),
            "text": text[max(0, m.start() - 80) : m.start() + _HIT_CHARACTERS],
        }
        for m in found[:_MAX_HITS]
    ]
    return {"total": len(found), "hits": hits}
