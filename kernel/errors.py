"""The error tree: the class of an error says who must act.

NightdeskError
├── Retryable     transport or provider busy: retry the failing call only; `retry_after` is a floor
│   └── Uncounted what it may cost could not be written down, so it was not sent; no fault of the provider
├── Correctable   the model or the caller can mend it: goes back as a tool result
├── Refused       policy or approval said no: a tool result, final
├── Exhausted     budget, deadline or size: end with what there is
│   └── OverBudget a limit of the operator's would be passed: the run ends as failed, nothing is tried instead
├── Cancelled     somebody said stop: end quietly
├── Unknown       an effect may have happened: stop and look, never repeat
└── Fatal         configuration or bug: fail the run with the reason
    └── LostLease another worker holds the assignment now: stop at once, write nothing
"""

from __future__ import annotations

from typing import Literal


class NightdeskError(Exception):
    """Root of all errors of ours: what happened, why, and what to do next."""

    code = "error"
    #: Of a request to a provider that failed: one that was not sent or was refused cost nothing; else nobody knows.
    billing: Literal["unsent", "refused", "unknown"] = "unknown"

    def __init__(self, what: str, *, why: str = "", next_step: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.why = why
        self.next_step = next_step

    def __str__(self) -> str:
        parts = [self.what]
        if self.why:
            parts.append(f"because {self.why}")
        text = ": ".join(parts)
        return f"{text}. {self.next_step}" if self.next_step else text

    def as_result(self) -> dict[str, str]:
        """Return the structured form a model or a script reads."""
        message = f"{self.what}: {self.why}" if self.why else self.what
        return {"code": self.code, "message": message, "suggestion": self.next_step}


class Retryable(NightdeskError):
    """Transport trouble or a busy provider; `retry_after` is a floor in seconds.

    `untouched` says that the world surely was not touched: without it, a call with an effect may have happened.
    """

    code = "unavailable"

    def __init__(
        self,
        what: str,
        *,
        why: str = "",
        next_step: str = "",
        retry_after: float | None = None,
        untouched: bool = False,
    ) -> None:
        super().__init__(what, why=why, next_step=next_step)
        self.retry_after = retry_after
        self.untouched = untouched


class Correctable(NightdeskError):
    """Bad arguments or a bad answer: whoever sent it can send a better one."""

    code = "invalid"


class Refused(NightdeskError):
    """Policy or a person said no; asking again changes nothing."""

    code = "refused"


class Exhausted(NightdeskError):
    """A budget, deadline or size limit was reached."""

    code = "exhausted"


class OverBudget(Exhausted):
    """A budget would be overspent: never retried, and no other way is tried; `what` begins with "budget: "."""

    code = "budget"


class Uncounted(Retryable):
    """A request could not be reserved in its budgets, so it was not sent."""

    code = "uncounted"


class Cancelled(NightdeskError):
    """Somebody said stop."""

    code = "cancelled"


class Unknown(NightdeskError):
    """An effect may or may not have happened."""

    code = "unknown"


class Fatal(NightdeskError):
    """Configuration is wrong or there is a bug; nobody but an operator can act."""

    code = "fatal"


class LostLease(Fatal):
    """The lease of an assignment went to another worker."""

    code = "lost_lease"
