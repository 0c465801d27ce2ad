"""The dead-letter stream: messages that no worker can read, capped, until the reconciler has them in SQL."""

from __future__ import annotations

import base64
import binascii
import codecs
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import redis
from redis import asyncio as aioredis
from redis.exceptions import RedisError

from kernel import logs
from kernel.control import redis_errors
from kernel.faults import around
from kernel.redaction import Redactor
from kernel.text import storable

log = logs.get(__name__)

STREAM = "nightdesk:dead-letters"
#: A message this long is kept whole, so that it can be replayed; no message of ours is longer.
KEPT_BYTES = 64 * 1024
#: With bodies of full length 320 MiB, should no reconciler come; older ones then give way.
_LENGTH = 5_000
#: What people see of a message, in characters; and how many bytes are looked at for it, so that a secret that
#: begins in sight is hidden whole.
_SHOWN, _LOOKED_AT = 200, 8_192
_REASON = 300
_ID = 255

_ESCAPES = re.compile(r"(?:\\u[0-9a-fA-F]{4})+")
#: Shorter runs are words and ids; a body in Base64 is longer.
_BASE64 = re.compile(r"[A-Za-z0-9+/]{24,}={0,2}")


@dataclass(frozen=True)
class DeadLetter:
    """A message that was set aside: where it was, why, how it begins, and the whole of it where it is short."""

    queue: str
    reason: str
    size: int
    #: Redacted text; the body is not: whoever replays it needs it as it came.
    first_bytes: str
    body: bytes | None = None
    #: Which task it asked for and under which id, where that could be read.
    task: str = ""
    subject: str = ""
    #: Of its entry in the stream.
    id: str = ""

    @property
    def buried_at(self) -> datetime:
        """Return when it was set aside: an entry's id begins with milliseconds."""
        return datetime.fromtimestamp(int(self.id.partition("-")[0]) / 1000, UTC)


def describe(queue: str, raw: bytes, reason: str, redactor: Redactor) -> DeadLetter:
    """Return the dead letter for a message as it was found in its queue."""
    task, subject = _headers(raw) if len(raw) <= KEPT_BYTES else ("", "")
    return DeadLetter(
        queue=queue,
        reason=redactor.text(storable(reason))[:_REASON],
        size=len(raw),
        first_bytes=legible(raw[:_LOOKED_AT], redactor)[:_SHOWN],
        body=raw if len(raw) <= KEPT_BYTES else None,
        task=task,
        subject=subject,
    )


def legible(raw: bytes, redactor: Redactor) -> str:
    """Return bytes as text for people: Base64 and escapes resolved, redacted, nothing that a terminal obeys."""
    # a beginning may end inside a code point; the incremental decoder keeps that back
    text = codecs.getincrementaldecoder("utf-8")("replace").decode(raw)
    text = _ESCAPES.sub(_unescape, _BASE64.sub(_decoded, text))
    shown = redactor.text(storable(_ESCAPES.sub(_unescape, text)))
    return "".join(c if c.isprintable() else "·" for c in shown)


def _decoded(found: re.Match[str]) -> str:
    run = found.group().rstrip("=")
    try:
        raw = base64.b64decode(run[: len(run) // 4 * 4] if "=" not in found.group() else found.group())
        text = codecs.getincrementaldecoder("utf-8")().decode(raw)
    except (binascii.Error, UnicodeDecodeError):
        return found.group()
    return text if all(c.isprintable() or c.isspace() for c in text) else found.group()


def _unescape(found: re.Match[str]) -> str:
    return cast("str", json.loads(f'"{found.group()}"'))


def _headers(raw: bytes) -> tuple[str, str]:
    """Return the task and the id that a message names, as far as it can be read."""
    try:
        headers = json.loads(raw)["headers"]
        task, id_ = headers["task"], headers["id"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return "", ""
    strings = isinstance(task, str) and isinstance(id_, str)
    return (storable(task)[:_ID], storable(id_)) if strings and len(id_) <= _ID else ("", "")


def bury(client: redis.Redis, letter: DeadLetter) -> None:
    """Append a letter to the stream; where Redis does not take it, the log is all that tells of it."""
    told = {"queue": letter.queue, "reason": letter.reason, "size": letter.size}
    fields: dict[Any, Any] = {
        **told,
        "first_bytes": letter.first_bytes,
        "task": letter.task,
        "subject": letter.subject,
    }
    if letter.body is not None:
        fields["body"] = base64.b64encode(letter.body)
    try:
        with around("dead_letters.bury"):
            client.xadd(STREAM, fields, maxlen=_LENGTH, approximate=True)
    except (RedisError, OSError) as error:
        log.error("dead_letter_lost", **told, first_bytes=letter.first_bytes, why=str(error))  # noqa: TRY400 why says it
    else:
        log.warning("dead_letter", **told, first_bytes=letter.first_bytes)


class DeadLetterStream:
    """The stream as the reconciler sees it; entries stay until they are forgotten."""

    def __init__(self, redis: aioredis.Redis) -> None:
        self._redis = redis

    async def read(self, count: int) -> list[DeadLetter]:
        """Return the oldest letters."""
        with redis_errors("a read of the dead letters"):
            entries: Any = await self._redis.xrange(STREAM, count=count)
        return [_letter(id_, fields) for id_, fields in entries]

    async def forget(self, ids: Sequence[str]) -> None:
        """Remove letters that SQL has."""
        with redis_errors("the removal of dead letters"), around("dead_letters.forget"):
            await self._redis.xdel(STREAM, *ids)

    async def put_back(self, key: str, body: bytes) -> None:
        """Put a message back as it was into the list `key` of its queue."""
        with redis_errors("a message"), around("dead_letters.put_back"):
            await cast("Any", self._redis.lpush(key, body))


def _letter(id_: str, fields: dict[str, str]) -> DeadLetter:
    """Return an entry as a letter; anybody can write to the stream, so nothing in it need be there."""
    size = fields.get("size", "")
    try:
        body = base64.b64decode(fields["body"], validate=True)
    except (KeyError, ValueError):
        body = None
    texts = {name: fields.get(name, "") for name in ("queue", "reason", "first_bytes", "task", "subject")}
    return DeadLetter(**texts, size=int(size) if size.isdecimal() else 0, body=body, id=id_)
