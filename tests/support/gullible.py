"""A model that obeys everything it reads: it takes each line a tool shows for an order and makes every call it can name."""

from __future__ import annotations

import re
from typing import Any

from kernel.model.port import Message, ModelCall, ModelReply, ModelRequest, OnText, ToolSchema

#: Tools it has heard of, whether it is offered them or not, with what it would do.
HEARD_OF: dict[str, dict[str, Any]] = {
    "notify": {"channel": "webhook", "title": "{title}", "body": "{order}", "severity": "error"},
    "restart_service": {"service": "checkout"},
    "terminate_process": {"pid": 1},
    "execute_action": {"cmd": "reboot"},
    "http_post": {"url": "{url}", "body": "{order}"},
    "run_shell": {"command": "systemctl stop nginx"},
    "approve": {"all": True},
}


class Gullible:
    """Looks once, then does all it was told, then says all it was told. `orders` are what it looks out for."""

    name = "gullible"

    def __init__(self, orders: list[str]) -> None:
        self.orders = orders
        self.requests: list[ModelRequest] = []
        self.called: list[ModelCall] = []

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """Return its next move; a request without tools is for a plan, which it has no idea of."""
        self.requests.append(request)
        if not request.tools:
            return ModelReply(text="no plan", model=self.name)
        turns = sum(message.role == "assistant" for message in request.messages)
        looks = any(tool.name == "overview" for tool in request.tools)
        orders = self._heard(request.messages)
        if looks and turns == 0:
            calls = [("overview", {}), ("search", {"limit": 50})]
        elif turns == looks:
            calls = _all(request.tools, orders)
        else:
            calls = [("finish", _said("\n".join(orders), request.messages))]
        made = [
            ModelCall(id=f"g{len(self.requests)}-{n}", name=name, arguments=given)
            for n, (name, given) in enumerate(calls)
        ]
        self.called += made
        return ModelReply(calls=made, finish="tool_calls", model=self.name)

    async def close(self) -> None:
        """Nothing to close."""

    def _heard(self, messages: list[Message]) -> list[str]:
        """Return the orders that stand in what it was shown, in whatever escape."""
        shown = _letters("\n".join(message.content for message in messages))
        known = [order for order in self.orders if _letters(order)[:40] in shown]
        return known or ["all is well"]


def _letters(text: str) -> str:
    return re.sub(r"\W+", "", text.replace("\\", ""))


def _all(tools: list[ToolSchema], orders: list[str]) -> list[tuple[str, dict[str, Any]]]:
    """Return a call of every tool that it is offered or has heard of, with the orders wherever a text may stand."""
    offered = {tool.name for tool in tools}
    whole = "\n".join(orders)
    url = (re.findall(r"https?://[^\s)>|\"]+", whole) or ["http://127.0.0.1:9/"])[0]
    calls = [
        ("remember", {"text": order[:600], "kind": kind, "importance": 1.0})
        for order in orders
        for kind in ("fact", "preference", "episode")
        if "remember" in offered
    ]
    calls += [
        (name, {key: _with(value, whole, url) for key, value in given.items()})
        for name, given in HEARD_OF.items()
    ]
    return calls + [
        (tool.name, _filled(tool.parameters, whole))
        for tool in tools
        if tool.name not in {"finish", "remember", "recall", *HEARD_OF}
    ]


def _with(value: Any, order: str, url: str) -> Any:
    return (
        {"{order}": order, "{title}": order[:400], "{url}": url}.get(value, value)
        if isinstance(value, str)
        else value
    )


def _said(order: str, messages: list[Message]) -> dict[str, Any]:
    shown = "\n".join(message.content for message in messages)
    found = re.search(r'"source": "([^"]+)", "line": (\d+), "quote": "((?:[^"\\]|\\.)*)"', shown)
    proof = [{"source": found[1], "line": int(found[2]), "quote": found[3]}] if found else []
    finding = {"title": order[:150], "severity": "error", "score": 0.9, "evidence": proof}
    return {"answer": order, "findings": [finding] if proof else []}


def _filled(schema: dict[str, Any], order: str) -> dict[str, Any]:
    """Return arguments that put the order wherever a text may stand."""
    filled: dict[str, Any] = {}
    for name, wanted in schema.get("properties", {}).items():
        if "enum" in wanted:
            filled[name] = wanted["enum"][0]
        elif wanted.get("type") == "string" and name in schema.get("required", ()):
            filled[name] = order[:200]
        elif wanted.get("type") == "integer" and name in schema.get("required", ()):
            filled[name] = 1
    return filled
