from pathlib import Path

from agents.runtime.results import bounded, not_known, summary
from agents.runtime.spec import DoneCall
from kernel.artifacts import ArtifactStore
from kernel.redaction import Redactor
from kernel.states import CallState


def store(folder: Path) -> ArtifactStore:
    return ArtifactStore(f"file://{folder}", max_bytes=1_000_000)


def test_a_small_value_is_kept_and_redacted(tmp_path: Path) -> None:
    value = bounded({"user": "密码：Passw0rd!2024"}, Redactor(), store(tmp_path))
    assert "Passw0rd" not in str(value)


def test_a_large_value_keeps_whole_code_points_at_its_ends(tmp_path: Path) -> None:
    value = bounded("a" + "错" * 20_000, Redactor(), store(tmp_path))
    assert value["bytes"] > 60_000
    assert "�" not in value["head"] + value["tail"]
    with store(tmp_path).open(value["artifact"]) as file:
        assert file.read().decode().count("错") == 20_000


def test_a_lone_surrogate_does_not_break_the_journal(tmp_path: Path) -> None:
    assert bounded({"x": "\ud800"}, Redactor(), store(tmp_path)) == {"x": "?"}


def test_summaries_are_one_short_line() -> None:
    done = DoneCall(id="1", tool="t", state=CallState.done, value={"n": 3, "list": [1], "text": "x" * 500})
    failed = DoneCall(id="1", tool="t", state=CallState.failed, error={"code": "c", "message": "no route"})
    assert summary(done).startswith("n=3, text=xxx")
    assert len(summary(done)) == 161
    assert summary(failed) == "no route"


def test_what_is_not_known_names_the_worker_and_what_became_of_the_program() -> None:
    call = DoneCall(id="1", tool="restart", state=CallState.claimed, worker="agents@a:7")
    assert "the worker 'agents@a:7' died" in not_known(call).why
    assert not_known(call).next_step.startswith("Look at the target")
    left = call.model_copy(update={"earlier": "its program (pid 4 on a) still runs", "runs_on": True})
    assert not_known(left).why.endswith("; its program (pid 4 on a) still runs")
    assert not_known(left).next_step.startswith("Stop its program first.")


def test_nothing_is_nothing(tmp_path: Path) -> None:
    assert bounded(None, Redactor(), store(tmp_path)) is None
