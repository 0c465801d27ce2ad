"""Accuracy of log parsers by the public definitions (GA, FGA, PA, FTA), as pure functions of two columns."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

WILD = "<*>"

#: The delimiters that the public correction of templates cuts words at.
_DELIMITERS = re.compile(r"([\s,!;:=|\"'\[\](){}.\-+@#$%&])")
_JOINED = ("<*>:<*>", "<*>#<*>", "<*>/<*>", "<*>@<*>", "<*>.<*>", "<*><*>")
_QUOTED = ((" #<*># ", " <*> "), (" #<*> ", " <*> "), (' "<*>" ', " <*> "), (" '<*>' ", " <*> "))


@dataclass(frozen=True)
class Scores:
    """One parser on one set: grouping and text, by line and by template."""

    ga: float
    fga: float
    pa: float
    fta: float
    templates: int
    true_templates: int


def score(truth: Sequence[str], found: Sequence[str]) -> Scores:
    """Return the scores of templates found for lines, beside the true templates of the same lines.

    GA: share of lines whose found group holds exactly the lines of their true group. FGA: F1 of such groups over
    found and true groups. PA: share of lines whose template's text is the true text. FTA: F1 of found templates
    that have the true text and stand on lines of that true template alone. As the public evaluator has it, such a
    template need not stand on ALL lines of the true one.
    """
    lines: dict[str, Counter[str]] = defaultdict(Counter)
    for true, mine in zip(truth, found, strict=True):
        lines[mine][true] += 1
    true_sizes = Counter(truth)
    right_lines = right_groups = right_texts = 0
    for mine, trues in lines.items():
        if len(trues) != 1:
            continue
        true, count = next(iter(trues.items()))
        if count == true_sizes[true]:
            right_lines += count
            right_groups += 1
        right_texts += true == mine
    total = len(truth) or 1
    return Scores(
        ga=right_lines / total,
        fga=_f1(right_groups, len(lines), len(true_sizes)),
        pa=sum(a == b for a, b in zip(truth, found, strict=True)) / total,
        fta=_f1(right_texts, len(lines), len(true_sizes)),
        templates=len(lines),
        true_templates=len(true_sizes),
    )


def _f1(right: int, found: int, true: int) -> float:
    return 2 * right / (found + true) if right else 0.0


def corrected(template: str) -> str:
    """Return a template as the public post-processing (`correct_single_template`) leaves it.

    Blanks are one blank; a word piece that is digits or holds a wildcard is a wildcard; wildcards with nothing but
    one of `. : # / @` between them are one. Booleans and paths are left, as in its published form.
    """
    pieces = _DELIMITERS.split(re.sub(r"\s+", " ", template.strip()))
    text = "".join(_piece(piece) for piece in pieces)
    for joined in ("<*>.<*>", "<*><*>"):
        text = _replaced(text, joined, WILD)
    for old, new in _QUOTED[:2]:
        text = _replaced(text, old, new)
    for joined in _JOINED[:-1]:
        text = _replaced(text, joined, WILD)
    for old, new in _QUOTED[2:]:
        text = _replaced(text, old, new)
    return _replaced(text, "<*><*>", WILD)


def _piece(piece: str) -> str:
    wild = WILD in piece and "/" not in piece
    return WILD if wild or re.fullmatch(r"\d+", piece) else piece


def _replaced(text: str, old: str, new: str) -> str:
    while old in text:
        text = text.replace(old, new)
    return text
