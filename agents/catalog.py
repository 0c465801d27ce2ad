"""The explicit list of agents: one import line each, and the loader for agents that live in a folder outside."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

from agents.action_execution.agent import AGENT as ACTION_EXECUTION
from agents.log_analysis.agent import AGENT as LOG_ANALYSIS
from agents.notification.agent import AGENT as NOTIFICATION
from agents.runtime.spec import AgentSpec
from kernel.errors import Fatal

AGENTS: tuple[AgentSpec, ...] = (LOG_ANALYSIS, ACTION_EXECUTION, NOTIFICATION)


def load(folders: list[Path]) -> dict[str, AgentSpec]:
    """Return all agents by name: ours, and one for each folder with an `agent.py` that has `AGENT`."""
    agents = {agent.name: agent for agent in AGENTS}
    for folder in folders:
        agent = _from_folder(folder)
        if agent.name in agents:
            raise Fatal(f"two agents are called {agent.name!r}", next_step=f"Rename the one in {folder}.")
        agents[agent.name] = agent
    return agents


def _from_folder(folder: Path) -> AgentSpec:
    """Import a folder as a package named after itself, so that its modules can import each other."""
    place = folder.expanduser().resolve()
    found = importlib.util.spec_from_file_location(
        place.name, place / "agent.py", submodule_search_locations=[str(place)]
    )
    if found is None or found.loader is None or not (place / "agent.py").is_file():
        raise Fatal(
            f"{folder} is no agent", why="it has no agent.py", next_step="See CONTRIBUTING, 'Add an agent'."
        )
    module = importlib.util.module_from_spec(found)
    sys.modules[place.name] = module
    found.loader.exec_module(module)
    agent = getattr(module, "AGENT", None)
    if not isinstance(agent, AgentSpec):
        raise Fatal(f"{folder}/agent.py has no AGENT", why="it must be an AgentSpec")
    return agent
