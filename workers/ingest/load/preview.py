"""A preview of a load: of the rows that are read, by it or without loading anything, the first of each kind is kept."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TypedDict

import numpy as np

from shared.analytics.observations import ObservationKind
from shared.errors import LoadRefused
from shared.money import to_text
from workers.ingest import calendar_days, factors
from workers.ingest.batches import Batch, Reject
from workers.ingest.figures import StagedFigure
from workers.ingest.files import read_file
from workers.ingest.files.forms import UNPACKED_BYTES_MAX
from workers.ingest.load.rejects import nothing_used
from workers.ingest.mapping import Mapping
from workers.ingest.transform import ItemRow, Transformed, Transformer

_BATCH_ROWS = 65_536


class ItemShown(TypedDict):
    """An item in the units of people."""

    iid: str
    id: str
    name: str | None
    brand: str | None
    category: str | None
    product_type: str | None
    day: str
    identifiers: dict[str, str]
    attributes: dict[str, str]
    alt_names: list[str]


class ObservationShown(TypedDict):
    """An observation in the units of people."""

    item: str
    day: str
    channel: str
    kind: str
    price: str
    list_price: str | None
    currency: str
    units: int


class ImpactShown(TypedDict):
    """A figure of an item, of one stage or in total."""

    item: str | None
    indicator: str
    per_unit: str
    stage: str | None


class FactorShown(TypedDict):
    """A factor of a code, the mean of its samples."""

    code: str
    indicator: str
    per_kg: str
    samples: int


@dataclass
class Preview:
    """The rows that were read. `counts` are of all; the lists hold the first of each kind, in the units of people."""

    counts: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)
    items: list[ItemShown] = field(default_factory=list)
    observations: list[ObservationShown] = field(default_factory=list)
    impacts: list[ImpactShown] = field(default_factory=list)
    factors: list[FactorShown] = field(default_factory=list)
    rejects: list[dict[str, object]] = field(default_factory=list)
    examples: dict[str, Reject] = field(default_factory=dict)

    def document(self) -> dict[str, object]:
        """Return all but the examples, for programs."""
        return {name: value for name, value in vars(self).items() if name != "examples"}

    @property
    def refusal(self) -> LoadRefused | None:
        """Return what a load of these rows is refused with, where nothing of them can be used."""
        brought = ("items_read", "observations_read", "impacts_read", "factors_read")
        if any(self.counts[name] for name in brought) or (self.counts["rows_used"] and not self.reasons):
            return None
        return nothing_used(self.counts["rows"], self.reasons, self.examples)


class Previewer:
    """Reads files through a mapping as a load does. Raises LoadRefused where a load would before it merges."""

    def __init__(
        self,
        mapping: Mapping,
        *,
        shown: int,
        unpacked_bytes_max: int = UNPACKED_BYTES_MAX,
        report_progress: Callable[[int], None] = lambda done: None,
    ) -> None:
        self._mapping = mapping
        self._shown = shown
        self._unpacked_bytes_max = unpacked_bytes_max
        self._report_progress = report_progress
        # Of what is shown, by its key: a load hands over the items of a batch after its observations.
        self._names: dict[int, str] = {}
        self._shown_keys: set[int] = set()
        self._observations: list[tuple[np.void, str]] = []
        self._totals: list[ImpactShown] = []
        self._figures: list[StagedFigure] = []
        self._preview = Preview()

    def of_items(self, files: list[Path], transformer: Transformer) -> Preview:
        """Return what a mapping of items gives."""
        for path, batch in self._batches(files):
            self.keep_rows(transformer.shape(batch, path))
        self._preview.counts["items_read"] = len(transformer.registry)
        return self.preview()

    def keep_rows(self, shaped: Transformed) -> None:
        """Keep what is to be shown of rows that are loaded, or would be."""
        self._preview.counts["rows"] += shaped.rows
        self._preview.counts.update(shaped.counts)
        self._keep_rejects(shaped.rejects)
        self._keep(shaped)

    def preview(self) -> Preview:
        """Return what was kept."""
        preview = self._preview
        preview.observations = [self._observation(row, channel) for row, channel in self._observations]
        stages = [self._stage_figure(figure) for figure in self._figures]
        preview.impacts = (self._totals + stages)[: self._shown]
        return preview

    def of_factors(self, files: list[Path]) -> Preview:
        """Return what a mapping of factors gives."""
        figures = factors.gather(self._mapping, self._batches(files), self._keep_rejects, self._preview.counts)
        self._preview.counts["factors_read"] = len(figures)
        for (code, indicator), listed in sorted(figures.items()):
            row: FactorShown = {
                "code": code,
                "indicator": indicator,
                "per_kg": f"{factors.mean(listed):f}",
                "samples": len(listed),
            }
            self._preview.factors.append(row)
        return self._preview

    def _batches(self, files: list[Path]) -> Iterator[tuple[Path, Batch]]:
        return read_file.read_all(
            files,
            self._mapping,
            self._report_progress,
            batch_rows=_BATCH_ROWS,
            unpacked_bytes_max=self._unpacked_bytes_max,
        )

    def _keep_rejects(self, rejects: list[Reject]) -> None:
        preview = self._preview
        preview.counts["rejected"] += sum(reject.scope == "row" for reject in rejects)
        preview.counts["fields_rejected"] += sum(reject.scope == "field" for reject in rejects)
        preview.reasons.update(reject.reason for reject in rejects)
        for reject in rejects:
            preview.examples.setdefault(reject.reason, reject)
        for reject in rejects[: self._shown - len(preview.rejects)]:
            preview.rejects.append(reject._asdict())

    def _keep(self, shaped: Transformed) -> None:
        preview = self._preview
        if shaped.observations is not None:
            preview.counts["observations_read"] += len(shaped.observations)
            for row in shaped.observations[: self._shown - len(self._observations)]:
                self._observations.append((row.copy(), shaped.channels[row["channel"]]))
                self._shown_keys.add(int(row["item"]))
        for figure in shaped.stage_figures[: self._shown - len(self._figures)]:
            self._figures.append(figure)
            self._shown_keys.add(figure.key)
        if not self._shown_keys or self._shown_keys - self._names.keys():
            early = len(self._names) < self._shown
            for place, item in enumerate(shaped.items):
                if item.key in self._shown_keys or (early and place < 10 * self._shown):
                    self._names[item.key] = item.name or item.iid
        for item in shaped.items[: self._shown - len(preview.items)]:
            preview.items.append(_item(item))
        totals = (
            ImpactShown(item=item.name, indicator=indicator, per_unit=f"{figure:f}", stage=None)
            for item in shaped.items
            for indicator, figure in item.impacts.items()
        )
        self._totals += islice(totals, self._shown - len(self._totals))

    def _stage_figure(self, figure: StagedFigure) -> ImpactShown:
        return {
            "item": self._names.get(figure.key, "…"),
            "indicator": figure.impact.indicator,
            "per_unit": f"{figure.per_unit:f}",
            "stage": figure.stage,
        }

    def _observation(self, row: np.void, channel: str) -> ObservationShown:
        currency = row["currency"].decode()
        listed = int(row["list"])
        return {
            "item": self._names.get(int(row["item"]), "…"),
            "day": str(calendar_days.shown(int(row["day"]))),
            "channel": channel,
            "kind": ObservationKind(row["kind"].decode()).text,
            "price": to_text(int(row["price"]), currency),
            "list_price": None if listed < 0 else to_text(listed, currency),
            "currency": currency,
            "units": int(row["units"]),
        }


def _item(item: ItemRow) -> ItemShown:
    return {
        "iid": item.iid,
        "id": item.source_item_id,
        "name": item.name,
        "brand": item.brand_name,
        "category": item.category_code,
        "product_type": item.product_type,
        "day": str(calendar_days.shown(item.day)),
        "identifiers": {entry["scheme"]: entry["value"] for entry in item.identifiers},
        "attributes": item.attributes,
        "alt_names": item.alt_names,
    }
