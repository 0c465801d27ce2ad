"""Ask an HTTP address how it is: prints status and the first lines of the answer; exit 0 for 2xx, else 1."""

from __future__ import annotations

import http.client
import sys
from urllib.parse import urlsplit

SECONDS = 5
SHOWN_BYTES = 2000


def main(url: str) -> int:
    """Print what the address answers and return the exit code."""
    parts = urlsplit(url)
    kinds = {"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}
    if parts.scheme not in kinds or not parts.hostname:
        print(f"not an HTTP address: {url}")
        return 2
    connection = kinds[parts.scheme](parts.hostname, parts.port, timeout=SECONDS)
    try:
        connection.request("GET", f"{parts.path or '/'}{'?' + parts.query if parts.query else ''}")
        answer = connection.getresponse()
        print(f"HTTP {answer.status} {answer.reason}")
        print(answer.read(SHOWN_BYTES).decode("utf-8", errors="replace"))
    except (OSError, http.client.HTTPException) as error:
        print(f"no answer: {error}")
        return 1
    finally:
        connection.close()
    return 0 if answer.status // 100 == 2 else 1  # noqa: PLR2004 the class of good answers


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
