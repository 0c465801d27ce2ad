"""Reads two questions that are asked in one request; pure."""

from __future__ import annotations

import re
from dataclasses import replace

from agents.log_analysis.groups import asks_who_is_hit, entity_of
from agents.log_analysis.questions import (
    LEADS,
    Question,
    asks_why,
    is_lead,
    one_question,
    question_of,
)

#: What parts two questions of one request.
_JOINED = re.compile(
    r"(?i)[,;，；]?\s*\band\b\s+(?=how (?:many|often)|which\b|who\b|what\b|when\b|(?:did|has|is) (?:it|this|that)\b)"
    r"|[,;，；]\s*(?=how (?:many|often)|which\b|who\b|(?:did|has|is) (?:it|this|that)\b)"
    r"|[,;，；]\s*(?=哪|多少|一共|共有|什么时候|何时)|(?<=[?？])\s*"
)
_SENTENCES = re.compile(r"(?<=[?？])\s*")
#: Topics that may be asked two at a time.
_PAIRED = ("count", "most", "each", "top", "last", "rate", *LEADS)


def asked_of(request: str) -> Question | None:
    """Return what a request asks: two questions, the second in the first, or one; None where it asks for a cause."""
    return pair_of(request) or _beside_cause(request) or question_of(request)


def _beside_cause(request: str) -> Question | None:
    """Return a count that is asked in a sentence of its own, beside one that asks what is wrong."""
    parts = [part for part in _SENTENCES.split(request) if part.strip(" ?？.。!！")]
    asked = [one_question(part) for part in parts]
    counts = [one for one in asked if one is not None and one.topic in _PAIRED and not is_lead(one)]
    if len(parts) != 2 or len(counts) != 1 or None not in asked:  # noqa: PLR2004 - a pair
        return None
    return replace(counts[0], why=True)


def pair_of(request: str) -> Question | None:
    """Return two questions asked in one breath, the second in the first; what it leaves out the first has said."""
    parts = [part for part in _JOINED.split(request) if part.strip(" ?？.。")]
    if len(parts) != 2 or asks_why(request):  # noqa: PLR2004 - a pair
        return None
    one, two = (one_question(part) or _affected(part) for part in parts)
    if one is None or two is None or one.topic not in _PAIRED or two.topic not in _PAIRED:
        return None
    if one.topic == two.topic and one.topic != "count":
        return None
    if is_lead(one) or (
        is_lead(two) and (two.topic != "start" or one.topic != "count")
    ):  # when it began, and whether it is over
        lead, main = (one, two) if is_lead(one) else (two, one)
        return None if is_lead(main) else replace(main, also=(lead.topic, *lead.also))
    if not two.term and not two.level:
        two = replace(two, term=one.term, level=one.level, exact=one.exact)
    told = two.topic in ("start", "last") and (two.term, two.level) == (one.term, one.level)
    return one if told else replace(one, then=two)  # a count tells its first and last line itself


def _affected(request: str) -> Question | None:
    """Return a count of errors by who for a request that asks which of them is hit."""
    entity = entity_of(request)
    return Question("each", level="error", entity=entity) if entity and asks_who_is_hit(request) else None
