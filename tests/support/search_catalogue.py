"""A small catalogue for an index of search."""

from pathlib import Path

from shared.search import layout
from shared.search.index import SearchIndex
from shared.search.model import Brand, Category, Document, Item, SearchQuery
from shared.search.paging import find
from workers.search.build import POSTINGS_MAX, build

_ROWS = """
IID-A0001|Soy Milk Low Sugar 1L|Vitasoy|soy milk|Drinks/Soy milk|維他奶 低糖豆奶 1升
IID-A0002|Soy Milk Malt 250ml|Vitasoy|soy milk|Drinks/Soy milk|維他奶 麥精豆奶 250毫升
IID-A0003|Chocolate Soy Drink 1L|Kara|soy milk|Drinks/Soy milk|朱古力豆奶
IID-B0001|Crème Brûlée Dessert 2 pack|Müller|dessert|Chilled/Desserts|
IID-B0002|Chocolate Mousse|Müller|dessert|Chilled/Desserts|朱古力慕絲
IID-C0001|Women's Running Shoes Blue|Nike|shoes|Clothing/Shoes|
IID-C0002|Men's Running Shoe Red|Nike|shoes|Clothing/Shoes|
IID-C0003|Running Socks 3 pairs|Nike|socks|Clothing/Socks|
IID-C0004|Trail Runner Backpack|Salomon|backpack|Clothing/Shoes and bags|
IID-D0001|Refrigerator 300 L|Siemens|refrigerator|Home/Kitchen|
IID-D0002|Refrigerator Water Filter|Siemens|filter|Home/Kitchen|
IID-D0003|SodaStream Sparkling Water Maker|SodaStream|water maker|Home/Kitchen|
IID-D0004|Memory Card 32GB|Sandisk|memory card|Electronics/Storage|
IID-D0005|Batman Begins|Warner|film|Media/Films|
IID-D0006|Baseball Bat|Rawlings|bat|Sport/Baseball|
""".strip()


def document(row: str) -> Document:
    """Make a document of one line of the catalogue."""
    iid, name, brand, product_type, path, alt_name = row.split("|")
    parts = path.split("/")
    code = ".".join(part.lower().replace(" ", "-") for part in parts)
    made_by = Brand(sum(map(ord, brand)), brand, brand.lower().replace("ü", "u"))
    item = Item(iid, name, made_by, product_type, Category(code, parts))
    return Document(item, [alt_name] if alt_name else [], f"A {product_type} for everyday life")


def catalogue() -> list[Document]:
    """Return the documents of the catalogue."""
    return [document(row) for row in _ROWS.splitlines()]


def opened(
    documents: list[Document], directory: Path, version: int = 1, postings_max: int = POSTINGS_MAX
) -> SearchIndex:
    """Build an index and open it."""
    return SearchIndex(directory, build(documents, directory, version, postings_max=postings_max))


def iids(directory: Path, q: str) -> list[str]:
    found = layout.newest(directory)
    assert found is not None
    return [hit.item.iid for hit in find(SearchIndex(directory, found), SearchQuery(q=q, limit=50)).hits]
