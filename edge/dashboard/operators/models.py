"""The page of the models of matching: how good they are, which one is in force, and acts on them."""

from typing import NamedTuple

import asyncpg
import msgspec
from aiohttp import web

from edge.dashboard.operators.console import HOME, SQL, ConsoleList, OperatorPages
from edge.dashboard.page_requests import PageError
from edge.dashboard.visitor import SignedIn

_PAGE = f"{HOME}/models"
_SHIPPED = "shipped"
_DIGEST_CHARACTERS = 64
_HEXADECIMAL = frozenset("0123456789abcdef")


class Measured(msgspec.Struct, frozen=True):
    """What linking from a probability on comes to, with the 95 % intervals, on records that the model has not seen."""

    bound: float
    right: int
    linked: int
    precision: float
    precision_low: float
    precision_high: float
    recall: float
    recall_low: float
    recall_high: float


class TrainedOn(msgspec.Struct, frozen=True):
    """What a model learned from: decisions, how many of them found one item, and the average precision of the ranking
    by this model and by the shipped one.
    """

    decisions: int | None = None
    matches: int | None = None
    ranking: float | None = None
    former_ranking: float | None = None
    measured: list[Measured] = []


class ListedModel(NamedTuple):
    """A model that learned from decisions, with its figures."""

    row: asyncpg.Record
    figures: TrainedOn

    @property
    def unattended(self) -> Measured | None:
        """What it comes to from the bound on from which it links without a person; None where it has none."""
        link = self.row["link"]
        if link is None:
            return None
        return next((one for one in self.figures.measured if abs(one.bound - link) < 1e-4), None)


class ModelPages(OperatorPages):
    """The handlers; for operators alone."""

    async def list(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """List the models with their figures, and which one is in force."""
        listing: ConsoleList = await self._list(request, visitor, SQL.match_models)
        choices = await self._database.fetch(SQL.model_choices, scope=self._scope(visitor))
        models = [ListedModel(row, msgspec.json.decode(row["trained_on"], type=TrainedOn)) for row in listing.rows]
        return await self._show(
            request,
            visitor,
            "operator_models.html",
            listing=listing,
            models=models,
            in_force=choices[0]["digest"] if choices else _SHIPPED,
            choice=choices[0] if choices else None,
            former=choices[1]["digest"] if len(choices) > 1 else _SHIPPED,
        )

    async def act(self, request: web.Request, visitor: SignedIn) -> web.StreamResponse:
        """Order that a model is trained and measured, that one is used, or that the last choice is undone."""
        form = await self._form(request, visitor)
        wanted, digest, reason = (form.get(field, "") for field in ("wanted", "digest", "reason"))
        arguments: dict[str, object] = {"reason": reason[:300]} if reason else {}
        if wanted == "model.train":
            return await self._order(request, visitor, _PAGE, wanted, "", "a model on what was decided")
        if wanted == "model.use":
            if digest != _SHIPPED and not (len(digest) == _DIGEST_CHARACTERS and _HEXADECIMAL.issuperset(digest)):
                raise PageError(404, "There is no such model.")
            arguments["merges_allowed"] = form.get("merges_allowed") == "yes"
            return await self._order(request, visitor, _PAGE, wanted, digest, f"model {digest[:12]}", arguments)
        if wanted == "load.undo":
            choices = await self._database.fetch(SQL.model_choices, scope=self._scope(visitor))
            if not choices or str(choices[0]["no"]) != form.get("number"):
                raise PageError(409, "Another model has been chosen since this page was shown. Open it again.")
            named = f"the choice of model {choices[0]['digest'][:12]}"
            return await self._order(request, visitor, _PAGE, wanted, str(choices[0]["no"]), named, arguments)
        raise PageError(400, "Choose what to do with the models.")
