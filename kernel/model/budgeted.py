"""The toll in front of every endpoint: no request is sent that was not reserved in all its budgets."""

from __future__ import annotations

from kernel.budget import Purse
from kernel.budgets import Amount, Ask
from kernel.errors import Fatal, NightdeskError
from kernel.model.port import Model, ModelReply, ModelRequest, ModelUsage, OnText

#: Below this an answer says too little to be worth its question; a tight budget lowers an answer to it, not further.
_LEAST_OUTPUT = 256
_MILLION = 1_000_000


class BudgetedModel:
    """One endpoint whose every request is reserved at what it may cost at most, and settled at what it cost.

    A request that was cut may have been billed: its reservation stays.
    """

    def __init__(
        self, model: Model, purse: Purse, *, input_price: float = 0.0, output_price: float = 0.0
    ) -> None:
        self.name = model.name
        self._model = model
        self._purse = purse
        self._input_price, self._output_price = input_price, output_price

    async def reply(self, request: ModelRequest, on_text: OnText) -> ModelReply:
        """Return the endpoint's answer; raise OverBudget where it may not be asked."""
        if request.spender is None:
            raise Fatal(
                "a model was asked for nobody", why="the request names no run whose budget it counts in"
            )
        grant = await self._purse.reserve(
            self._purse.key(request.spender), request.spender, self._ask(request)
        )
        try:
            answer = await self._model.reply(
                request.model_copy(update={"max_output_tokens": grant.units}), on_text
            )
        except NightdeskError as error:
            if error.billing != "unknown":
                await self._purse.settle(grant, Amount(model_calls=1 if error.billing == "refused" else 0))
            raise
        await self._purse.settle(grant, _amount(answer.usage))
        return answer

    async def close(self) -> None:
        """Close the endpoint."""
        await self._model.close()

    def _ask(self, request: ModelRequest) -> Ask:
        sent, answer = request.input_tokens(), request.max_output_tokens
        return Ask(
            fixed=Amount(model_calls=1, tokens=sent, cost=sent * self._input_price / _MILLION),
            each=Amount(tokens=1, cost=self._output_price / _MILLION),
            units=answer,
            least=min(answer, _LEAST_OUTPUT),
        )


def _amount(usage: ModelUsage) -> Amount:
    return Amount(model_calls=1, tokens=usage.input_tokens + usage.output_tokens, cost=usage.cost)
