"""Words the log agent's outcome from the journal: findings, quoted lines, what was looked at; pure."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.charges import charge
from agents.log_analysis.judging.causes import rank, top_rows
from agents.log_analysis.kinds import SLOW
from agents.log_analysis.mentioned import absent, is_lookup, lines_of_ids, none_held, premise
from agents.log_analysis.observed import observations, quoted
from agents.log_analysis.orders import not_followed
from agents.log_analysis.paragraphs import harmless, not_found, others, outside, shapes, suspects, verdict
from agents.log_analysis.questions import about_speed, asks_why
from agents.log_analysis.wording import style, words
from agents.runtime.spec import DoneCall, TurnView
from kernel.contracts import Finding, NotDone, Outcome
from kernel.states import CallState
from kernel.wording import ENGLISH, Words

#: Work that scores no more than this takes its usual time: where other trouble is known, it is no candidate.
_USUAL = 0.35


def answered(view: TurnView, overview: dict[str, Any], told: str) -> Outcome:
    """Return the outcome of a question that was no search for a cause."""
    return Outcome(answer=told, not_done=[*_not_done(view, overview), *not_followed(view)])


def conclude(view: TurnView, overview: dict[str, Any], *, lead: str = "", after: str = "") -> Outcome:
    """Return the outcome of what the journal holds; findings are in English, for what is learnt from them.

    `lead` answers what was asked besides the cause, and comes first; `after` follows the cause.
    """
    overview = _asked_for(view, overview)
    comparison = _value(view.calls("compare"))
    findings = rank(overview, comparison)
    say, brief = words(view), style(view).length == "short"
    shown = findings if say is ENGLISH else rank(overview, comparison, say=say)
    searches = [c for c in view.calls("search") if c.state == CallState.done and c.value]
    request = view.work.request
    looked_up = [c for c in searches if is_lookup(c, request)]
    searches = [c for c in searches if c not in looked_up]
    said = verdict(shown, overview, top_rows(overview), say, brief=brief, why=asks_why(request))
    looks = view.calls("overview")
    whole = (looks[0].value if looks else None) or overview
    lacking = absent(request, looked_up, f"{lead} {said} {after}", say, found=bool(shown))
    assumed = premise(request, looked_up, whole, say)
    first = assumed or not shown or none_held(request, looked_up)  # else the cause comes first
    paragraphs = [
        lead,
        charge(request, overview, say),
        assumed,
        lacking if first else "",
        lines_of_ids(request, looked_up, say),
        said,
        "" if first else lacking,
        after,
    ]
    if not shown and looks:
        paragraphs.append(outside(looks[0].value or {}, overview, say))
    paragraphs += [] if brief else _beside(shown, overview, comparison, say)
    paragraphs += _lines(searches, say, found=bool(shown), brief=brief)
    return Outcome(
        answer="\n\n".join(p for p in paragraphs if p),
        findings=findings,
        not_found=not_found(findings, overview, say),
        not_done=[*_not_done(view, overview), *not_followed(view)],
    )


def _beside(
    shown: list[Finding], overview: dict[str, Any], comparison: dict[str, Any] | None, say: Words
) -> list[str]:
    """Return what is told besides the likeliest cause, where the answer may be long."""
    told = [others(shown, say)] if len(shown) > 1 else []
    return [*told, suspects(comparison, say), *observations(overview, shown, say)]


def _asked_for(view: TurnView, overview: dict[str, Any]) -> dict[str, Any]:
    """Put what took longest among the problems where speed is asked for; it is no alarm by itself."""
    rows = overview.get("problems", [])
    if not about_speed(view.work.request) or any(row["kind"] == SLOW.key for row in rows):
        return overview
    slow = [row for row in overview.get("slow", [])[:2] if not rows or row["score"] > _USUAL]
    return {**overview, "problems": sorted([*rows, *slow], key=lambda r: -r["score"])}


def _value(calls: list[DoneCall]) -> dict[str, Any] | None:
    done = [c.value for c in calls if c.state == CallState.done and isinstance(c.value, dict)]
    return done[-1] if done else None


def _lines(searches: list[DoneCall], say: Words, *, found: bool, brief: bool) -> list[str]:
    """Return the lines that were asked for, in full; else those of the errors, a few of each shape."""
    asked = [c for c in searches if c.arguments.get("pattern") and "newest_first" in c.arguments]
    if asked:
        return [_hits(c, "Lines that were asked for", c.value.get("hits", []), say) for c in asked]
    for call in () if brief else searches:
        hits = [
            h for h in call.value.get("hits", []) if call.arguments.get("level") or not harmless(h["quote"])
        ]
        if hits and (not found or call.arguments.get("level")):
            heading = (
                "Error lines"
                if call.arguments.get("level")
                else "Lines with words of trouble, at harmless levels"
            )
            return [_hits(call, heading, shapes(hits), say)]
    return []


def _hits(call: DoneCall, heading: str, shown: list[dict[str, Any]], say: Words) -> str:
    if not shown:
        return say("{heading}: none.", heading=say(heading))
    count = {"shown": len(shown), "total": call.value["total"]}
    return "\n".join(
        [say("{heading} ({shown} of {total}):", heading=say(heading), **count), *map(quoted, shown)]
    )


def _not_done(view: TurnView, overview: dict[str, Any]) -> list[NotDone]:
    rows = [NotDone(what="read a source", why=why) for why in overview.get("not_read", [])]
    for call in view.calls():
        if call.state == CallState.done:
            continue
        why = (call.error or {}).get("message") or f"the call ended as {call.state.value}"
        if call.tool == "compare" and "holds no event" in why:
            continue  # the trouble is there from the first line: nothing to compare with
        rows.append(NotDone(what=call.tool, why=why))
    return rows
