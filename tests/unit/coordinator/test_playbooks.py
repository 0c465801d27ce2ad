from pathlib import Path

import pytest

from coordinator import playbooks
from kernel.contracts import ActionOutcome, Finding, Outcome, Request
from kernel.errors import Fatal

GOOD = """
name: {name}
priority: {priority}
when: {{text: ["\\\\b503\\\\b"], labels: {labels}}}
examples: {{match: ["why 503?"], no_match: ["hello"]}}
assignments: [{{key: analyse, agent: log_analysis, goal: look}}]
rounds:
  - {{name: fix, when: {{finding: "pool", min_score: 0.5}}, assignments: [{{key: fix, agent: action_execution, goal: fix}}]}}
  - {{name: tell, when: {{always: true}}, assignments: [{{key: tell, agent: notification, goal: tell}}]}}
"""


def write(folder: Path, name: str = "book", priority: int = 50, labels: str = "{}") -> Path:
    path = folder / f"{name}.yaml"
    path.write_text(GOOD.format(name=name, priority=priority, labels=labels), encoding="utf-8")
    return path


class TestLoad:
    def test_higher_priority_comes_first(self, tmp_path: Path) -> None:
        write(tmp_path, "low", 1)
        write(tmp_path, "high", 9)
        assert [b.name for b in playbooks.load(tmp_path)] == ["high", "low"]

    @pytest.mark.parametrize(
        ("old", "new", "said"),
        [
            ("name: book", "name: other", "is not the file's"),
            ('"why 503?"', '"why 404?"', "comes out wrong"),
            ('"hello"', '"hello 503"', "comes out wrong"),
            ('finding: "pool"', 'finding: "("', "no RE2 pattern"),
            ("key: tell", "key: fix", "same key"),
            ("assignments: [{key: analyse", "assignments: [{kay: analyse", "kay"),
            ("name: book", "name: [", "is no playbook"),
            (
                "assignments: [{key: analyse, agent: log_analysis, goal: look}]",
                "assignments: []",
                "assignments",
            ),
        ],
    )
    def test_a_fault_names_file_and_reason(self, tmp_path: Path, old: str, new: str, said: str) -> None:
        path = write(tmp_path)
        path.write_text(path.read_text().replace(old, new), encoding="utf-8")
        with pytest.raises(Fatal, match="book.yaml") as caught:
            playbooks.load(tmp_path)
        assert said in str(caught.value)

    def test_an_empty_folder_is_refused(self, tmp_path: Path) -> None:
        with pytest.raises(Fatal, match="holds no playbook"):
            playbooks.load(tmp_path)

    def test_the_shipped_ones_load(self) -> None:
        root = Path(__file__).parents[3] / "ops"
        assert playbooks.load(root / "playbooks")
        assert playbooks.load(root / "demo" / "playbooks")


class TestChoose:
    def test_text_and_every_label_must_fit(self, tmp_path: Path) -> None:
        write(tmp_path, labels="{service: '^check'}")
        (book,) = playbooks.load(tmp_path)
        assert playbooks.choose([book], Request(text="503!", labels={"service": "checkout"})) is book
        assert playbooks.choose([book], Request(text="503!", labels={"service": "pay"})) is None
        assert playbooks.choose([book], Request(text="hello", labels={"service": "checkout"})) is None


class TestNextRound:
    def outcome(self, score: float) -> dict[str, Outcome]:
        return {
            "analyse": Outcome(findings=[Finding(title="Pool exhausted", key="pool_exhausted", score=score)])
        }

    def test_rounds_come_in_order_and_once(self, tmp_path: Path) -> None:
        write(tmp_path)
        (book,) = playbooks.load(tmp_path)
        first = playbooks.next_round(book, [], self.outcome(0.9))
        second = playbooks.next_round(book, ["fix"], self.outcome(0.9))
        assert (first and first.name, second and second.name) == ("fix", "tell")
        assert playbooks.next_round(book, ["fix", "tell"], self.outcome(0.9)) is None

    def test_a_weak_finding_starts_no_action(self, tmp_path: Path) -> None:
        write(tmp_path)
        (book,) = playbooks.load(tmp_path)
        found = playbooks.next_round(book, [], self.outcome(0.4))
        assert found is not None
        assert found.name == "tell"

    def test_action_states_are_looked_at(self) -> None:
        condition = playbooks.Condition(action_state="denied")
        denied = Outcome(actions=[ActionOutcome(name="x", state="denied")])
        assert playbooks._holds(condition, [denied])
        assert not playbooks._holds(condition, [Outcome()])
        assert not playbooks._holds(playbooks.Condition(), [denied])
