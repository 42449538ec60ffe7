"""Every type of events has words of its own on the dashboard's page, and the pages that it links exist."""

from typing import Any

from edge.dashboard.event_words import TITLES, words_of
from shared.events.types import TYPES

_FIRED = {"watch": "w", "label": None, "target": "brand", "code": "vita", "day": "2026-07-02", "currency": "HKD"}

_JOB = {"job": "j-1", "kind": "sustainability-rollup", "state": "failed"}

_CASES: list[tuple[str, dict[str, Any], str, str | None]] = [
    (
        "watch.fired",
        {**_FIRED, "condition": "below", "price": "9.90", "amount": "10.00", "iid": "IID-1"},
        "brand vita: 9.90 HKD on 2026-07-02, below 10.00",
        "/dashboard/explorer/IID-1",
    ),
    (
        "watch.fired",
        {**_FIRED, "condition": "new-low", "price": "9.90", "days": 90, "low_before": "10.10", "iid": "IID-1"},
        "brand vita: 9.90 HKD on 2026-07-02, the lowest of 90 days; it was 10.10 before",
        "/dashboard/explorer/IID-1",
    ),
    (
        "watch.fired",
        {**_FIRED, "condition": "index-moved", "change_percent": -7.25, "percent": 5},
        "brand vita: prices changed by -7.25 % up to 2026-07-02",
        None,
    ),
    ("job.ended", _JOB, "Footprint report failed", "/dashboard/jobs/j-1"),
    ("job.ended", {**_JOB, "state": "succeeded"}, "Footprint report is done", "/dashboard/jobs/j-1"),
    ("export.ready", _JOB, "The files of an export are ready to download", "/dashboard/exports/j-1"),
    (
        "release.cut",
        {"dataset": "items", "data_version": 7, "rows": 12_345, "bytes": 1},
        "Release 7 of items: 12,345 rows",
        "/dashboard/datasets/items?release=7",
    ),
    ("item.merged", {"iid": "A", "survivor_iid": "B"}, "A became part of B", "/dashboard/explorer/B"),
    ("item.split", {"iid": "A", "survivor_iid": "B"}, "A is no longer part of B", "/dashboard/explorer/A"),
    ("item.withdrawn", {"iid": "A", "survivor_iid": None}, "A was withdrawn", None),
    ("item.restored", {"iid": "A", "survivor_iid": None}, "A is active again", "/dashboard/explorer/A"),
    (
        "quota.reached",
        {"day": "2026-07-02", "percent": 80, "used": 8_000, "limit": 10_000},
        "80 % of the daily units used on 2026-07-02: 8,000 of 10,000",
        "/dashboard/usage",
    ),
    (
        "outliers.changed",
        {"month": "2026-07", "observations": 2, "changes": []},
        "Later observations changed which prices of 2026-07 are outliers: 2",
        None,
    ),
    ("key.rotated", {"key_id": "k1"}, "Key k1 is the new key", "/dashboard/key"),
    ("key.revoked", {"key_id": "k1"}, "Key k1 was revoked", "/dashboard/key"),
    ("webhook.disabled", {"webhook": "w", "reason": "It answered 410."}, "It answered 410.", "/dashboard/webhooks/w"),
]


def test_an_event_is_a_sentence_with_its_page() -> None:
    for type_, data, text, link in _CASES:
        assert words_of(type_, data) == (text, link), type_


def test_every_type_has_words_and_one_whose_members_are_missing_has_the_sentence_of_its_type() -> None:
    for type_ in TYPES:
        assert type_ in {case[0] for case in _CASES}, type_
        assert words_of(type_, {}) == (TYPES[type_], None), type_


def test_a_type_that_is_not_known_is_its_own_name() -> None:
    assert words_of("item.renamed", {}) == ("item.renamed", None)


def test_every_type_has_a_title() -> None:
    assert TITLES.keys() == TYPES.keys()
