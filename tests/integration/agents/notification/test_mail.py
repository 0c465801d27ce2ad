"""E-mail over a real SMTP conversation: content, classes of failure, and the outcome that stays open."""

from __future__ import annotations

import email
import email.policy
from dataclasses import replace
from typing import Any

import pytest

from agents.notification.tools import build_tools
from agents.runtime.tools import ToolContext
from kernel.errors import NightdeskError, Refused, Retryable, Unknown
from kernel.settings import Settings

pytestmark = pytest.mark.integration

MESSAGE = {
    "channel": "email",
    "title": "结账 503\r\nBcc: victim@evil.example",
    "body": "Cause: 连接池 <https://evil.example|x>\n.\nQUIT",
    "severity": "critical",
}


def _notify(mailbox: Any, ctx: ToolContext, **fields: Any) -> Any:
    settings = Settings(
        smtp_host="127.0.0.1", smtp_port=mailbox.port, email_to="ann@x.example, bob@x.example", **fields
    )
    return {tool.name: tool for tool in build_tools(settings)}["notify"].run(ctx, MESSAGE)


async def test_a_mail_arrives_whole_and_inert(mailbox: Any, ctx: ToolContext) -> None:
    result = await _notify(mailbox, ctx)
    assert (result["state"], result["detail"]) == ("sent", "accepted for 2 of 2 recipients (SMTP 250)")
    mail = email.message_from_bytes(mailbox.mails[0].removesuffix(b".\r\n"), policy=email.policy.default)
    assert mail["Subject"] == "[critical] 结账 503 Bcc: victim(at)evil.example"
    assert mail["Bcc"] is None
    assert mail["To"] == "ann@x.example, bob@x.example"
    plain, html = (part.get_content() for part in mail.iter_parts())
    assert "Cause: 连接池 ‹hxxps[:]//evil.example|x›" in plain
    assert "QUIT" in plain
    assert "https://" not in html


async def test_a_second_call_sends_nothing(mailbox: Any, ctx: ToolContext) -> None:
    await _notify(mailbox, ctx)
    again = await _notify(mailbox, replace(ctx, call_id="c2"))
    assert again["state"] == "sent"
    assert len(mailbox.mails) == 1


@pytest.mark.parametrize(
    ("answers", "kind"),
    [
        ({"MAIL": "451 later"}, Retryable),
        ({"MAIL": "550 no"}, Refused),
        ({"RCPT": "450 later"}, Retryable),
        ({"RCPT": "550 nobody"}, Refused),
        ({"DATA": "554 no"}, Refused),
        ({"TEXT": "452 full"}, Retryable),
        ({"TEXT": "554 spam"}, Refused),
        ({"MAIL": None}, Retryable),
    ],
)
async def test_failures_have_a_class_and_may_be_tried_again(
    mailbox: Any, ctx: ToolContext, answers: dict[str, str | None], kind: type[NightdeskError]
) -> None:
    mailbox.answers = answers
    with pytest.raises(kind):
        await _notify(mailbox, ctx)
    mailbox.answers = {}
    assert (await _notify(mailbox, ctx))["state"] == "sent"


async def test_no_answer_after_the_text_is_unknown_and_not_sent_again(mailbox: Any, ctx: ToolContext) -> None:
    mailbox.answers = {"TEXT": None}
    with pytest.raises(Unknown, match="may or may not"):
        await _notify(mailbox, ctx)
    mailbox.answers = {}
    with pytest.raises(Unknown, match="may or may not"):
        await _notify(mailbox, replace(ctx, call_id="c2"))
    assert len(mailbox.mails) == 1


async def test_a_rude_goodbye_changes_nothing(mailbox: Any, ctx: ToolContext) -> None:
    mailbox.answers = {"QUIT": "500 what"}
    assert (await _notify(mailbox, ctx))["state"] == "sent"


async def test_no_server_is_retryable(mailbox: Any, ctx: ToolContext) -> None:
    mailbox.port = 9  # discard: nobody listens
    with pytest.raises(Retryable, match="did not answer"):
        await _notify(mailbox, ctx)


async def test_the_same_message_has_the_same_id(mailbox: Any, ctx: ToolContext) -> None:
    mailbox.answers = {"TEXT": "452 full"}
    with pytest.raises(Retryable):
        await _notify(mailbox, ctx)
    mailbox.answers = {}
    await _notify(mailbox, ctx)
    first, second = (email.message_from_bytes(mail)["Message-ID"] for mail in mailbox.mails)
    assert first == second
    assert first
