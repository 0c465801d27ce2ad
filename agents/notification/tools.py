"""Tools of the notification agent: which channels there are, and one message to one of them."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Any, Literal, cast, get_args

from agents.notification.channels import configured_channels
from agents.notification.delivery import Claim, State, claim, settle
from agents.notification.message import Channel, Severity
from agents.notification.rendering import render
from agents.runtime.tools import Tool, ToolContext
from kernel.contracts import Effect
from kernel.errors import Correctable, NightdeskError, Unknown
from kernel.settings import Settings

#: Above the longest step of a sender, so that its own error arrives and not the clock's.
NOTIFY_SECONDS = 45.0

#: What a caller may hand over; a channel cuts further.
_BODY_CHARACTERS = 100_000
_TITLE_CHARACTERS = 500

_LIST = """Say which channels can be used, and which of them a notification goes to by default.

Use it once, before notify, unless the plan names the channels.

Example: {}"""

_NOTIFY = """Send one message to one channel. Call it once per channel; several channels may be called side by side.

A run has one message per channel: a second call for the same channel sends nothing and returns how the first ended.
Write plain text. Mentions, links and markup are taken apart before sending, so do not rely on them.

Example: {"channel": "console", "title": "checkout: pool exhausted", "body": "Cause: ...", "severity": "error"}"""


def build_tools(settings: Settings) -> list[Tool]:
    """Return the tools over the configured channels; raise Fatal where the settings contradict themselves."""
    notifier = Notifier(configured_channels(settings), list(settings.notify_channels))
    return [notifier.list_channels_tool(), notifier.notify_tool()]


@dataclass(frozen=True)
class Notifier:
    """The channels of a worker, and the ones used by default."""

    channels: dict[str, Channel]
    default: list[str]

    def list_channels_tool(self) -> Tool:
        """Return the tool that names the channels."""
        return Tool(
            name="list_channels",
            description=_LIST,
            parameters={"type": "object", "properties": {}, "additionalProperties": False},
            effect=Effect.read,
            run=self.list_channels,
        )

    def notify_tool(self) -> Tool:
        """Return the tool that sends.

        Its risk is `read`, so that it never asks: whoever configured the channels approved them, and a caller
        cannot choose a recipient.
        """
        return Tool(
            name="notify",
            description=_NOTIFY,
            parameters=self._parameters(),
            effect=Effect.keyed,
            risk="read",
            timeout=NOTIFY_SECONDS,
            external=True,
            run=self.notify,
        )

    async def list_channels(self, _ctx: ToolContext, _arguments: dict[str, Any]) -> dict[str, list[str]]:
        """Return the names of all channels and of the default ones."""
        return {"default": self.default, "available": list(self.channels)}

    async def notify(self, ctx: ToolContext, arguments: dict[str, Any]) -> dict[str, str]:
        """Send the message unless it was sent; return channel, state and detail."""
        channel = self.channels.get(str(arguments.get("channel", "")))
        if channel is None:
            raise Correctable(
                "there is no such channel",
                why=f"configured: {', '.join(self.channels)}",
                next_step="Call it again with one of these.",
            )
        claimed = await asyncio.to_thread(
            claim,
            ctx.resources.database,
            run_id=ctx.work.run_id,
            channel=channel.name,
            call_id=ctx.call_id,
            resend=channel.resend,
        )
        if not claimed.mine:
            return _stored(channel.name, claimed)
        return await self._send(ctx, channel, claimed.key, arguments)

    async def _send(
        self, ctx: ToolContext, channel: Channel, key: str, arguments: dict[str, Any]
    ) -> dict[str, str]:
        message = render(
            key=key,
            run_id=ctx.work.run_id,
            channel=channel.name,
            severity=cast("Severity", arguments.get("severity", "info")),
            title=str(arguments["title"]),
            body=str(arguments["body"]),
            max_bytes=channel.max_bytes,
        )
        state: State = "unknown"
        answer = "the call was stopped while it was sending"
        try:
            answer = await channel.send(message)
            state = "sent"
        except Unknown as error:
            answer = str(error)
            raise
        except NightdeskError as error:
            state, answer = "failed", str(error)
            raise
        finally:
            # also when cancelled: whoever comes next must find the truth
            await asyncio.shield(asyncio.to_thread(settle, ctx.resources.database, key, state, answer))
        return {"channel": channel.name, "state": state, "detail": answer}

    def _parameters(self) -> dict[str, Any]:
        text = {"type": "string", "minLength": 1}
        return {
            "type": "object",
            "properties": {
                "channel": {
                    "type": "string",
                    "enum": list(self.channels),
                    "description": "Where to send it.",
                },
                "title": {
                    **text,
                    "maxLength": _TITLE_CHARACTERS,
                    "description": "One line: what is broken, and why.",
                },
                "body": {
                    **text,
                    "maxLength": _BODY_CHARACTERS,
                    "description": "Cause, evidence, what was done, what is left.",
                },
                "severity": {
                    "type": "string",
                    "enum": list(get_args(Severity)),
                    "description": "How bad it is for users.",
                },
            },
            "required": ["channel", "title", "body", "severity"],
            "additionalProperties": False,
        }


def _stored(channel: str, claimed: Claim) -> dict[str, str]:
    if claimed.state == "unknown":
        raise Unknown(
            f"the message to {channel} may or may not have been sent",
            why=claimed.answer,
            next_step="It is not sent again by itself.",
        )
    state: Literal["sent", "skipped"] = "sent" if claimed.state == "sent" else "skipped"
    return {"channel": channel, "state": state, "detail": f"not sent again: {claimed.answer}"}
