"""MCP servers as the operator configures them: where each is, whose tools they are, what its calls may do."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, SecretStr, model_validator

from kernel.contracts import Value

McpEffect = Literal["read", "idempotent", "keyed", "unsafe"]
McpRisk = Literal["read", "low", "high"]


class McpRule(Value):
    """What the operator says about one tool of an MCP server; the server has no say in it."""

    effect: McpEffect | None = None
    risk: McpRisk | None = None


class McpServer(Value):
    """One MCP server: a command to start (argv) or the URL of one that runs; `agents` may be ["*"]."""

    name: str = Field(pattern=r"^[a-z0-9]+([_-][a-z0-9]+)*$", max_length=24)  # never a double underscore
    command: list[str] = []
    url: str | None = None
    headers: dict[str, SecretStr] = {}
    env: dict[str, SecretStr] = {}
    agents: list[str]
    effect: McpEffect = "unsafe"
    tools: dict[str, McpRule] = {}
    timeout: float = Field(default=30.0, gt=0)
    connect_timeout: float = Field(default=5.0, gt=0)  # a run never waits longer for it

    @model_validator(mode="after")
    def _is_sound(self) -> Self:
        if bool(self.command) == bool(self.url):
            raise ValueError(f"MCP server {self.name!r} needs either a command or a url")
        for tool in self.tools:
            effect, risk = self.rule(tool)
            if (risk == "read") != (effect == "read"):
                raise ValueError(f"{self.name}/{tool}: risk read goes with effect read, and only with it")
        return self

    def rule(self, tool: str) -> tuple[McpEffect, McpRisk]:
        """Return effect and risk of a tool; only `read` runs without a person unless a policy says so."""
        own = self.tools.get(tool, McpRule())
        effect = own.effect or self.effect
        return effect, own.risk or {"read": "read", "unsafe": "high"}.get(effect, "low")  # type: ignore[return-value]  # mypy widens the literals
