"""The `[match]` section of a mapping: the items of a source that may be linked with other sources, and the evidence."""

from dataclasses import dataclass, fields
from typing import Any, Literal

from workers.ingest.fields import ItemFields, key
from workers.ingest.mapping_tables import Tables

_TRUST = ("all", "identifiers", "review")


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchRules:
    """How the source's items are compared with those of other sources, to find which are one article."""

    trust: Literal["all", "identifiers", "review"] = key(
        "Links that are made without a person: `all` that are as good as certain, those that `identifiers` prove, or "
        "none, and everything waits for `review`.",
        'trust = "identifiers"',
        default="all",
    )
    never: bool = key("The source's items are never linked with any other.", "never = true", default=False)
    own_identifiers: tuple[str, ...] = key(
        "Schemes of `[item.identifiers]` that the source numbers by itself: a `gtin` that is no GTIN, say. They are "
        "not compared with those of other sources.",
        'own_identifiers = ["gtin"]',
        default=(),
    )
    article_identifier: str | None = key(
        "The scheme by which the source itself says which of its items are one article; without it no two are.",
        'article_identifier = "style_code"',
        default=None,
    )

    def terms(self) -> dict[str, Any]:
        """Return the rules that differ from the usual ones."""
        usual = MatchRules()
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        return {name: value for name, value in given.items() if value != getattr(usual, name)}


def read_rules(tables: Tables, given: Any, item: ItemFields | None) -> MatchRules:
    """Read the section. Raises LoadRefused, also for a scheme that the mapping's items do not have."""
    where = "[match]"
    table = tables.keys_of(MatchRules, given, where)
    never, own = table.get("never", False), table.get("own_identifiers", [])
    if not isinstance(never, bool):
        tables.refuse(f"{where} never must be true or false")
    if not isinstance(own, list) or not all(isinstance(scheme, str) for scheme in own):
        tables.refuse(f"{where} own_identifiers must be a list of texts")
    article = tables.optional_text(table, "article_identifier", where)
    known = {scheme for scheme, _ in item.identifiers} if item else set()
    for scheme in (*own, *([article] if article is not None else [])):
        if scheme not in known:
            tables.refuse(f"{where} names the scheme `{scheme}`, which [item.identifiers] does not have")
    trust = tables.one_of(table, "trust", _TRUST, where, "all")
    return MatchRules(trust=trust, never=never, own_identifiers=tuple(sorted(own)), article_identifier=article)
