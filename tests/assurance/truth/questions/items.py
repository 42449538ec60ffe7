"""Lookup, batch lookup, search by name, brands: what the index says of items themselves."""

from collections.abc import Iterator
from datetime import timedelta
from random import Random
from typing import Any

from tests.assurance.truth.client import Client
from tests.assurance.truth.compare import Question
from tests.assurance.truth.exact import percentile
from tests.assurance.truth.footprint import summary
from tests.assurance.truth.index import Index, window_end

BAND_DAYS = 30
_QUERY_CHARACTERS_MAX = 200
_PAGE = 50


def lookup(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare whole records of random items."""
    for iid in chosen(index, random, count):
        path = f"/index/lookup/{iid}"
        yield Question(path, *_compared(client.get(path).body, record(index, iid, client.base_url)))


def batch(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare the answers of batches of up to a hundred items: each record, in the order asked."""
    for _ in range(max(1, count // 10)):
        iids = [*chosen(index, random, min(10, count)), "IID-NO-SUCH-ITEM"]
        by_post = random.random() < 0.5
        reply = client.post("/index/lookup", {"iids": iids}) if by_post else client.get("/index/lookup", {"iid": iids})
        ours = reply.body["data"]
        listed, theirs = [], []
        for iid, entry in zip(iids[:-1], ours, strict=False):
            found, expected = _compared(entry["record"] or {}, record(index, iid, client.base_url))
            listed.append({**entry, "record": found})
            theirs.append(_entry(iid, 200, expected, None))
        yield Question(
            f"batch of {len(iids)} by {'POST' if by_post else 'GET'}",
            [*listed, *ours[len(listed) :]],
            [*theirs, _entry(iids[-1], 404, None, "iid-not-found")],
        )


def search(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Ask for items by their exact names: each is found, unless more items than a page holds have the name."""
    rare = "SELECT iid, name FROM active QUALIFY count(*) OVER (PARTITION BY fold(name)) <= 10 ORDER BY iid"
    known = {row["iid"]: row["name"] for row in index.rows(rare)}
    for iid in random.sample(sorted(known), min(count, len(known))):
        name = known[iid][:_QUERY_CHARACTERS_MAX].strip()
        found = client.get("/index/search", {"q": name, "limit": _PAGE})
        hits = found.body.get("data", [])
        ours = next((hit["name"] for hit in hits if hit["iid"] == iid), f"not among {len(hits)} ({found.status})")
        yield Question(f"search {name!r} for {iid}", ours, known[iid])


def brands(client: Client, index: Index, random: Random, count: int) -> Iterator[Question]:
    """Compare every brand of the list, page by page."""
    ours: dict[str, Any] = {}
    cursor = None
    while cursor is not None or not ours:
        page = client.get("/index/brands", {"limit": 500, "cursor": cursor}).body
        ours |= {entry["slug"]: entry for entry in page["data"]}
        cursor = page["next_cursor"]
        if not page["data"]:
            break
    theirs = brand_entries(index)
    for slug in sorted(ours.keys() | theirs.keys()):
        entry = ours.get(slug)
        part = entry and {
            name: entry[name] for name in ("name", "item_count", "top_categories", "channels", "first_seen_on")
        }
        yield Question(f"brand {slug}", part, theirs.get(slug))


def chosen(index: Index, random: Random, count: int) -> list[str]:
    """Return random active items, always the same ones for the same seed."""
    known = index.column("SELECT iid FROM active ORDER BY iid")
    return random.sample(known, min(count, len(known)))


def _compared(body: dict[str, Any], expected: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return what is compared of a record and of the expected one.

    The files do not say which prices are outliers: where a band sets some aside, only how many there are in all.
    """
    ours, band = shown(body), (body.get("price_band") or {})
    if not band.get("set_aside"):
        return ours, expected
    total = band["observations"] + band["set_aside"]
    theirs = expected["price_band"] and {"observations": expected["price_band"]["observations"]}
    return {**ours, "price_band": {"observations": total}}, {**expected, "price_band": theirs}


def shown(body: dict[str, Any]) -> dict[str, Any]:
    """Return a record without what only the service can know: its version, moments of its acts, the brand's number."""
    if "iid" not in body:
        return body
    kept = {name: value for name, value in body.items() if name not in ("version", "updated_at")}
    kept["matches"] = [{name: value for name, value in one.items() if name != "since"} for one in kept["matches"]]
    if kept.get("brand"):
        kept["brand"] = {name: kept["brand"][name] for name in ("name", "slug")}
    return kept


def record(index: Index, iid: str, base_url: str) -> dict[str, Any]:
    """Return the expected record of an item."""
    item = index.rows("SELECT * FROM items WHERE iid = ?", [iid])[0]
    other = item["alt_name"]
    return {
        "iid": iid,
        "name": item["name"],
        "alt_names": [other] if other and other != item["name"] else [],
        "status": "active",
        "brand": {"name": names_of(index, item["brand"]), "slug": item["brand"]} if item["brand"] else None,
        "product_type": item["product_type"],
        "category": {"code": item["category"], "path": path_of(index, item["category"])} if item["category"] else None,
        "identifiers": item["identifiers"],
        "attributes": item["attributes"] or {},
        "channels": _channels(index, iid),
        "price_band": _band(index, iid),
        "sustainability": summary(index, iid),
        "sources": _sources(index, iid),
        "provenance": dict(
            index.db.execute(
                "SELECT field, source FROM origins WHERE record = ? AND source IS NOT NULL", [iid]
            ).fetchall()
        ),
        "members": index.rows(
            "SELECT iid, source, item AS id, name, list_filter(identifiers, lambda i: i.value IS NOT NULL) AS identifiers "
            "FROM claims WHERE record = ? ORDER BY iid <> record, source, item",
            [iid],
        ),
        "matches": [
            {"iids": [merged, iid], "kind": "merge", "score": None, "evidence": []}
            for merged in index.column("SELECT iid FROM merged WHERE survivor = ? ORDER BY iid", [iid])
        ],
        "first_seen_on": item["first_seen_on"],
        "links": {
            "self": f"{base_url}/index/lookup/{iid}",
            "brand": f"{base_url}/index/brands?q={item['brand']}" if item["brand"] else None,
            "pricing": f"{base_url}/index/pricing/{iid}",
            "sustainability": f"{base_url}/index/sustainability/{iid}",
        },
    }


def brand_entries(index: Index) -> dict[str, Any]:
    """Return what the list of brands must say, by slug."""
    top = (
        "SELECT brand, category, count(*) AS n FROM active WHERE category IS NOT NULL "
        "GROUP BY ALL ORDER BY n DESC, category"
    )
    categories: dict[str, list[str]] = {}
    for brand, category, _ in index.db.execute(top).fetchall():
        categories.setdefault(brand, []).append(category)
    seen = dict(
        index.db.execute(
            "SELECT brand, list(DISTINCT channel ORDER BY channel) FROM observations GROUP BY brand"
        ).fetchall()
    )
    found = index.rows(
        "SELECT brand, count(*) AS n, min(first_seen_on) AS first FROM active WHERE brand IS NOT NULL GROUP BY brand"
    )
    return {
        row["brand"]: {
            "name": names_of(index, row["brand"]),
            "item_count": row["n"],
            "top_categories": categories.get(row["brand"], [])[:5],
            "channels": seen.get(row["brand"], []),
            "first_seen_on": row["first"],
        }
        for row in found
    }


def _entry(iid: str, status: int, found: dict[str, Any] | None, problem: str | None) -> dict[str, Any]:
    return {"iid": iid, "status": status, "record": found, "survivor": None, "problem": problem}


def names_of(index: Index, slug: str) -> frozenset[str]:
    """Return the spellings of a brand's name: which of them is shown depends on the order of loading."""
    return frozenset(index.column("SELECT text FROM slugs WHERE slug = ?", [slug]))


def path_of(index: Index, code: str) -> list[frozenset[str]]:
    """Return, for each level of a category's path, the spellings that sources have for it."""
    parts = code.split(".")
    return [
        frozenset(
            index.column(
                "SELECT DISTINCT path[?] FROM codes WHERE starts_with(code || '.', ? || '.')",
                [n + 1, ".".join(parts[: n + 1])],
            )
        )
        for n in range(len(parts))
    ]


def _channels(index: Index, iid: str) -> list[dict[str, Any]]:
    return index.rows(
        "SELECT channel, count(*) FILTER (kind = 'listing') AS listings, count(*) FILTER (kind = 'sale') AS sales, "
        "max(day) AS last_seen_on FROM observations "
        "WHERE iid = ? GROUP BY channel ORDER BY channel",
        [iid],
    )


def _band(index: Index, iid: str) -> dict[str, Any] | None:
    """Return the prices of the item's last days: listings where there are any, in the currency with most of them."""
    last = window_end(dict.fromkeys(index.column("SELECT day FROM observations WHERE iid = ?", [iid]), True))
    if last is None:
        return None
    first = last - timedelta(days=BAND_DAYS - 1)
    best = index.rows(
        "SELECT currency, kind, list(price ORDER BY price) AS prices FROM observations "
        "WHERE iid = ? AND day BETWEEN ? AND ? GROUP BY currency, kind ORDER BY kind, count(*) DESC, currency LIMIT 1",
        [iid, first, last],
    )[0]
    prices = best["prices"]
    return {
        "currency": best["currency"],
        "kind": best["kind"],
        "low": prices[0],
        "median": percentile(prices, 50),
        "high": prices[-1],
        "observations": len(prices),
        "set_aside": 0,
        "from": first,
        "to": last,
    }


def _sources(index: Index, iid: str) -> list[dict[str, Any]]:
    found = index.rows(
        "SELECT source, license, max(last_seen_on) AS day FROM claims JOIN sources USING (source) WHERE record = ? "
        "GROUP BY ALL ORDER BY source",
        [iid],
    )
    return [
        {"source": row["source"], "observed_at": f"{row['day']}T00:00:00.000Z", "license": row["license"]}
        for row in found
    ]


ENDPOINTS = {"lookup": lookup, "lookup (batch)": batch, "search": search, "brands": brands}
