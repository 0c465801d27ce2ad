"""Which channels the settings configure."""

from __future__ import annotations

from typing import Any

import pytest

from agents.notification.agent import AGENT
from agents.notification.channels import configured_channels
from kernel.errors import Fatal
from kernel.settings import Settings

HOOK = "http://127.0.0.1:1/hook/very-secret"


def test_the_console_is_always_there() -> None:
    assert list(configured_channels(Settings())) == ["console"]


def test_settings_add_channels() -> None:
    settings = Settings(webhook_url=HOOK, smtp_host="127.0.0.1", email_to="Ann <a@x.example>, b@x.example")
    channels = configured_channels(settings)
    assert list(channels) == ["console", "webhook", "email"]
    assert [c.name for c in channels.values() if c.resend] == ["webhook"]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"notify_channels": ["webhook"]}, "names 'webhook'"),
        ({"notify_channels": ["pager"]}, "names 'pager'"),
        ({"webhook_url": "ftp://very-secret"}, "not an HTTP address"),
        ({"webhook_url": "very-secret"}, "not an HTTP address"),
        ({"smtp_host": "127.0.0.1", "email_to": "nobody"}, "holds no address"),
    ],
)
def test_contradictions_stop_and_keep_secrets(fields: dict[str, Any], reason: str) -> None:
    with pytest.raises(Fatal, match=reason) as caught:
        configured_channels(Settings(**fields))
    assert "very-secret" not in str(caught.value)


def test_the_tool_offers_the_configured_channels_only() -> None:
    tools = {tool.name: tool for tool in AGENT.tools(Settings(webhook_url=HOOK))}
    assert tools["notify"].parameters["properties"]["channel"]["enum"] == ["console", "webhook"]
    assert HOOK not in str(tools)
