"""The sink takes what our own webhook sender sends, and shows up what is not signed."""

from __future__ import annotations

import http.client
import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr

from agents.notification.message import Message
from agents.notification.senders.webhook import WebhookSender
from kernel.errors import Refused
from ops.demo.sink import Sink, is_signed

pytestmark = pytest.mark.integration

SECRET = "a secret of the test"
MESSAGE = Message(
    key="r1:webhook", run_id="r1", channel="webhook", severity="error", title="连接池耗尽", body="b", text="t"
)


@pytest.fixture
def sink(tmp_path: Path) -> Iterator[Sink]:
    server = Sink(tmp_path / "messages.jsonl", SECRET.encode())
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()


def url(sink: Sink) -> SecretStr:
    return SecretStr(f"http://127.0.0.1:{sink.server_address[1]}/nightdesk")


def messages(tmp_path: Path) -> list[dict[str, Any]]:
    return [
        json.loads(line) for line in (tmp_path / "messages.jsonl").read_text(encoding="utf-8").splitlines()
    ]


class TestSink:
    async def test_takes_a_signed_message_once(self, sink: Sink, tmp_path: Path) -> None:
        send = WebhookSender(url(sink), SecretStr(SECRET))
        await send(MESSAGE)
        await send(MESSAGE)
        (came,) = messages(tmp_path)
        assert (came["id"], came["signed"]) == ("r1:webhook", True)
        assert json.loads(came["body"])["title"] == "连接池耗尽"

    @pytest.mark.parametrize("secret", [None, SecretStr("another secret")])
    async def test_refuses_and_shows_what_is_not_signed(
        self, sink: Sink, tmp_path: Path, secret: SecretStr | None
    ) -> None:
        with pytest.raises(Refused):
            await WebhookSender(url(sink), secret)(MESSAGE)
        (came,) = messages(tmp_path)
        assert came["signed"] is False

    def test_refuses_a_body_that_is_too_large(self, sink: Sink, tmp_path: Path) -> None:
        connection = http.client.HTTPConnection("127.0.0.1", int(sink.server_address[1]), timeout=5)
        connection.putrequest("POST", "/")
        connection.putheader("Content-Length", str(10**9))
        connection.endheaders()
        assert connection.getresponse().status == 413
        connection.close()
        assert not (tmp_path / "messages.jsonl").exists()


class TestIsSigned:
    def test_refuses_a_recording_from_long_ago(self) -> None:
        from agents.notification.senders.webhook import sign

        old = str(int(time.time()) - 3600)
        headers = {"x-nightdesk-timestamp": old, "x-nightdesk-signature": sign(SECRET, old, b"x")}
        assert not is_signed(b"x", headers, SECRET.encode(), now=time.time())
        assert is_signed(b"x", headers, SECRET.encode(), now=float(old))
