"""Named sources: what `ops/sources.yaml` says a request may call by a name, checked when a worker starts."""

from __future__ import annotations

import re
import shutil
import ssl
from functools import lru_cache
from pathlib import Path
from typing import Annotated
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import yaml
from pydantic import AfterValidator, Field, ValidationError, field_validator, model_validator

from agents.log_analysis.formats.detection import form_named
from agents.log_analysis.sources.patterns import holds_file, root_of
from kernel.contracts import Value
from kernel.errors import Correctable, Fatal
from kernel.settings import Settings
from kernel.source_queues import is_source_name

FILE = "sources.yaml"

#: Where programs are looked for: never the caller's PATH, which may be anyone's.
SAFE_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

#: Where systemd keeps its journal.
_JOURNALS = (Path("/var/log/journal"), Path("/run/log/journal"))

#: A unit or identifier becomes one word of an argument list; it never begins an option.
_UNIT = re.compile(r"[\w@][\w@.:\\*?\[\]-]{0,255}")


def check_zone(zone: str, owner: str) -> None:
    """Raise where a name is given that is no time zone's."""
    try:
        ZoneInfo(zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise Correctable(
            f"{zone[:60]!r} is no time zone",
            why=f"it is what {owner} asks for",
            next_step="Use an IANA name, such as Asia/Shanghai.",
        ) from error


def _zone(value: str) -> str:
    try:
        check_zone(value, "it")
    except Correctable as error:
        raise ValueError(f"{value!r} is no IANA time zone, such as Asia/Shanghai") from error
    return value


def _form(value: str) -> str:
    try:
        return form_named(value)
    except Correctable as error:
        raise ValueError(f"{error.what}; {error.why}") from error


def _word(value: str) -> str:
    if not _UNIT.fullmatch(value):
        raise ValueError(f"{value!r} is no name of a unit or an identifier")
    return value


class LokiQuery(Value):
    """Lines of a Loki: the query is the operator's, no request adds to it."""

    url: str
    query: str
    tenant: str = Field(default="", pattern=r"^[!-~]{0,150}$")
    hours: float = Field(default=6.0, gt=0, le=24 * 31)
    #: Loki refuses more entries per request than its max_entries_limit_per_query, which is 5,000 by default.
    limit: int = Field(default=5000, ge=10, le=100_000)
    #: Certificates of an authority of one's own, as PEM.
    ca_file: Path | None = None

    @field_validator("url")
    @classmethod
    def _is_address(cls, value: str) -> str:
        parts = urlsplit(value)
        if "@" in value or parts.query:  # never quoted: it may hold a password
            raise ValueError(
                "it may not carry a user, a password or a query: put the token into NIGHTDESK_LOG_TOKENS"
            )
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError(f"{value!r} is no address of a Loki, such as http://loki:3100")
        return value.rstrip("/")

    @field_validator("ca_file")
    @classmethod
    def _holds_certificates(cls, value: Path | None) -> Path | None:
        try:
            if value is not None:
                ssl.create_default_context(cafile=value)
        except OSError as error:  # SSLError is one
            raise ValueError(f"{value} holds no certificates: {error.strerror or error}") from error
        return value

    @field_validator("query")
    @classmethod
    def _selects_lines(cls, value: str) -> str:
        if not value.strip().startswith("{"):
            raise ValueError("it must be a LogQL query for lines, which begins with a selector in braces")
        return value.strip()


class JournalQuery(Value):
    """Entries of this machine's journal, or of a folder of journal files."""

    units: list[Annotated[str, AfterValidator(_word)]] = []
    identifiers: list[Annotated[str, AfterValidator(_word)]] = []
    hours: float = Field(default=6.0, gt=0, le=24 * 31)
    folder: Path | None = None
    program: Path = Path("journalctl")

    @property
    def found(self) -> str | None:
        """Return the path of the program on this machine, None where there is none."""
        return shutil.which(str(self.program), path=SAFE_PATH)


class NamedSource(Value):
    """One entry of the file: exactly one of `paths`, `loki` and `journald`."""

    purpose: str = ""
    paths: list[str] = []
    loki: LokiQuery | None = None
    journald: JournalQuery | None = None
    format: Annotated[str, AfterValidator(_form)] = ""
    zone: Annotated[str, AfterValidator(_zone)] = ""

    @field_validator("paths")
    @classmethod
    def _are_absolute(cls, value: list[str]) -> list[str]:
        for path in value:
            if "\0" in path or not Path(path).is_absolute() or ".." in Path(path).parts:
                raise ValueError(f"{path!r} must be an absolute path or pattern without '..'")
            if len(root_of(path).parts) < 2:  # noqa: PLR2004 - "/" and a folder
                raise ValueError(f"{path!r} would open the whole machine: name a folder")
        return value

    @model_validator(mode="after")
    def _is_one_kind(self) -> NamedSource:
        given = [k for k in ("paths", "loki", "journald") if getattr(self, k)]
        if len(given) != 1:
            raise ValueError(
                f"give exactly one of paths, loki and journald, not {' and '.join(given) or 'none'}"
            )
        return self

    @property
    def roots(self) -> tuple[Path, ...]:
        """Return the folders that its patterns name: the owner of the file allowed them by naming them."""
        return tuple(dict.fromkeys(root_of(path).resolve() for path in self.paths))

    def reachable(self) -> bool:
        """Tell whether this machine can read it now."""
        if self.loki is not None:
            return True
        if self.journald is not None:
            folders = (self.journald.folder,) if self.journald.folder else _JOURNALS
            return self.journald.found is not None and any(folder.is_dir() for folder in folders)
        return any(holds_file(path) for path in self.paths)


class _File(Value):
    sources: dict[str, NamedSource] = {}

    @field_validator("sources", mode="before")
    @classmethod
    def _may_be_empty(cls, value: object) -> object:
        return {} if value is None else value

    @field_validator("sources")
    @classmethod
    def _names_are_plain(cls, value: dict[str, NamedSource]) -> dict[str, NamedSource]:
        for name in value:
            if not is_source_name(name):
                raise ValueError(f"{name!r}: a name has letters, digits, '.', '_' and '-'")
        return value


def available(settings: Settings) -> list[str]:
    """Return the names of the sources that this worker can reach now; raise Fatal where the file is wrong.

    A path set counts where a file matches, the journal where `journalctl` and a journal are there, a Loki always.
    """
    return sorted(name for name, source in named_sources(settings).items() if source.reachable())


def named_sources(settings: Settings) -> dict[str, NamedSource]:
    """Return all named sources; a file that was not asked for may be missing."""
    path = settings.log_sources or settings.ops_dir / FILE
    path = path.expanduser().absolute()
    try:
        status = path.stat()
    except OSError as error:
        if settings.log_sources is None and isinstance(error, FileNotFoundError):
            return {}
        raise _bad(path, error.strerror or "it cannot be read") from error
    return _load(path, status.st_mtime_ns, status.st_size)


@lru_cache(maxsize=8)
def _load(path: Path, _changed: int, _size: int) -> dict[str, NamedSource]:
    """Read the file once for each of its states."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _bad(path, f"it is not YAML: {_fault(error)}") from error
    except OSError as error:
        raise _bad(path, error.strerror or "it cannot be read") from error
    if content is not None and not isinstance(content, dict):
        raise _bad(path, "its top level is not a mapping")
    try:
        return _File.model_validate(content or {}).sources
    except ValidationError as error:
        told = (
            f"{'.'.join(map(str, e['loc'])) or 'file'}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors()
        )
        raise _bad(path, "; ".join(told)) from error


def _fault(error: yaml.YAMLError | UnicodeDecodeError) -> str:
    """Return what is wrong and where, without the line itself: it may hold a secret."""
    mark = getattr(error, "problem_mark", None)
    what = getattr(error, "problem", None) or getattr(error, "reason", "")
    return f"{what} (line {mark.line + 1}, column {mark.column + 1})" if mark else str(what)


def _bad(path: Path, why: str) -> Fatal:
    return Fatal(f"{path} cannot be used", why=why, next_step="Mend the file and start the worker again.")
