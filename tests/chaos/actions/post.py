"""Changes the fake world: `post.py URL KIND KEY DELAY`. Exit 0: done; 1: surely not; a signal: it cannot say."""

import json
import os
import signal
import sys
import time
import urllib.error
import urllib.request

ANSWER_SECONDS = 2.0


def main() -> None:
    url, kind, key, delay = sys.argv[1:5]
    time.sleep(float(delay))
    # the world knows keys of one kind only: of any other a second try may be a second effect
    for _ in range(3 if kind == "keyed" else 1):
        try:
            body = json.dumps({"key": key, "kind": kind, "tool": "post.py"}).encode()
            urllib.request.urlopen(urllib.request.Request(f"{url}/effect", data=body), timeout=ANSWER_SECONDS)
        except urllib.error.URLError as error:
            if isinstance(error.reason, ConnectionRefusedError):
                sys.exit(1)
        except OSError:
            continue
        else:
            return
    os.kill(os.getpid(), signal.SIGKILL)


main()
