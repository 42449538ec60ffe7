"""Which identifiers of a batch's items cannot be what their scheme says, as rejects of fields. Pure."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from shared.errors import InvalidIdentifier
from shared.identifiers import SCHEMES, normal
from workers.ingest import clean
from workers.ingest.batches import VALUE_CHARACTERS_MAX, Batch, Reject
from workers.ingest.fields import ItemFields
from workers.ingest.row_errors import column_of, raw_row


def wrong_identifiers(
    item: ItemFields, values: Sequence[Sequence[str | None]], rows: Sequence[int], batch: Batch, path: Path
) -> Iterator[Reject]:
    """Yield a reject for each identifier that can be none; `values` are those of each scheme for these rows.

    Neither the row nor the text is lost: the record shows it as its source writes it, and it identifies nothing.
    """
    for (scheme, field), texts in zip(item.identifiers, values, strict=True):
        if scheme not in SCHEMES:
            continue
        for row, text in zip(rows, texts, strict=True):
            reason = _fault(scheme, text) if text else None
            if reason is not None:
                value = clean.raw(field, batch, path, row)
                shown = value and value[:VALUE_CHARACTERS_MAX]
                line = int(batch.lines[row])
                yield Reject(path.name, line, reason, raw_row(batch, row), column_of(field), shown, "field")


def _fault(scheme: str, text: str) -> str | None:
    try:
        normal(scheme, text)
    except InvalidIdentifier as error:
        return f"its {scheme} {error.detail}"
    return None
