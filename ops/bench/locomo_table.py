"""The figures of the bench on conversations as Markdown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

#: What LoCoMo's numbers of categories stand for.
_CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open", "4": "single-hop", "5": "adversarial"}
_WAYS = {"dense": "dense", "keyword": "keyword (BM25)", "rrf": "RRF", "ours": "our score"}


def render(found: Mapping[str, Any]) -> str:
    """Return the figures as text."""
    machine, unreadable = found["machine"], found["unreadable_evidence"]
    ks = list(found["rows"][0]["recall"])
    lines = [
        (
            f"Evidence recall: {found['questions']} questions with evidence, {found['turns']} turns, "
            f"{found['conversations']} conversations, embedder {found['embedder']}."
        ),
        (
            f"{found['seconds']} s in all, {found['engine_ms']} ms a ranked query without embedding; "
            f"{machine['cores']} cores, load {machine['load_1m']} before, Python {machine['python']}."
        ),
        (
            f"{found['without_evidence']} questions carry no evidence; {len(unreadable)} references to evidence name "
            f"no turn{': ' + ', '.join(unreadable) if unreadable else ''}."
        ),
        "",
        f"| way | category | questions | {' | '.join('@' + k for k in ks)} |",
        f"| --- | --- | ---: | {' | '.join('---:' for _ in ks)} |",
    ]
    for row in found["rows"]:
        name = _CATEGORIES.get(row["category"], "")
        figures = " | ".join(f"{row['recall'][k]:.3f}" for k in ks)
        category = f"{row['category']} {name}".strip()
        lines.append(f"| {_WAYS[row['way']]} | {category} | {row['questions']} | {figures} |")
    return "\n".join(lines)
