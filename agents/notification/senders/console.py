"""The console channel: the message as a line in the worker's own log."""

from __future__ import annotations

import structlog

from agents.notification.message import Message


async def send_to_console(message: Message) -> str:
    """Write the message to the log."""
    structlog.get_logger().info(
        "notification",
        run=message.run_id,
        severity=message.severity,
        title=message.title,
        text=message.body,
    )
    return "written to the worker's log"
