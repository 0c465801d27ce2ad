"""The travel planner: an agent in one folder, outside the three, that touches no other file."""

from __future__ import annotations

from pathlib import Path

from travel_planner.routine import routine
from travel_planner.tools import TOOLS

from agents.runtime.spec import AgentSpec

AGENT = AgentSpec(
    name="travel_planner",
    purpose="Plans a few days in a city: weather, sights, hotels and the ways between them; changes a plan on request.",
    prompt=Path(__file__).with_name("prompt.md").read_text(encoding="utf-8"),
    routine=routine,
    tools=lambda _settings: TOOLS,
    handles=(
        r"\b(?:plan|spend|suggest|organi[sz]e)\b.{0,60}\b(?:days?|weekend|trip|itinerary)\b.{0,20}\b(?:in|to|around)\b",
        r"\b(?:travel|trip|sightseeing)\b.{0,40}\b(?:plan|itinerary)\b",
        r"\b(?:lisbon|lisboa|kyoto|chengdu)\b.{0,40}\b(?:days?|weekend|trip|itinerary)\b",
        r"[1-9一二两三四五六七]\s*[天日].{0,20}(?:里斯本|京都|成都|玩|旅游|旅行|行程|之旅)",
        r"(?:里斯本|京都|成都|去.{1,8}玩|旅游|旅行|行程).{0,20}[1-9一二两三四五六七]\s*[天日]",
    ),
)
