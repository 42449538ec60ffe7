"""What a caller writes with the client that openapi-python-client generates; checked by mypy --strict, never run."""

from item_index_client import AuthenticatedClient
from item_index_client.api.index import lookup_item, search_items
from item_index_client.api.reports import get_cohorts
from item_index_client.models import CohortReport, Item, Job, Problem, SearchHit, SearchList


def lookup(client: AuthenticatedClient, iid: str) -> Item:
    """Return an item."""
    found = lookup_item.sync(iid, client=client)
    if isinstance(found, Problem):
        raise LookupError(found.detail)
    assert isinstance(found, Item)
    return found


def paging(client: AuthenticatedClient, q: str) -> list[SearchHit]:
    """Return all hits of a search."""
    hits: list[SearchHit] = []
    page = search_items.sync(client=client, q=q)
    while isinstance(page, SearchList):
        hits += page.data
        if page.next_cursor is None:
            break
        page = search_items.sync(client=client, q=q, cursor=page.next_cursor)
    return hits


def report(client: AuthenticatedClient, brand: str) -> CohortReport | Job:
    """Order a report: its rows, or the job that makes them."""
    answer = get_cohorts.sync(client=client, brand=[brand], prefer="wait=10")
    assert isinstance(answer, (CohortReport, Job))
    return answer
