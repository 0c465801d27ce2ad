"""The model port and its implementations: OpenAI-compatible endpoints, a script, or none."""

from __future__ import annotations

from kernel.model.port import Model
from kernel.settings import Settings


def make_model(settings: Settings) -> Model | None:
    """Return the model of the settings behind the redaction door, or None: agents then use their routines."""
    from kernel.model.redacted import RedactedModel
    from kernel.redaction import Redactor

    redactor = Redactor(settings.secrets())
    if settings.model_script is not None:
        from kernel.model.scripted import ScriptedModel

        return RedactedModel(ScriptedModel.load(settings.model_script), redactor)
    if not settings.endpoints:
        return None
    from kernel.model.fallback import FallbackModel
    from kernel.model.openai import OpenAIModel

    return RedactedModel(FallbackModel([OpenAIModel(endpoint) for endpoint in settings.endpoints]), redactor)
