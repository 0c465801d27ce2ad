"""The door to Zstandard: the standard library's from Python 3.14, its backport before."""

from __future__ import annotations

import sys

if sys.version_info >= (3, 14):
    from compression.zstd import DecompressionParameter, ZstdDecompressor, ZstdError
else:
    from backports.zstd import DecompressionParameter, ZstdDecompressor, ZstdError

__all__ = ["WINDOW_BYTES", "ZstdError", "decompressor"]

#: A frame names the memory that decoding it takes. 2^27 bytes is what the zstd program itself allows without --long.
_WINDOW_LOG = 27
WINDOW_BYTES = 1 << _WINDOW_LOG


def decompressor() -> ZstdDecompressor:
    """Return a decoder of one frame; a frame that asks for more than WINDOW_BYTES is refused by its ZstdError."""
    return ZstdDecompressor(options={DecompressionParameter.window_log_max: _WINDOW_LOG})
