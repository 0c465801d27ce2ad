"""Words who has how many of the lines that were asked for: the most, each, or the one that was named; pure."""

from __future__ import annotations

from typing import Any

from agents.log_analysis.judging.placing import code, where_of
from agents.log_analysis.questions import Question
from kernel.wording import Words

#: So many that have equally much are named.
_NAMED = 3


def of_one(question: Question, values: list[dict[str, Any]], what: str, say: Words) -> str:
    """Return how many of the lines are of the one that was named, and who else has them."""
    (own, every), (by, _, name) = values[:2], question.of.partition("=")
    rows = every["entities"]
    told = {"by": say.plain(by), "name": code(name), "total": every["events"]}
    if own["events"]:
        text = "{name} ({by}) has {count} of {total} {what}, the first of them {first}."
        first = where_of(own["entities"][0]["first"])
        return say(text, **told, what=what, count=own["events"], first=first)
    head = say("{name} ({by}) has none of the {total} {what}.", **told, what=what)
    return "\n\n".join([head, "\n".join([say("These have them:"), *_rows(every, say)])]) if rows else head


def each(values: list[dict[str, Any]], what: str, say: Words) -> str:
    """Return the lines of each, and how many have none."""
    found = next((value for value in values if value["entities"]), values[0])
    if not found["entities"]:
        return most(values, what, say)
    other = found["events"] - found["named"]
    text = "{count} {what}, by {by} ({other} name none):" if other > 0 else "{count} {what}, by {by}:"
    counts = {"count": found["events"], "other": other} if other > 0 else {"count": found["events"]}
    head = say(text, **counts, what=what, by=say.plain(found["by"]))
    return "\n\n".join([head, "\n".join([*_rows(found, say), *_without(found, say)])])


def _without(found: dict[str, Any], say: Words) -> list[str]:
    """Return a row with the names that have none."""
    names = found.get("without", [])
    more = found["entities_in_all"] - found["entities_total"] - len(names)
    if not names:
        return []
    told = ", ".join(map(code, names))
    return [
        say("- none: {names} and {count} more", names=told, count=more)
        if more > 0
        else say("- none: {names}", names=told)
    ]


def _row(row: dict[str, Any]) -> str:
    return f"- {code(row['entity'])}  {row['count']}  ({where_of(row['first'])})"


def _rows(found: dict[str, Any], say: Words) -> list[str]:
    rows = [_row(row) for row in found["entities"]]
    more = found["entities_total"] - len(rows)
    return [*rows, *([say("- and {count} more of them", count=more)] if more > 0 else [])]


def most(values: list[dict[str, Any]], what: str, say: Words) -> str:
    """Return who has most of the lines, or that none stands out."""
    found = next((value for value in values if value["entities"]), values[0])
    rows, by = found["entities"], found["by"]
    if not rows:
        return say(
            "No {by} stands in the {count} {what}.", by=say.plain(by), count=found["events"], what=what
        )
    text = "{entity} has most: {count} of {events} {what} (different {by}: {total})."
    values_of = {"entity": code(rows[0]["entity"]), "count": rows[0]["count"], "events": found["events"]}
    if len(rows) > 1 and rows[1]["count"] == rows[0]["count"]:
        even = sum(1 for row in rows if row["count"] == rows[0]["count"])
        text = "None stands out: {even} have {count} each of the {events} {what} (different {by}: {total})."
        values_of["even"] = f"{even}+" if even == len(rows) < found["entities_total"] else even
        if even < min(len(rows), _NAMED + 1):
            text = "A tie: {names} have {count} each of the {events} {what} (different {by}: {total})."
            values_of["names"] = ", ".join(code(row["entity"]) for row in rows[:even])
    head = say(text, **values_of, what=what, total=found["entities_total"], by=say.plain(by))
    return "\n\n".join([head, "\n".join(map(_row, rows))])
