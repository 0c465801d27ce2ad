"""Channels: which ones the settings configure, each with its sender and limits."""

from __future__ import annotations

from email.utils import getaddresses

from agents.notification.message import Channel
from agents.notification.senders.apprise import AppriseSender
from agents.notification.senders.console import send_to_console
from agents.notification.senders.mail import MailSender
from agents.notification.senders.webhook import WebhookSender
from kernel.errors import Fatal
from kernel.settings import Settings

#: Bytes of a body. Webhook: DingTalk and Feishu robots take 20,000 in all, and our document carries the text twice.
_WEBHOOK_BYTES = 8_000
_MAIL_BYTES = 100_000
_CONSOLE_BYTES = 4_000
#: Apprise counts characters where WeCom counts bytes (2,048); it does not cut for us.
_APPRISE_BYTES = 1_800


def configured_channels(settings: Settings) -> dict[str, Channel]:
    """Return the channels that can be used; raise Fatal where a default channel is not one of them."""
    channels = [Channel(name="console", send=send_to_console, max_bytes=_CONSOLE_BYTES)]
    if settings.webhook_url:
        sender = WebhookSender(settings.webhook_url, settings.webhook_secret)
        channels.append(Channel(name="webhook", send=sender, max_bytes=_WEBHOOK_BYTES, resend=True))
    if settings.smtp_host and settings.email_to:
        channels.append(Channel(name="email", send=_mail(settings), max_bytes=_MAIL_BYTES))
    if settings.apprise_urls:
        apprise = AppriseSender(settings.apprise_urls)
        channels.append(Channel(name="apprise", send=apprise, max_bytes=_APPRISE_BYTES))
    by_name = {channel.name: channel for channel in channels}
    for name in settings.notify_channels:
        if name not in by_name:
            raise Fatal(
                f"NIGHTDESK_NOTIFY_CHANNELS names {name!r}, which is not configured",
                why=f"configured: {', '.join(by_name)}",
                next_step="webhook needs NIGHTDESK_WEBHOOK_URL; email NIGHTDESK_SMTP_HOST and NIGHTDESK_EMAIL_TO.",
            )
    return by_name


def _mail(settings: Settings) -> MailSender:
    recipients = [address for _, address in getaddresses([settings.email_to or ""]) if "@" in address]
    if not recipients:
        raise Fatal("NIGHTDESK_EMAIL_TO holds no address", next_step="Set it to one or more, with commas.")
    return MailSender(
        host=settings.smtp_host or "",
        port=settings.smtp_port,
        sender=settings.email_from,
        recipients=recipients,
        user=settings.smtp_user,
        password=settings.smtp_password,
    )
