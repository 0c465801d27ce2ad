from pathlib import Path

from agents.runtime.results import bounded, summary
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
