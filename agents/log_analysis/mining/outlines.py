"""What messages that differ in numbers alone have in common: pure."""

from __future__ import annotations

import re

#: Masking asks where numbers are and never which: messages that differ in them alone are one shape.
_DIGITS = bytes.maketrans(b"123456789", b"000000000")
_HASHES = re.compile(r"[0-9a-f]{8,}(?:-[0-9a-f]{4,})*")


def outline(message: str) -> bytes:
    """Return the message with every number as 0: a third of the cost of a pattern, and this is done for each line.

    Very long numbers become 00 or more, which only makes them shapes of their own.
    """
    digits = message.encode("utf-8", "surrogatepass").translate(_DIGITS)
    return digits.replace(b"0000", b"0").replace(b"00", b"0").replace(b"00", b"0")


def unhashed(message: str) -> str:
    """Return the message with long hexadecimal numbers as 0."""
    return _HASHES.sub("0", message)
