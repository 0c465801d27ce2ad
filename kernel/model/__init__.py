"""The model port and its implementations: OpenAI-compatible endpoints, a script, or none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kernel.model.port import Model
from kernel.settings import Settings

if TYPE_CHECKING:
    from kernel.budget import Purse


def make_model(settings: Settings, purse: Purse | None = None) -> Model | None:
    """Return the model of the settings behind the redaction door, or None: agents then use their routines.

    With a purse every request is reserved in its budgets before it is sent.
    """
    from kernel.model.redacted import RedactedModel
    from kernel.redaction import make_redactor

    redactor = make_redactor(settings)
    if settings.model_script is not None:
        from kernel.model.scripted import ScriptedModel

        return RedactedModel(_budgeted(ScriptedModel.load(settings.model_script), purse), redactor)
    if not settings.endpoints:
        return None
    from kernel.model.fallback import FallbackModel
    from kernel.model.openai import OpenAIModel

    models = [
        _budgeted(
            OpenAIModel(endpoint),
            purse,
            input_price=endpoint.input_price,
            output_price=endpoint.output_price,
        )
        for endpoint in settings.endpoints
    ]
    return RedactedModel(FallbackModel(models), redactor)


def _budgeted(
    model: Model, purse: Purse | None, *, input_price: float = 0.0, output_price: float = 0.0
) -> Model:
    if purse is None:
        return model
    from kernel.model.budgeted import BudgetedModel

    return BudgetedModel(model, purse, input_price=input_price, output_price=output_price)
