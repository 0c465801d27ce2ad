"""The vendor's package is loaded by the first question, not by an import: idle workers stay small."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from kernel.model import make_model
from kernel.settings import Settings
model = make_model(Settings(model_base_url="http://127.0.0.1:9/v1", model_name="m"))
assert model is not None
print(any(name == "openai" or name.startswith("openai.") for name in sys.modules))
"""


def test_openai_is_not_loaded_before_the_first_question() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == "False", done.stderr


@pytest.mark.parametrize(
    ("model", "name"), [("/root/m/q.gguf", "q.gguf"), ("Qwen/Qwen3-8B", "Qwen/Qwen3-8B")]
)
def test_a_file_is_named_without_its_folder(model: str, name: str) -> None:
    from kernel.model.openai import OpenAIModel
    from kernel.settings import ModelEndpoint

    assert OpenAIModel(ModelEndpoint(base_url="http://127.0.0.1:9/v1", model=model)).name == name
