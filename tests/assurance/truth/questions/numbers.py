"""The numbers that the index gave its brands: the order of equals is by them, and only the index knows them."""

from tests.assurance.truth.client import Client

_KNOWN: dict[int, dict[str, int]] = {}


def brand_numbers(client: Client) -> dict[str, int]:
    """Return the number of every brand by its slug, read once."""
    if id(client) not in _KNOWN:
        numbers: dict[str, int] = {}
        cursor = None
        while cursor is not None or not numbers:
            page = client.get("/index/brands", {"limit": 500, "cursor": cursor}).body
            numbers |= {entry["slug"]: entry["id"] for entry in page["data"]}
            cursor = page["next_cursor"]
            if not page["data"]:
                break
        _KNOWN[id(client)] = numbers
    return _KNOWN[id(client)]
