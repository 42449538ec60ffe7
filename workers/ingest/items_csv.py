"""Items as COPY takes them: a CSV made column by column, before the connection is held up for it. Pure."""

from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.csv

from shared.db.arrays import text_array
from shared.search.text import fold
from workers.ingest.transform import ItemRow

COLUMNS = (
    "id, iid, source_item_id, name, alt_names, brand_slug, brand_name, brand_folded, category_code, category_path, "
    "product_type, identifiers, attributes, content_hash"
)
# Arrow quotes every text, also an empty one, and nothing where there is none: what PostgreSQL's CSV takes for NULL.
_FORM = pa.csv.WriteOptions(include_header=False, quoting_style="needed")


def as_csv(items: list[ItemRow]) -> Any:
    """Return a buffer with one line an item."""
    if not items:
        return b""
    of = dict(zip(ItemRow._fields, zip(*items, strict=True), strict=True))
    folded = {name: fold(name) for name in set(of["brand_name"]) if name is not None}
    table = pa.table(
        [
            pa.array(of["key"], pa.int64()),
            *(pa.array(of[name], pa.string()) for name in ("iid", "source_item_id", "name")),
            pa.array(map(text_array, of["alt_names"]), pa.string()),
            *(pa.array(of[name], pa.string()) for name in ("brand_slug", "brand_name")),
            pa.array(map(folded.get, of["brand_name"]), pa.string()),
            pa.array(of["category_code"], pa.string()),
            pa.array([text_array(path) if path else None for path in of["category_path"]], pa.string()),
            pa.array(of["product_type"], pa.string()),
            *(pa.array(map(msgspec.json.encode, of[name]), pa.binary()) for name in ("identifiers", "attributes")),
            pa.array(of["content_hash"], pa.int64()),
        ],
        COLUMNS.split(", "),
    )
    written = pa.BufferOutputStream()
    pa.csv.write_csv(table, written, _FORM)
    return written.getvalue()
