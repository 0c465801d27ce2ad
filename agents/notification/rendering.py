"""Rendering: our own templates in a sandbox; what comes from outside is a field and never a template."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from agents.notification.message import Message, Severity
from kernel.neutral import cut, neutralise, one_line

if TYPE_CHECKING:  # every agent's worker imports this file; only who renders needs the templates' library
    from jinja2.sandbox import ImmutableSandboxedEnvironment

#: Mail subjects and PagerDuty summaries are cut at about this by many readers; also keeps a header one line.
TITLE_BYTES = 200

_TEMPLATES = Path(__file__).with_name("templates")


def render(
    *, key: str, run_id: str, channel: str, severity: Severity, title: str, body: str, max_bytes: int
) -> Message:
    """Return a message whose every field is neutral and whose body fits `max_bytes`."""
    fields = {
        "severity": severity,
        "title": cut(one_line(neutralise(title)), TITLE_BYTES),
        "body": cut(neutralise(body).strip(), max_bytes),
        "run_id": run_id,
    }
    environment = _environment()
    return Message(
        key=key,
        channel=channel,
        text=environment.get_template("message.txt.j2").render(fields),
        html=environment.get_template("message.html.j2").render(fields),
        **fields,
    )


@lru_cache(maxsize=1)
def _environment() -> ImmutableSandboxedEnvironment:
    from jinja2 import FileSystemLoader, StrictUndefined
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    return ImmutableSandboxedEnvironment(
        loader=FileSystemLoader(_TEMPLATES, encoding="utf-8"),
        autoescape=lambda name: bool(name and name.endswith(".html.j2")),
        undefined=StrictUndefined,
        keep_trailing_newline=False,
    )
