"""Entries of edges of two releases in one cache store: a change of an entry's bytes needs another layout."""

import hashlib
from datetime import UTC, date, datetime
from typing import Any

from edge.index import identifiers
from edge.index import record as records
from edge.index.identifiers import Resolution
from edge.index.record import make
from shared.redis import keys

ROW: dict[str, Any] = {
    "iid": "II-1", "name": "Soy drink", "alt_names": ["Soya"], "status": "active", "survivor_iid": None,
    "product_type": "Drink", "identifiers": '[{"scheme":"gtin","value":"04006381333931"}]',
    "attributes": '{"weight_kg":1.05}', "version": 3, "first_seen_on": date(2026, 7, 1),
    "updated_at": datetime(2026, 7, 2, tzinfo=UTC), "brand_id": "b1", "brand_name": "Oat & Co", "brand_slug": "oat-co",
    "category_code": "food.drinks", "category_path": ["Food", "Drinks"],
    "channels": '[{"channel":"NORTH","listings":2,"last_seen_on":"2026-07-02"}]',
    "price_band": '{"currency":"EUR","kind":"l","low":199,"high":249,"median":224.5,"observations":4,"set_aside":1,'
    '"from":"2026-07-01","to":"2026-07-02"}',
    "impacts": '[{"indicator":"co2e_kg","per_unit":0.7,"basis":"measured","method":"EPD",'
    '"pedigree":"(2,3,1,2,4)","reference_year":2024}]',
    "factors": None,
    "sources": '[{"source":"shop","observed_at":"2026-07-02T00:00:00","license":"CC-BY-4.0"}]',
    "field_sources": None, "members": None,
    "matches": '[{"iids":["II-1","II-2"],"kind":"link","score":1,"evidence":[],"since":"2026-07-01T00:00:00"}]',
}  # fmt: skip


def test_a_record_that_is_packed_otherwise_has_another_layout() -> None:
    packed = make(ROW, "https://api.example/v1").pack()
    digest = hashlib.sha256(packed).hexdigest()[:12]
    assert (records.LAYOUT, digest) == (2, "24762e044d7b"), (
        "a changed record needs the next LAYOUT: then name its digest here"
    )


def test_a_resolution_that_is_packed_otherwise_has_another_layout() -> None:
    assert (identifiers.LAYOUT, Resolution(("II-1", "II-2")).pack()) == (2, b"II-1\nII-2")


def test_no_key_of_one_layout_is_a_key_of_another() -> None:
    snapshot = keys.snapshot(12, "2026-07-01 00:00:00+00")
    for key in (keys.record, keys.identifier):
        assert len({key(layout, one, "II-1") for layout in (1, 2) for one in (snapshot, keys.snapshot(12, ""))}) == 4
