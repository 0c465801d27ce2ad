"""The Apprise channel, an extra: the long tail of services (Telegram, Teams, ntfy and a hundred more)."""

from __future__ import annotations

import importlib.util

from pydantic import SecretStr

from agents.notification.message import Message
from agents.runtime.tools import in_thread
from kernel.errors import Fatal, Unknown

_KINDS = {"critical": "failure", "error": "failure", "warning": "warning", "info": "info"}


class AppriseSender:
    """Sends to every Apprise address of the settings; the addresses are secrets."""

    def __init__(self, urls: list[SecretStr]) -> None:
        if importlib.util.find_spec("apprise") is None:
            raise Fatal(
                "the apprise channel cannot be used",
                why="the package apprise is not installed",
                next_step="Install nightdesk[apprise], or leave NIGHTDESK_APPRISE_URLS empty.",
            )
        self._urls = urls

    async def __call__(self, message: Message) -> str:
        """Send the message to all addresses."""
        return await in_thread(self._send, message)

    def _send(self, message: Message) -> str:
        import apprise

        notifier = apprise.Apprise()
        if not all(notifier.add(url.get_secret_value()) for url in self._urls):
            raise Fatal("an address in NIGHTDESK_APPRISE_URLS is not one that apprise knows")
        sent = notifier.notify(
            body=message.body,
            title=f"[{message.severity}] {message.title}",
            notify_type=_KINDS[message.severity],
            body_format="text",
        )
        if not sent:
            # apprise says only that not all went well: some may have the message
            raise Unknown("not every apprise address took the message", next_step="Look at the services.")
        return f"handed to {len(self._urls)} addresses"
