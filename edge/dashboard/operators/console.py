"""What the pages of the operator's console share: who may see them, their lists, and how an act is ordered."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from urllib.parse import urlencode

import asyncpg
import msgspec
from aiohttp import web

from edge.dashboard.page_requests import form_of
from edge.dashboard.pages import Pages
from edge.dashboard.rendering import render
from edge.dashboard.visitor import SignedIn
from edge.http.parameters import whole_number
from edge.storage.database import Scope, Transaction
from shared.db.queries import load_queries

SQL = load_queries(__file__, "operators.sql")
HOME = "/dashboard/operator"
_ROWS_OF_PAGE = 25
_PAGES_MAX = 400
_SEARCH_CHARACTERS_MAX = 200
_SUBJECT_CHARACTERS_MAX = 300


class ConsoleList(NamedTuple):
    """A page of a list: what was searched for, the rows, and the addresses of the pages beside it."""

    path: str
    search: str
    chosen: str
    number: int
    rows: list[asyncpg.Record]
    has_next: bool

    def address(self, number: int) -> str:
        """Return the address of another page of the same search."""
        query = {"q": self.search, "state": self.chosen, "page": str(number) if number > 1 else ""}
        kept = {name: value for name, value in query.items() if value}
        return f"{self.path}?{urlencode(kept)}" if kept else self.path


class OperatorPages(Pages):
    """Base of the groups of the console's pages; for operators alone."""

    def _scope(self, visitor: SignedIn) -> Scope:
        """Return the scope in which operators see all accounts. Raises PageError for anybody else."""
        person, _ = visitor.require_operator()
        return Scope(person=person, task="operator")

    async def _show(self, request: web.Request, visitor: SignedIn, name: str, **values: Any) -> web.Response:
        """Render a page with what became of the acts that the operator has just ordered."""
        return render(request, name, visitor, acts=await self._recent(visitor), **values)

    async def _recent(self, visitor: SignedIn) -> list[asyncpg.Record]:
        scope = self._scope(visitor)
        return await self._database.fetch(SQL.recent_acts, scope.person, scope=scope)

    async def _list(
        self, request: web.Request, visitor: SignedIn, query: str, states: tuple[str, ...] | None = None, *more: str
    ) -> ConsoleList:
        """Return the page of a list that an address asks for: `q` is searched for, `state` is one of `states`."""
        search = request.query.get("q", "").strip()[:_SEARCH_CHARACTERS_MAX]
        chosen = request.query.get("state", "")
        chosen = chosen if states and chosen in states else ""
        number = min(max(whole_number(request.query.get("page", "1"), 3) or 1, 1), _PAGES_MAX)
        values = (search, *more, *((chosen,) if states else ()))
        bounds = (_ROWS_OF_PAGE + 1, (number - 1) * _ROWS_OF_PAGE)
        rows = await self._database.fetch(query, *values, *bounds, scope=self._scope(visitor))
        return ConsoleList(request.path, search, chosen, number, rows[:_ROWS_OF_PAGE], len(rows) > _ROWS_OF_PAGE)

    async def _form(self, request: web.Request, visitor: SignedIn) -> Mapping[str, str]:
        """Return the fields of an operator's form, stripped of spaces. Raises PageError for anybody else."""
        visitor.require_operator()
        return {name: value.strip() for name, value in (await form_of(request)).items()}

    async def _order(
        self,
        request: web.Request,
        visitor: SignedIn,
        page: str,
        act: str,
        subject: str,
        title: str,
        arguments: Mapping[str, object] | None = None,
    ) -> web.Response:
        """Note an act, once for each form, and show the page, which follows what becomes of it."""
        person, display = visitor.require_operator()
        named = (subject[:_SUBJECT_CHARACTERS_MAX], title[:_SUBJECT_CHARACTERS_MAX])
        values = (person, display, act, *named, msgspec.json.encode(dict(arguments or {})).decode())

        async def note(transaction: Transaction) -> None:
            await transaction.fetch(SQL.note_act, *values, scope=self._scope(visitor))

        return await self._once(request, visitor, page, note)
