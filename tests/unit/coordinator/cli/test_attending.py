"""What an interrupted wait says."""

from __future__ import annotations

import json

import pytest

from coordinator.cli.attending import _leave
from coordinator.cli.screen import INTERRUPTED


def test_an_interrupted_wait_is_one_document_or_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    assert _leave("0123456789", as_json=True) == INTERRUPTED
    captured = capsys.readouterr()
    assert captured.err == ""
    told = json.loads(captured.out)
    assert (told["run_id"], told["error"]["code"]) == ("0123456789", "interrupted")
    assert _leave("0123456789", as_json=False) == INTERRUPTED
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "the run goes on; nightdesk watch 01234567\n"
