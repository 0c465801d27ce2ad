"""How a dead letter is described: readable in every script, secrets hidden, whole only where it is short."""

from __future__ import annotations

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.dead_letters import KEPT_BYTES, describe, legible
from kernel.redaction import Redactor
from tests.support.garbage import sound

REDACTOR = Redactor(["verysecretvalue"])


def body(text: str, *, ascii_only: bool = True) -> str:
    return base64.b64encode(json.dumps([[], {"text": text}, {}], ensure_ascii=ascii_only).encode()).decode()


def test_a_body_is_shown_as_what_it_says_and_not_in_base64() -> None:
    for ascii_only in (True, False):
        shown = describe(
            "coordinator", sound(body=body("磁盘满了 😀", ascii_only=ascii_only)), "r", REDACTOR
        ).first_bytes
        assert "磁盘满了 😀" in shown


@pytest.mark.parametrize("secret", ["verysecretvalue", "password=hunter2secret", "AKIAIOSFODNN7EXAMPLE"])
def test_secrets_are_hidden_also_inside_base64_and_escapes(secret: str) -> None:
    value = secret.rpartition("=")[2]
    escaped = "".join(f"\\u{ord(c):04x}" for c in value)
    for raw in (secret.encode(), sound(body=body(secret)), f'{{"password": "{escaped}"}}'.encode()):
        letter = describe("q", raw, f"it says {secret}", REDACTOR)
        assert value not in letter.first_bytes
        assert value not in letter.reason


def test_a_secret_at_the_cut_is_hidden_whole() -> None:
    for start in range(150, 205):
        shown = describe("q", b"x" * start + b" password=hunter2secret", "r", REDACTOR).first_bytes
        assert "hunter" not in shown


@pytest.mark.parametrize("shift", range(3))
def test_the_beginning_is_cut_between_code_points(shift: int) -> None:
    raw = b"a" * shift + "盘".encode() * 4000
    assert set(legible(raw[:8192], REDACTOR)) <= {"a", "盘"}
    assert describe("q", raw, "r", REDACTOR).first_bytes == "a" * shift + "盘" * (200 - shift)


def test_what_a_terminal_obeys_is_not_shown() -> None:
    assert legible("\x1b[31mred\x07\r\n\u202eback".encode(), REDACTOR) == "·[31mred···" + "·back"


def test_a_message_is_kept_whole_up_to_the_limit() -> None:
    assert describe("q", b"x" * KEPT_BYTES, "r", REDACTOR).body == b"x" * KEPT_BYTES
    larger = describe("q", b"x" * (KEPT_BYTES + 1), "r", REDACTOR)
    assert (larger.body, larger.size) == (None, KEPT_BYTES + 1)


def test_the_task_and_its_id_are_told_where_they_can_be_read() -> None:
    letter = describe("coordinator", sound("coordinator.submit", "run-1", body="broken"), "r", REDACTOR)
    assert (letter.task, letter.subject) == ("coordinator.submit", "run-1")
    for raw in (b"x", b"5", sound(headers={"task": 1, "id": []}), b"[" * 5000, sound("t", "x" * 300)):
        assert describe("q", raw, "r", REDACTOR).subject == ""


@given(st.binary(max_size=500))
def test_any_bytes_can_be_described(raw: bytes) -> None:
    letter = describe("q", raw, "r", REDACTOR)
    assert letter.first_bytes.isprintable()
    assert letter.size == len(raw)
    letter.first_bytes.encode()
