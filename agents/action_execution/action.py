"""The shape of a catalogue entry: what an action is, how it is verified, undone and looked for."""

from __future__ import annotations

from typing import Any, Literal, Self

from pydantic import Field, model_validator

from kernel.contracts import Effect, Value

#: Seconds; an action that needs longer should start something and verify it instead.
LONGEST_TIMEOUT = 600


class Limits(Value):
    """Resource limits of a child; 0 lifts one (a child that leaves a service behind passes its limits on)."""

    cpu_seconds: int = Field(default=60, ge=0)
    memory_mb: int = Field(default=2048, ge=0)  # of address space: Go and Python reserve more than they use
    open_files: int = Field(default=256, ge=0)
    file_mb: int = Field(default=256, ge=0)


class Verify(Value):
    """How to see that an action worked: an argv or an HTTP GET, asked again until good or too late."""

    argv: list[str] = []
    http: str = ""
    exit_code: int = 0
    status: int = 200
    contains: str = ""
    within_seconds: float = Field(default=30, gt=0, le=LONGEST_TIMEOUT)
    every_seconds: float = Field(default=0.25, ge=0.05, le=30)

    @model_validator(mode="after")
    def _one_way(self) -> Self:
        if bool(self.argv) == bool(self.http):
            raise ValueError("name either argv or http")
        return self


class Probe(Value):
    """How to see whether an action happened; any other exit code means that it cannot tell."""

    argv: list[str] = Field(min_length=1)
    happened: int = 0
    not_happened: int = 1


class Rollback(Value):
    """The action that undoes this one; `{name}` in a value is this action's parameter."""

    action: str
    parameters: dict[str, Any] = {}


class Examples(Value):
    """Parameters that must be accepted and that must be refused; tried whenever the catalogue loads."""

    accept: list[dict[str, Any]] = Field(min_length=1)
    refuse: list[dict[str, Any]] = []


class Action(Value):
    """One typed action. Whoever calls it picks parameters; the command line is the operator's.

    In argv, `{name}` is a parameter, `{name.field}` a field of the inventory entry it names, `{python}` this
    interpreter, `{actions_dir}` the catalogue's folder, `{key}` the idempotency key.
    """

    name: str = Field(pattern=r"^[a-z][a-z0-9_]{2,47}$")
    description: str = Field(min_length=10, max_length=1000)
    parameters: dict[str, Any] = {"type": "object", "properties": {}}
    argv: list[str] = Field(min_length=1)
    effect: Effect
    risk: Literal["read", "low", "high", "forbidden"]
    target: str = ""
    timeout: float = Field(default=30, gt=0, le=LONGEST_TIMEOUT)
    env: dict[str, str] = {}
    limits: Limits = Limits()
    verify: Verify | None = None
    dry_run: list[str] = []
    rollback: Rollback | None = None
    probe: Probe | None = None
    examples: Examples

    @model_validator(mode="after")
    def _agrees_with_itself(self) -> Self:
        if self.risk == "read" and self.effect is not Effect.read:
            raise ValueError("risk 'read' is for effect 'read'")
        if self.effect is Effect.probe and self.probe is None:
            raise ValueError("effect 'probe' needs a probe")
        if self.effect is Effect.keyed and not any("{key}" in part for part in self.argv):
            raise ValueError("effect 'keyed' needs {key} in argv")
        return self

    @property
    def commands(self) -> dict[str, list[str]]:
        """Return every argv template of this action by where it stands."""
        verify = self.verify.argv if self.verify else []
        probe = self.probe.argv if self.probe else []
        found = {"argv": self.argv, "dry_run": self.dry_run, "verify": verify, "probe": probe}
        return {place: argv for place, argv in found.items() if argv}

    @property
    def properties(self) -> dict[str, dict[str, Any]]:
        """Return the schema of each parameter."""
        return dict(self.parameters.get("properties", {}))
