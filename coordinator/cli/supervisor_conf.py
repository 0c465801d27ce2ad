"""The generated supervisor configuration: filled from `ops/supervisord.conf`, read back, and extended."""

from __future__ import annotations

import io
import json
import shlex
from collections.abc import Mapping
from configparser import RawConfigParser
from dataclasses import dataclass
from pathlib import Path
from string import Template

from coordinator.cli.layout import write_private
from kernel.errors import Fatal

_PROGRAM = "program:"
_ENV = "/usr/bin/env"
_EVERY_PROGRAM = "nightdesk:program"
_EXTRA_WORKER = "nightdesk:worker"
#: Supervisor takes the rest of a line after one of these for a comment.
_COMMENT_MARKS = (" ;", " #", "\t;", "\t#", "\n", "\r")
#: Supervisor 4.3 expands %-names in these a second time (options.py, `lf_val`).
_EXPANDED_TWICE = frozenset({"stdout_logfile", "stderr_logfile"})


@dataclass(frozen=True)
class Program:
    """One process that supervisor looks after."""

    name: str
    argv: tuple[str, ...]

    @property
    def queue(self) -> str:
        """Return the queue the process consumes, empty where it consumes none."""
        return self._after("-Q")

    @property
    def node(self) -> str:
        """Return the worker's name as Celery knows it, `%h` unexpanded; empty for other processes."""
        return self._after("-n")

    @property
    def added(self) -> bool:
        """Return whether `nightdesk worker` added it: then its command begins by setting variables."""
        return self.argv[0] == _ENV

    def _after(self, option: str) -> str:
        return self.argv[self.argv.index(option) + 1] if option in self.argv else ""


def write_conf(
    template: Path,
    target: Path,
    values: Mapping[str, str],
    *,
    threads: int,
    without: frozenset[str] = frozenset(),
) -> None:
    """Fill the template and write it; programs named in `without` are left out."""
    conf = _parser()
    try:
        conf.read_string(template.read_text(encoding="utf-8"))
    except OSError as error:
        raise Fatal(
            f"{str(template)!r} cannot be read",
            why=error.strerror or str(error),
            next_step="Set NIGHTDESK_OPS_DIR to the folder `ops` of the checkout.",
        ) from error
    for name in without:
        conf.remove_section(f"{_PROGRAM}{name}")
    # not [DEFAULT]: supervisor would hand its options to its XML-RPC interface too, which refuses them
    shared = dict(conf.items(_EVERY_PROGRAM))
    conf.remove_section(_EVERY_PROGRAM)
    for section in conf.sections():
        if section.startswith(_PROGRAM) or section == _EXTRA_WORKER:
            own = dict(conf.items(section))
            conf.remove_section(section)
            conf[section] = {**own, **shared, **own}
        if section != _EXTRA_WORKER:
            _fill(conf, section, values, threads)
    _write(conf, target)


def add_worker(
    target: Path,
    name: str,
    *,
    agent: str,
    values: Mapping[str, str],
    threads: int,
    environment: Mapping[str, str],
) -> None:
    """Add a program for one more worker of an agent to a written configuration."""
    conf = _read(target)
    section = f"{_PROGRAM}{name}"
    conf.add_section(section)
    for option, value in conf.items(_EXTRA_WORKER):
        conf.set(section, option, value)
    _fill(conf, section, {**values, "agent": agent, "name": name}, threads, environment)
    _write(conf, target)


def remove_program(target: Path, name: str) -> None:
    """Take a program out of a written configuration."""
    conf = _read(target)
    conf.remove_section(f"{_PROGRAM}{name}")
    _write(conf, target)


def programs(target: Path) -> list[Program]:
    """Return the programs of a written configuration, in its order."""
    conf = _read(target)
    return [
        Program(
            section.removeprefix(_PROGRAM),
            tuple(shlex.split(conf.get(section, "command").replace("%%", "%"))),
        )
        for section in conf.sections()
        if section.startswith(_PROGRAM)
    ]


def environment_argv(environment: Mapping[str, str]) -> list[str]:
    """Return an argv prefix that sets variables for what follows it, whatever their values hold."""
    return [_ENV, *(f"{name}={value}" for name, value in environment.items())]


def worker_options(threads: int) -> list[str]:
    """Return the options that all workers share."""
    return ["--pool", "threads", "-c", str(threads), "--without-gossip", "--without-mingle", "-E"]


def as_json(paths: list[Path]) -> str:
    """Return a list of paths as a setting carries it."""
    return json.dumps([str(path) for path in paths], ensure_ascii=False)


def _fill(
    conf: RawConfigParser,
    section: str,
    values: Mapping[str, str],
    threads: int,
    environment: Mapping[str, str] | None = None,
) -> None:
    quoted = {name: shlex.quote(value) for name, value in values.items()}
    quoted["threads"] = shlex.join(worker_options(threads))
    quoted["env"] = shlex.join(environment_argv(environment or {}))
    for option, text in conf.items(section):
        filled = Template(text).substitute(quoted if option == "command" else values)
        if any(mark in filled for mark in _COMMENT_MARKS):
            raise Fatal(
                f"supervisor cannot be given {filled!r}",
                why="a blank before ';' or '#', or a line break, would end the value",
                next_step="Use a folder whose path has none of these.",
            )
        conf.set(section, option, filled.replace("%", "%%%%" if option in _EXPANDED_TWICE else "%%"))


def _parser() -> RawConfigParser:
    return RawConfigParser(comment_prefixes=(";",), interpolation=None)


def _read(target: Path) -> RawConfigParser:
    conf = _parser()
    try:
        conf.read_string(target.read_text(encoding="utf-8"))
    except OSError as error:
        raise Fatal(
            "no desk was started in this data folder",
            why=f"{str(target)!r} cannot be read ({error.strerror})",
            next_step="Run `nightdesk up`.",
        ) from error
    return conf


def _write(conf: RawConfigParser, target: Path) -> None:
    text = io.StringIO()
    conf.write(text)
    write_private(target, text.getvalue())
