"""The command line `nightdesk`."""

from __future__ import annotations


def main() -> None:
    """Run the command line; imports wait until here, so that `import coordinator.cli` costs nothing."""
    from coordinator.cli.app import run

    run()
