"""Asks the fake world whether it happened: `look.py URL KEY`. Exit 0: yes; 1: no; 2: it cannot tell."""

import json
import sys
import urllib.request


def main() -> None:
    url, key = sys.argv[1:3]
    try:
        with urllib.request.urlopen(f"{url}/happened?key={key}", timeout=2.0) as answer:
            sys.exit(0 if json.load(answer)["happened"] else 1)
    except OSError:
        sys.exit(2)


main()
