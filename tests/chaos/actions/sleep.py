"""Says that it is alive, then sleeps: `sleep.py URL polite|stubborn KEY`."""

import json
import os
import signal
import subprocess
import sys
import time
import urllib.request

LONG_SECONDS = 90


def main() -> None:
    url, manner, key = sys.argv[1:4]
    pids = [os.getpid()]
    if manner == "stubborn":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)  # its child inherits that
        pids.append(subprocess.Popen(["/bin/sleep", str(LONG_SECONDS)]).pid)
    told = {"key": f"alive:{key}", "kind": "alive", "tool": " ".join(map(str, pids))}
    urllib.request.urlopen(
        urllib.request.Request(f"{url}/effect", data=json.dumps(told).encode()), timeout=10
    )
    time.sleep(LONG_SECONDS)


main()
