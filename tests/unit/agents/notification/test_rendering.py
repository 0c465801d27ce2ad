"""Rendering: fields are data, and limits are bytes."""

from __future__ import annotations

from agents.notification.message import Message
from agents.notification.rendering import TITLE_BYTES, render


def _render(title: str = "结账失败", body: str = "Cause: 连接池", max_bytes: int = 1000) -> Message:
    return render(
        key="r:x", run_id="r", channel="x", severity="error", title=title, body=body, max_bytes=max_bytes
    )


def test_text_and_html_carry_all_fields() -> None:
    message = _render()
    assert message.text == "[error] 结账失败\n\nCause: 连接池\n\nrun r"
    assert "结账失败" in message.html
    assert "连接池" in message.html


def test_a_field_is_never_a_template() -> None:
    message = _render(title="{{ 7 * 7 }}", body="{% for x in y %}{{ cycler.__init__.__globals__ }}")
    assert "49" not in message.text
    assert "{% for x in y %}" in message.text


def test_html_is_escaped_and_neutral() -> None:
    message = _render(body='<img src=x onerror=alert(1)> "a" & b <https://evil.example|x>')
    assert "<img" not in message.html
    assert "&amp;" in message.html
    assert "https://" not in message.html


def test_title_is_one_line_and_both_are_cut_in_bytes() -> None:
    message = _render(title="失败\r\nBcc: x@evil.example " * 50, body="日志" * 5000, max_bytes=1000)
    assert "\n" not in message.title
    assert len(message.title.encode()) <= TITLE_BYTES
    assert len(message.body.encode()) <= 1000
    assert message.body.endswith("…")
