"""MCP servers as tools of an agent: connect in time or go without, call, cancel, reconnect, close."""

from __future__ import annotations

import asyncio
from typing import Any

from agents.runtime.mcp_link import Link, Severed
from agents.runtime.mcp_pins import Pins
from agents.runtime.mcp_tools import Call, Listed, cleaned, failed, offer
from agents.runtime.tools import Tool, ToolContext
from kernel import logs
from kernel.contracts import Effect
from kernel.errors import Correctable, NightdeskError, Refused, Retryable, Unknown
from kernel.mcp_servers import McpServer
from kernel.settings import Settings

log = logs.get(__name__)

#: Where an MCP server of ours or of a friend finds the idempotency key of a `keyed` call.
KEY_META = "nightdesk/idempotency-key"
_REPEATABLE = frozenset({Effect.read, Effect.idempotent, Effect.keyed})


class McpServers:
    """The MCP servers of one worker process; lives on its one loop, connects on first use.

    Each `tools` call asks the servers again, so a list that changed, a server that came late and one that
    was restarted are all seen by the next assignment.
    """

    def __init__(self, settings: Settings) -> None:
        pins = Pins(settings.data / "mcp_pins.json")
        self._servers = [_Server(configured, pins) for configured in settings.mcp_servers]

    async def tools(self, agent: str) -> tuple[list[Tool], list[str]]:
        """Return an agent's MCP tools, and a note for each server or tool that it must do without.

        Takes no longer than the largest `connect_timeout` of its servers.
        """
        mine = [s for s in self._servers if {agent, "*"} & set(s.configured.agents)]
        offers = await asyncio.gather(*(server.offered() for server in mine))
        return [t for tools, _ in offers for t in tools], [n for _, notes in offers for n in notes]

    async def close(self) -> None:
        """Leave every server and end those that we started; returns when their processes are gone."""
        await asyncio.gather(*(server.close() for server in self._servers))


class _Server:
    """One configured server and the links to it: one in use, others that are ending."""

    def __init__(self, configured: McpServer, pins: Pins) -> None:
        self.configured = configured
        self._pins = pins
        self._link: Link | None = None
        self._ending: set[Link] = set()

    async def offered(self) -> tuple[list[Tool], list[str]]:
        name = self.configured.name
        try:
            link = await self._fresh()
            seen = {one.name: one.fingerprint for one in link.listed}
            changed = await asyncio.to_thread(self._pins.changed, name, seen)
        except NightdeskError as error:
            log.warning("mcp_server_missing", server=name, reason=str(error))
            return [], [str(error)]
        tools, notes = offer(self.configured, link.listed, changed, self._call)
        if changed:
            notes.append(f"look at what changed, then remove those pins from {self._pins.path}")
        return tools, notes

    async def close(self) -> None:
        if self._link is not None:
            self._drop(self._link)
        await asyncio.gather(*(link.gone() for link in list(self._ending)))

    async def _linked(self, until: float) -> Link:
        """Return a link that is ready; begins one where there is none, and waits for it no longer than `until`.

        An attempt is waited for once, `connect_timeout` from its start; it goes on without us, so that a
        server that starts slowly is there for the next assignment.
        """
        if self._link is not None and self._link.ended:
            self._drop(self._link)
        if self._link is None:
            self._link = Link(self.configured)
        link = self._link
        try:
            async with asyncio.timeout_at(min(until, link.began + self.configured.connect_timeout)):
                await link.settled.wait()
        except TimeoutError as error:
            raise self._missing(f"it gave no list within {self.configured.connect_timeout:g} s") from error
        if link.ended:
            raise self._missing(link.failure)
        return link

    async def _fresh(self) -> Link:
        """Return a link whose list was asked for just now; one that is severed is replaced once."""
        until = asyncio.get_running_loop().time() + self.configured.connect_timeout
        known = self._link
        link = await self._linked(until)
        if link is not known:
            return link  # it listed just now
        try:
            async with asyncio.timeout_at(until):
                await link.relist()
        except Severed:
            self._drop(link)
            return await self._linked(until)
        except TimeoutError as error:
            if link.calls:
                return link  # busy with a call of another assignment: what it listed last still holds
            self._drop(link)
            raise self._missing(f"it gave no list within {self.configured.connect_timeout:g} s") from error
        return link

    def _missing(self, why: str) -> Retryable:
        return Retryable(f"the tools of the MCP server {self.configured.name!r} are missing", why=why)

    def _drop(self, link: Link) -> None:
        if self._link is link:
            self._link = None
        self._ending.add(link)
        link.close(lambda: self._ending.discard(link))

    def _call(self, listed: Listed) -> Call:
        effect = Effect(self.configured.rule(listed.name)[0])
        name = f"{self.configured.name}/{listed.name}"

        async def call(context: ToolContext, arguments: dict[str, Any]) -> Any:
            if effect is Effect.read:
                link = await self._linked(asyncio.get_running_loop().time() + self.configured.connect_timeout)
            else:
                link = (
                    await self._fresh()
                )  # proves that the link lives, so that a cut means it may have happened
            self._still(link, listed)
            meta = {KEY_META: context.key} if context.key else {}
            try:
                answer = await link.call(listed.name, arguments, meta)
            except Severed as cut:
                answers = await self._answers(link)
                if not answers:
                    self._drop(link)
                if not answers or cut.unclear:
                    raise self._unclear(name, effect, cut) from cut
                raise failed(name, str(cut)) from cut
            if answer.error:
                raise failed(name, answer.text)
            return cleaned(answer.structured if answer.structured is not None else answer.text)

        return call

    @staticmethod
    def _unclear(name: str, effect: Effect, cut: Severed) -> NightdeskError:
        if effect in _REPEATABLE or cut.never_made:
            return Retryable(f"{name} gave no answer", why=str(cut))
        return Unknown(
            f"whether {name} happened is not known",
            why=f"its server gave no clear answer: {cut}",
            next_step="Look at the target before anybody repeats it.",
        )

    async def _answers(self, link: Link) -> bool:
        """Return whether a server that refused a call is still there for us: a lost session refuses all."""
        try:
            async with asyncio.timeout(self.configured.connect_timeout):
                await link.relist()
        except Severed:
            return False
        except TimeoutError:
            return link.calls > 0
        return True

    def _still(self, link: Link, listed: Listed) -> None:
        """Raise where the tool is gone, or is no longer what this assignment was told."""
        now = {one.name: one for one in link.listed}.get(listed.name)
        if now is None:
            raise Correctable(
                f"{self.configured.name} no longer offers {listed.name!r}", next_step="Do without it."
            )
        if now.fingerprint != listed.fingerprint:
            raise Refused(
                f"{listed.name!r} of {self.configured.name} is not what it was",
                why="its description or schema changed since this assignment saw it",
            )
