"""The e-mail channel: one message by SMTP, in a thread, with an open outcome told apart from a failure."""

from __future__ import annotations

import hashlib
import smtplib
import ssl
from contextlib import suppress
from dataclasses import dataclass
from email.message import EmailMessage
from email.utils import format_datetime

from pydantic import SecretStr

from agents.notification.message import Message
from agents.runtime.tools import in_thread
from kernel.clock import now
from kernel.errors import NightdeskError, Refused, Retryable, Unknown

#: Seconds for each step of the conversation.
STEP_SECONDS = 8.0

_ACCEPTED = range(200, 300)
_PERMANENT = 500
_TLS_PORT = 465  # submissions: encrypted from the first byte
_LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


@dataclass(frozen=True, kw_only=True)
class MailSender:
    """Sends mail through one server; `recipients` come from settings, never from a message."""

    host: str
    port: int
    sender: str
    recipients: list[str]
    user: str | None = None
    password: SecretStr | None = None

    async def __call__(self, message: Message) -> str:
        """Send the message; return how many recipients the server took."""
        return await in_thread(self._send, message)

    def _send(self, message: Message) -> str:
        content = self._compose(message).as_bytes(policy=_WIRE)
        try:
            client = self._connect()
            try:
                self._open(client)
                taken = self._envelope(client)
                answer = self._data(client, content)
                with suppress(smtplib.SMTPException, OSError):
                    client.quit()  # the server has the message; how it says goodbye changes nothing
            finally:
                client.close()
        except smtplib.SMTPServerDisconnected as error:
            raise Retryable("the mail server hung up before it took the message") from error
        except smtplib.SMTPResponseException as error:
            raise _refusal(error.smtp_code) from error
        except ssl.SSLError as error:
            raise Refused("the mail server's encryption cannot be trusted", why=error.reason or "") from error
        except (smtplib.SMTPException, OSError) as error:
            raise Retryable("the mail server did not answer", why=type(error).__name__) from error
        return f"accepted for {taken} of {len(self.recipients)} recipients ({answer})"

    def _connect(self) -> smtplib.SMTP:
        if self.port == _TLS_PORT:
            return smtplib.SMTP_SSL(
                self.host, self.port, timeout=STEP_SECONDS, context=ssl.create_default_context()
            )
        return smtplib.SMTP(self.host, self.port, timeout=STEP_SECONDS)

    def _open(self, client: smtplib.SMTP) -> None:
        client.ehlo_or_helo_if_needed()
        encrypted = isinstance(client, smtplib.SMTP_SSL)
        if not encrypted and client.has_extn("starttls"):
            encrypted = True
            client.starttls(context=ssl.create_default_context())
        if self.user and self.password:
            if not encrypted and self.host not in _LOOPBACK:
                raise Refused(
                    "the mail server offers no encryption",
                    why="a password would cross the network in clear",
                    next_step="Use a server with STARTTLS, or one that needs no password.",
                )
            client.login(self.user, self.password.get_secret_value())

    def _envelope(self, client: smtplib.SMTP) -> int:
        client.ehlo_or_helo_if_needed()
        code, _ = client.mail(self.sender)
        if code not in _ACCEPTED:
            raise _refusal(code)
        codes = [client.rcpt(recipient)[0] for recipient in self.recipients]
        taken = sum(code in _ACCEPTED for code in codes)
        if not taken:
            raise _refusal(min(codes))  # one that may work later counts for more than one that never will
        return taken

    def _data(self, client: smtplib.SMTP, content: bytes) -> str:
        try:
            code, _ = client.data(content)
        except smtplib.SMTPResponseException:
            raise  # an answer, so not open (smtplib's errors are OSErrors too)
        except OSError as error:
            raise Unknown(
                "the mail may or may not have been sent",
                why="the server gave no answer after the text",
                next_step="Look into the mailbox; it is not sent again by itself.",
            ) from error
        if code not in _ACCEPTED:
            raise _refusal(code)
        return f"SMTP {code}"

    def _compose(self, message: Message) -> EmailMessage:
        mail = EmailMessage()
        mail["From"], mail["To"] = self.sender, ", ".join(self.recipients)
        mail["Subject"] = f"[{message.severity}] {message.title}"
        mail["Date"] = format_datetime(now())
        # the same for a repeat, so that mailboxes which compare ids show it once
        mail["Message-ID"] = f"<{hashlib.sha256(message.key.encode()).hexdigest()[:32]}@nightdesk>"
        mail["Auto-Submitted"] = "auto-generated"
        mail.set_content(message.text)
        mail.add_alternative(message.html, subtype="html")
        return mail


_WIRE = EmailMessage().policy.clone(linesep="\r\n")


def _refusal(code: int) -> NightdeskError:
    if code < _PERMANENT:
        return Retryable("the mail server is busy", why=f"SMTP {code}")
    return Refused(
        "the mail server refused the message",
        why=f"SMTP {code}",
        next_step="Check NIGHTDESK_EMAIL_FROM, NIGHTDESK_EMAIL_TO and the server's account.",
    )
