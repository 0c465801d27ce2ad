"""Tags: the words by which memories are filed, of each owner and of operations, and those that a rule can tell."""

from __future__ import annotations

import re

from memory_service.domain import Kind, Owner

#: What a memory may be about, by whose it is; other words may stand beside them.
OF: dict[Owner, tuple[str, ...]] = {
    "user": ("profile", "preference", "habit", "relationship", "event"),
    "agent": ("persona", "style", "emotion", "opinion", "event"),
}
OPERATIONS = ("service", "incident", "cause", "remedy")
#: Facts that are one person's own: `my phone` of two people is two facts.
OWN = frozenset({"profile", "relationship", "habit"})

#: A person's own; what "we" do is the team's, and everybody's to know.
_HABIT = re.compile(
    r"^i (?:usually|normally|typically|mostly|tend to|always)\b|^i .{2,60}\bevery (?:day|morning|evening|night|week)"
    r"|^我(?:一般|通常|习惯|平时|总是|每[天周晚])|^ich \w+ (?:meistens|normalerweise|immer|gewöhnlich)\b",
    re.IGNORECASE,
)
_RELATIONSHIP = re.compile(
    r"\bmy (?:direct )?(?:manager|boss|lead|team ?lead|colleague|deputy|backup|report|mentor|successor|stand-?in)\b"
    r"|我的?(?:经理|老板|主管|领导|上级|下属|同事|搭档|导师|接班人)"
    r"|\bmeine? (?:chef(?:in)?|kolleg(?:e|in)|vertretung)\b",
    re.IGNORECASE,
)
_PROFILE = re.compile(
    r"^(?:i am|i'm|i work|i live)\b|^my \w+(?: \w+)? (?:is|are)\b"
    r"|^我(?:是|叫|住|负责|在.{1,20}(?:工作|团队))|^我的.{1,12}(?:是|为)"
    r"|^(?:ich bin|ich heiße|ich arbeite)\b|^meine? \w+ (?:ist|sind)\b",
    re.IGNORECASE,
)


def told_by_rule(text: str, kind: Kind) -> list[str]:
    """Return the tags of what a person states: of a fact about themselves, of a wish, of something that happened."""
    if kind == "preference":
        return ["preference", "habit"] if _HABIT.search(text) else ["preference"]
    if kind == "episode":
        return ["event"]
    if kind != "fact":
        return []
    if _RELATIONSHIP.search(text):
        return ["relationship"]
    if _HABIT.search(text):
        return ["habit"]
    return ["profile"] if _PROFILE.search(text) else []


def own(text: str, kind: Kind) -> bool:
    """Return whether a fact is about whoever states it: then it is theirs, and nobody else's of the same name."""
    return kind == "fact" and not OWN.isdisjoint(told_by_rule(text, kind))
