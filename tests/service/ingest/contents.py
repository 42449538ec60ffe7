"""The contents of the index, read as its owner."""

from typing import Any

from shared.settings.settings import Settings
from tests.support.database import execute


def state(settings: Settings) -> list[Any]:
    """All that a load may change, in a comparable form."""
    tables = {
        "items": "iid, name, alt_names, status, product_type, identifiers::text, attributes::text, version, first_seen_on",
        "observations": "item_id, mark, price_minor, list_minor, day, units, kind, currency",
        "brands": "slug, name, item_count, top_categories, channels, first_seen_on",
        "categories": "code, path",
        "data_versions": "version",
    }
    return [sorted(execute(settings, f"SELECT {columns} FROM {table}"), key=repr) for table, columns in tables.items()]
