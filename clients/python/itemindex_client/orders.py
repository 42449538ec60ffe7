"""Reports that were not ordered yet, for both clients."""

from collections.abc import Coroutine, Mapping
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload
from urllib.parse import quote

from itemindex_client.calls import PAGE_ENTRIES_MAX, Progress, known, silent
from itemindex_client.results import Report, Row
from itemindex_client.schemas import Quote

if TYPE_CHECKING:
    from itemindex_client.aio import AsyncClient
    from itemindex_client.client import Client

Caller = TypeVar("Caller", bound="Client | AsyncClient")


def at(path: str, name: str) -> str:
    """Return a path with a name in its place."""
    return path.format(quote(name, safe=""))


class ReportCall(Generic[Row, Caller]):
    """A report that was not ordered yet. Its methods are awaited where its client is an AsyncClient.

    A report that is a list is read to its end, unless `limit` or `cursor` asks for one page.
    """

    def __init__(self, client: Caller, path: str, row: type[Row], declared: type, query: Mapping[str, Any]) -> None:
        self._client, self._path, self._row, self._query = client, path, row, known(query, declared)
        self._is_whole_list = "cursor" in declared.__annotations__ and not {"limit", "cursor"} & self._query.keys()
        if self._is_whole_list:  # each page costs units
            self._query["limit"] = PAGE_ENTRIES_MAX

    @overload
    def cost(self: "ReportCall[Row, Client]") -> Quote: ...

    @overload
    def cost(self: "ReportCall[Row, AsyncClient]") -> Coroutine[Any, Any, Quote]: ...

    def cost(self) -> Any:
        """Return what the report would cost, of a list each page of 500 entries. Charges nothing."""
        return self._client._run(self._client._calls.quote(self._path, self._query))

    @overload
    def wait(self: "ReportCall[Row, Client]", within: float = 600.0, progress: Progress = silent) -> Report[Row]: ...

    @overload
    def wait(
        self: "ReportCall[Row, AsyncClient]", within: float = 600.0, progress: Progress = silent
    ) -> Coroutine[Any, Any, Report[Row]]: ...

    def wait(self, within: float = 600.0, progress: Progress = silent) -> Any:
        """Order the report and return its rows. Raises JobFailed, ApiProblem; TimeoutError after `within` seconds.

        They are the seconds of each page where a list has several.
        """
        calls = self._client._calls
        order = calls.whole_list if self._is_whole_list else calls.report
        return self._client._run(order(self._path, self._query, self._row, within, progress))
