"""A report in Markdown: nothing that a log or a model chose becomes live, and code stays as it is."""

from __future__ import annotations

import re

import pytest

from coordinator.rendering import inert, markdown
from kernel.contracts import Evidence, Finding
from kernel.reports import Report


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("see ![x](https://evil.example/p.png)", "see ! [x] (hxxps[:]//evil.example/p.png)"),
        ("[ok](https://evil.example) <@U01> @all", "[ok] (hxxps[:]//evil.example) ‹(at)U01› (at)all"),
        ("a line: `GET https://a.example <b> @c` stays", "a line: `GET https://a.example <b> @c` stays"),
        ("``a ` b <c>`` and `<d>`", "``a ` b <c>`` and `<d>`"),
        # no span of code: its end is missing, stands behind a line's end, or its beginning is escaped
        ("` <b>", "` ‹b›"),
        ("`\n\n![x](y)\n`", "`\n\n! [x] (y)\n`"),
        ("\\`![x](y)`", "\\`! [x] (y)`"),
        ("cited as [mem:m1] and so", "cited as [mem:m1] and so"),
    ],
)
def test_only_code_may_hold_what_would_be_live(text: str, shown: str) -> None:
    assert inert(text) == shown


def test_every_part_of_a_report_is_inert() -> None:
    live = "![x](https://evil.example)"
    proof = Evidence(source="a`b.log", line=1, quote=live)
    report = Report(
        run_id="r",
        state="succeeded",
        answer=live,
        findings=[Finding(title=live, evidence=[proof])],
        not_found=[live],
    )
    text = markdown(report)
    assert text.count("! [x] (hxxps[:]//evil.example)") == 3
    assert f"`` a`b.log:1 `` `{live}`" in text


@pytest.mark.parametrize("cut", ["\n", "\n\n", "\r\n", "\u2028", "\x85", "\x0b"])
def test_words_of_a_model_in_reasons_and_proofs_are_inert_too(cut: str) -> None:
    live = "![x](https://evil.example)"
    finding = Finding(
        title="t",
        reasons=[live, f"a{cut}{live}"],
        evidence=[Evidence(source=f"b`{live}", line=1, quote=f"a{cut}{live}")],
        against=[Evidence(source=f"b`{live}`{cut}{live}", line=1, quote=f"a{cut}{live}")],
    )
    text = markdown(Report(run_id="r", state="succeeded", answer="a", findings=[finding]))
    outside = re.sub(r"(?<![`\\])(`+)(?!`)[^\n]+?(?<!`)\1(?!`)", "", text)
    assert "evil" not in outside.replace("! [x] (hxxps[:]//evil.example)", "")
    assert len([line for line in text.split("\n") if "evil" in line]) == 4


def test_what_the_answer_shows_is_not_said_again_below_it() -> None:
    first, second = (Evidence(source="a.log", line=n, quote=f"ERROR {n}") for n in (1, 12))
    findings = [
        Finding(title="one", evidence=[first, second], reasons=["it came first", "it is loud"]),
        Finding(title="other", evidence=[second], reasons=["it came first"]),
    ]
    answer = "Because.\n- a.log:1  `ERROR 1`\n\nWhat speaks for it:\n- it came first"
    report = Report(run_id="r", state="succeeded", answer=answer, findings=findings)
    below = markdown(report).split("## Findings")[1].strip().split("\n")
    assert below == [
        "1. **one** (error, score 0.50)",
        "   - quoted above: `a.log:1`",
        "   - `a.log:12` `ERROR 12`",
        "   - speaks for it: it is loud",
        "2. **other** (error, score 0.50)",
        "   - `a.log:12` `ERROR 12`",
        "   - speaks for it: it came first",
    ]
