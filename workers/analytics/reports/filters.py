"""Canonical parameters into which observations are read: ids instead of names."""

from dataclasses import dataclass, replace
from typing import Any

from shared.analytics.observations import OBSERVATION_KINDS, ObservationKind
from shared.analytics.rollup_scope import RollupScope
from shared.db.connect import Connection
from shared.db.queries import load_queries
from shared.errors import BrandNotFound, CategoryNotFound, InvalidParameter

SQL = load_queries(__file__, "reports.sql")


@dataclass(frozen=True, slots=True)
class CategoryBranch:
    """A category, and the ids of it and of all below it."""

    id: int
    code: str
    path: tuple[str, ...]
    below: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Tree:
    """All categories, by code and by id."""

    by_code: dict[str, CategoryBranch]
    by_id: dict[int, CategoryBranch]

    @classmethod
    def read(cls, connection: Connection) -> "Tree":
        rows = connection.execute(SQL.categories).fetchall()
        below: dict[str, list[int]] = {code: [] for _, code, _ in rows}
        for number, code, _ in rows:
            parts = code.split(".")
            for n in range(1, len(parts) + 1):
                below.setdefault(".".join(parts[:n]), []).append(number)
        listed = [CategoryBranch(number, code, tuple(path), tuple(sorted(below[code]))) for number, code, path in rows]
        return cls({category.code: category for category in listed}, {category.id: category for category in listed})

    @property
    def codes(self) -> dict[int, str]:
        """Return the code of every category."""
        return {category.id: category.code for category in self.by_id.values()}

    def find(self, code: str) -> CategoryBranch:
        """Return a category; raise CategoryNotFound."""
        if code not in self.by_code:
            raise CategoryNotFound(code)
        return self.by_code[code]


@dataclass(frozen=True, slots=True)
class Filter:
    """Which observations. None: all. `tops` are the named categories without those that are below another named one.

    Of the categories in `partial` only `items` match; 0 among the categories is what has none.
    `kinds` are `l` (listings), `s` (sales); empty as long as it is not settled which of them the answer is of.
    `outliers` says whether those that statistics set aside belong to them.
    """

    brands: tuple[int, ...] | None = None
    categories: tuple[int, ...] | None = None
    tops: tuple[int, ...] = ()
    channels: tuple[int, ...] | None = None
    currency: str | None = None
    group_by: tuple[str, ...] = ()
    kinds: tuple[ObservationKind, ...] = ()
    outliers: bool = False
    partial: tuple[int, ...] = ()
    items: tuple[int, ...] = ()

    @property
    def strata(self) -> tuple[ObservationKind, ...]:
        """Return the kinds of the rollups that hold them; outliers are in rollups of their own."""
        kinds = self.kinds or OBSERVATION_KINDS["both"]
        return (*kinds, *(kind.outliers for kind in kinds)) if self.outliers else kinds

    @property
    def set_aside(self) -> tuple[ObservationKind, ...]:
        """Return the kinds of the rollups that hold the outliers alone."""
        return tuple(kind.outliers for kind in self.kinds)

    @property
    def kind(self) -> str:
        """Return how a caller names the kinds; they must be settled."""
        return next(name for name, kinds in OBSERVATION_KINDS.items() if kinds == self.kinds)

    @property
    def scope(self) -> tuple[RollupScope, tuple[int, ...]]:
        """Return the rollups that together hold just these brands, these categories, these channels, or everything.

        Where the filter crosses its scope they hold more.
        """
        if self.brands is not None:
            return RollupScope.BRAND, self.brands
        if self.categories is not None and 0 not in self.categories:
            return RollupScope.CATEGORY_TREE, self.tops
        if self.channels is not None:
            return RollupScope.CHANNEL, self.channels
        return RollupScope.WHOLE_INDEX, (0,)

    @property
    def crosses_scope(self) -> bool:
        """Return whether only single observations show what matches, not the rollups of `scope`."""
        return bool(self.partial) or sum(one is not None for one in (self.brands, self.categories, self.channels)) > 1

    def grouped(self, *names: str) -> "Filter":
        """Return the same observations in other groups."""
        return replace(self, group_by=names)


def brand_ids(connection: Connection, slugs: list[str]) -> tuple[int, ...]:
    """Return the ids of brands; raise BrandNotFound for the first that is unknown."""
    brands = {slug: number for number, slug in connection.execute(SQL.brands, (slugs,))}
    for slug in slugs:
        if slug not in brands:
            raise BrandNotFound(slug)
    return tuple(sorted(brands.values()))


def filter_of(connection: Connection, tree: Tree, parameters: dict[str, Any]) -> Filter:
    """Resolve the parameters brand, category, channel, currency, kind and group_by; the edge has checked their form."""
    brands, codes, kind = parameters.get("brand") or [], parameters.get("category") or [], parameters.get("kind")
    chosen = [tree.find(code) for code in dict.fromkeys(codes)]
    categories = sorted({number for category in chosen for number in category.below})
    tops = [
        category.id
        for category in chosen
        if not any(category.id in other.below for other in chosen if other is not category)
    ]
    return Filter(
        brands=brand_ids(connection, brands) if brands else None,
        categories=tuple(categories) if codes else None,
        tops=tuple(sorted(tops)),
        channels=_channels(connection, parameters.get("channel") or []),
        currency=parameters.get("currency"),
        group_by=tuple(parameters.get("group_by") or ()),
        kinds=OBSERVATION_KINDS[kind] if kind else (),
        outliers=parameters.get("outliers") == "include",
    )


def with_defaults(parameters: dict[str, Any], **defaults: Any) -> dict[str, Any]:
    """Return parameters with a report's own defaults in the place of those that are not given."""
    return defaults | {name: value for name, value in parameters.items() if value is not None}


def _channels(connection: Connection, codes: list[str]) -> tuple[int, ...] | None:
    if not codes:
        return None
    known = {code: number for number, code in connection.execute(SQL.channels)}
    if set(codes) - known.keys():
        raise InvalidParameter("channel", f"must be one of {', '.join(sorted(known)[:50]) or 'none: no data yet'}")
    return tuple(sorted({known[code] for code in codes}))
