"""Messages that no worker can take, by kind, and a sound one to make them from."""

from __future__ import annotations

import base64
import json
from typing import Any

MISSING = object()


def sound(
    task: str = "test.early",
    id_: str = "g",
    *,
    body: Any = MISSING,
    headers: Any = MISSING,
    properties: Any = MISSING,
    **envelope: Any,
) -> bytes:
    """Return a message as Celery sends it, with changes; MISSING leaves a field as it is, None removes it."""
    told = [[id_], {}, {"callbacks": None, "errbacks": None, "chain": None, "chord": None}]
    parts: dict[str, Any] = {
        "body": base64.b64encode(json.dumps(told).encode()).decode() if body is MISSING else body,
        "content-encoding": "utf-8",
        "content-type": "application/json",
        "headers": {"task": task, "id": id_, "lang": "py"} if headers is MISSING else headers,
        "properties": {
            "body_encoding": "base64",
            "delivery_tag": f"tag-{id_}",
            "delivery_info": {"exchange": "coordinator", "routing_key": "coordinator"},
            "correlation_id": id_,
            "priority": 3,
        }
        if properties is MISSING
        else properties,
        **envelope,
    }
    return json.dumps({key: value for key, value in parts.items() if value is not None}).encode()


def _headers(**fields: Any) -> dict[str, Any]:
    return {"task": "test.early", "id": "g", **fields}


def _body(document: Any) -> str:
    return base64.b64encode(json.dumps(document).encode()).decode()


#: Each with words of the reason that the dead letter must give.
GARBAGE: dict[str, tuple[bytes, str]] = {
    "not JSON": (b"not json", "not JSON"),
    "no UTF-8": (b"\xff\xfe\x00\x80 broken", "not JSON"),
    "nested too deep": (b"[" * 200_000, "not JSON"),
    "a JSON scalar": (b"5", "not a JSON object"),
    "a JSON list": (b"[1, 2]", "not a JSON object"),
    "bad Base64": (sound(body="W1tdLCB7fSwge3"), "body cannot be read: Incorrect padding"),
    "a body that is no JSON": (sound(body=base64.b64encode(b"rm -rf").decode()), "body cannot be read"),
    "a body of another shape": (sound(body=_body({"a": 1})), "not enough values to unpack"),
    "a body with args that are none": (sound(body=_body([1, 2, 3])), "not [args, kwargs, options]"),
    "no body": (sound(body=None), "no body"),
    "bad time limits": (sound(headers=_headers(timelimit="soon")), "time limits"),
    "no properties": (sound(properties=None), "no properties"),
    "no delivery tag": (sound(properties={"body_encoding": "base64"}), "no delivery tag"),
    "no route": (sound(properties={"delivery_tag": "t"}), "where it was sent"),
    "no headers": (sound(headers=None), "no headers"),
    "no task": (sound(headers=_headers(task=None)), "no task"),
    "a task that is a list": (sound(headers=_headers(task=["x"])), "no task"),
    "no id": (sound(headers={"task": "test.early"}), "no id"),
    "an id that no store can hold": (sound(headers=_headers(id="a\ud800")), "id is not printable"),
    "an argument named self": (sound(body=_body([[], {"self": 1}, {}])), "named 'self'"),
    "pickle": (sound(**{"content-type": "application/x-python-serialize"}), "not plain JSON"),
    "compressed": (sound(headers=_headers(compression="zlib")), "not plain JSON"),
    "retries that are no number": (sound(headers=_headers(retries="x")), "count of retries"),
    "an unknown task": (sound("no.such", "unknown-1"), "no worker here knows the task 'no.such'"),
    # these pass the look at the envelope, and fail inside Celery
    "a date that is none": (sound(headers=_headers(eta="tomorrow-ish")), "header eta is not a time"),
    "a date beyond all clocks": (sound(headers=_headers(eta="9999-12-31T23:59:59-14:00")), "what clocks"),
    "an expiry that is a number": (sound(headers=_headers(expires=5)), "header expires is not a time"),
    "a name that is a list": (sound(headers=_headers(shadow=["x"])), "header shadow is not a text"),
    "stamps": (sound(headers=_headers(stamped_headers=5)), "it is stamped"),
    "a chain": (sound(body=_body([["g"], {}, {"chain": [{"task": "test.early"}]}])), "asks for 'chain'"),
    "options that replace the id": (sound(body=_body([["g"], {}, {"id": "other"}])), "asks for 'id'"),
    # this one passes the look at the envelope, and fails on its way through kombu
    "a tag that no Redis can hold": (
        sound(
            properties={
                "delivery_tag": "\ud800",
                "delivery_info": {"exchange": "", "routing_key": "x"},
                "body_encoding": "base64",
            }
        ),
        "UnicodeEncodeError",
    ),
    "too long": (b'{"body": "' + b"A" * (5 * 1024 * 1024) + b'"}', "bytes, and a message may have"),
}
