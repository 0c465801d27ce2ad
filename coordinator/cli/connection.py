"""What a command needs to reach a desk: settings with the desk's addresses, the queue, and run rows."""

from __future__ import annotations

import json
import os
import pwd
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from pydantic_settings import SettingsError

from coordinator.cli.layout import Layout, read_addresses
from kernel.errors import Correctable, Fatal, Retryable
from kernel.settings import DeskAddresses, Settings

if TYPE_CHECKING:
    from celery import Celery

#: pydantic's word for a value that should have been a list.
_NO_LIST = "list_type"
#: Settings of which an example may hold what was given; lists of secrets are none of them.
_LISTS_OF_TEXTS = (list[str], list[str] | None, list[Path], list[Path] | None)
_EXAMPLE_LENGTH = 120


def read_settings(data_dir: Path | None) -> Settings:
    """Return the settings for a data folder, as the environment has them."""
    try:
        return Settings(data_dir=data_dir) if data_dir is not None else Settings()
    except ValidationError as error:
        raise _bad_settings(error) from error
    except SettingsError as error:
        raise _no_json(error) from error


def join(data_dir: Path | None) -> Settings:
    """Return the settings with the address of the desk of a data folder; raise Fatal where no desk is known."""
    settings = read_settings(data_dir)
    if "redis_url" in settings.model_fields_set:
        return settings
    found = read_addresses(Layout(settings.data))
    if found is None:
        raise Fatal(
            f"no desk was started in {str(settings.data)!r}",
            why="the folder holds no desk.json, and NIGHTDESK_REDIS_URL names no other desk",
            next_step="Run `nightdesk up --detach`, or point --data-dir at a running desk.",
        )
    settings.redis_url = found.broker_url
    return settings


def desk_addresses(settings: Settings) -> DeskAddresses:
    """Return the addresses of the desk; of a fleet, only the queue is known."""
    return read_addresses(Layout(settings.data)) or DeskAddresses(
        broker_url=settings.redis_url, result_url=settings.redis_url
    )


def roots_of(settings: Settings) -> list[Path]:
    """Return the folders whose logs the desk reads in place: its own, not those of this terminal."""
    found = read_addresses(Layout(settings.data))
    if found is not None and found.log_roots:
        return [Path(root) for root in found.log_roots]
    return settings.roots


def client(settings: Settings) -> Celery:
    """Return a Celery app that only sends."""
    from kernel.broker import make_celery

    return make_celery(settings, "cli")


def user_name() -> str:
    """Return the name of the person at the terminal, for the audit."""
    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"


def _bad_settings(error: ValidationError) -> Correctable:
    first = error.errors()[0]
    field, *inside = (str(part) for part in first["loc"])
    if inside:
        return _wrong(field, f"{'.'.join(inside)}: {first['msg']}")
    return _wrong(field, first["msg"], given=str(first["input"]) if first["type"] == _NO_LIST else "")


def _no_json(error: SettingsError) -> Correctable:
    # only the words of the error name the field
    named = re.search(r'field "(\w+)"', str(error))
    cause = error.__cause__
    given = cause.doc if isinstance(cause, json.JSONDecodeError) else ""
    return _wrong(named[1] if named else "?", f"it is not JSON: {cause or error}", given=given)


def _wrong(field: str, why: str, *, given: str = "") -> Correctable:
    return Correctable(
        f"the setting NIGHTDESK_{field.upper()} cannot be used",
        why=why,
        next_step=f"{_as_list(field, given)}Correct it; ops/env.example lists every setting with its form.",
    )


def _as_list(field: str, given: str) -> str:
    """Return how a list of texts is written, with what was given where that is one plain text and no secret."""
    known = Settings.model_fields.get(field)
    if not given or known is None or known.annotation not in _LISTS_OF_TEXTS:
        return ""
    plain = 0 < len(given) <= _EXAMPLE_LENGTH and given.isprintable() and given[0] not in "[{\"'"
    example = json.dumps([given if plain else "…"], ensure_ascii=False)
    return f"It is a list, written as JSON: NIGHTDESK_{field.upper()}={shlex.quote(example)}. "


def require_redis(settings: Settings) -> None:
    """Raise Retryable with the next step where Redis does not answer: nothing has been copied or sent yet."""
    import asyncio

    from kernel.control import Control, connect

    async def ask() -> None:
        redis = connect(settings.redis_url)
        try:
            await Control(redis).ping()
        finally:
            await redis.aclose()

    try:
        asyncio.run(ask())
    except Retryable as error:
        raise Retryable(
            "the desk's Redis does not answer",
            why=error.why or str(error),
            next_step="Look with `nightdesk status`; if the desk is down, start it with `nightdesk up --detach`.",
        ) from error
