"""The look at an envelope: what is sound passes, each fault is named, and nothing makes the look itself fail."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.envelope import MAX_MESSAGE_BYTES, fault_of
from tests.support.garbage import GARBAGE, sound

#: Seen by nobody before Celery itself (see tests/integration/kernel/test_transport.py).
LATER = {"an unknown task", "a tag that no Redis can hold"}

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("kind", [kind for kind in GARBAGE if kind not in LATER])
def test_each_kind_of_garbage_is_named(kind: str) -> None:
    raw, words = GARBAGE[kind]
    assert words in fault_of(raw)


@pytest.mark.parametrize("kind", sorted(LATER))
def test_what_only_celery_can_know_passes(kind: str) -> None:
    assert fault_of(GARBAGE[kind][0]) == ""


@pytest.mark.parametrize(
    "raw",
    [
        sound(),
        sound(
            headers={"task": "t", "id": "磁盘-1", "eta": "2026-11-30T10:00:00+00:00", "timelimit": [None, 3]}
        ),
        sound(
            body='[["磁盘"], {}, null]',
            properties={**json.loads(sound())["properties"], "body_encoding": "utf-8"},
        ),
    ],
)
def test_what_is_sound_passes(raw: bytes) -> None:
    assert fault_of(raw) == ""


def test_answers_of_remote_control_are_no_tasks() -> None:
    reply = sound(headers={"clock": 3})
    assert fault_of(reply, is_task=False) == ""
    assert fault_of(reply) == "its headers name no task"


def test_the_limit_is_one_of_bytes() -> None:
    ends = len(sound(body=""))
    assert "message may have" not in fault_of(sound(body="A" * (MAX_MESSAGE_BYTES - ends)))
    assert "message may have" in fault_of(sound(body="A" * (MAX_MESSAGE_BYTES - ends + 1)))


@given(st.binary(max_size=300) | ANYTHING.map(lambda value: json.dumps(value).encode()))
def test_nothing_makes_the_look_fail(raw: bytes) -> None:
    assert isinstance(fault_of(raw), str)


@given(
    st.sampled_from(["headers", "properties", "body", "content-type"]),
    st.sampled_from(
        ["task", "id", "eta", "expires", "timelimit", "retries", "shadow", "delivery_tag", "delivery_info"]
    ),
    ANYTHING,
)
def test_no_value_in_any_place_makes_the_look_fail(part: str, name: str, value: Any) -> None:
    envelope = json.loads(sound())
    if isinstance(envelope[part], dict):
        envelope[part][name] = value
    else:
        envelope[part] = value
    assert isinstance(fault_of(json.dumps(envelope).encode()), str)
