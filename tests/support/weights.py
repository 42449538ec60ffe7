"""Tables of weights as an upload stores them."""

from collections.abc import Sequence
from datetime import date

from shared.price_index.weights import WrittenRow, table_of_weights
from shared.settings.settings import Settings
from tests.support.accounts import organization
from tests.support.database import execute


def store_weights(settings: Settings, rows: Sequence[tuple[str, str, str]], reference: date) -> dict[str, str]:
    """Store rows of code, parent and weight as an upload does; return what a job's parameters say of them."""
    table = table_of_weights(reference, [WrittenRow(number, None, *row) for number, row in enumerate(rows)])
    query = (
        "INSERT INTO weight_tables (organization_id, name, version, price_reference, sha256, table_rows, row_count) "
        "VALUES ($1, 'cpi', 1, $2, $3, $4, $5) RETURNING id::text"
    )
    values = (reference, table.sha256, table.text, len(table.rows))
    [[made]] = execute(settings, query, organization(settings), *values)
    return {"weights": "cpi@1", "weights_id": str(made)}
