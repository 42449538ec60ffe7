"""Identifiers that we mint: their grammar, and that a typing error is seen."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.index.iid import (
    CROCKFORD,
    canonical_iid,
    canonical_iid_prefix,
    canonical_uuid,
    is_mistyped,
    item_key,
    mint,
    require_uuid,
)
from workers.ingest.mint_iids import mint_all


def test_the_grammar() -> None:
    for text, iid in (
        ("IID-A", "IID-A"),
        ("iid-abc-1", "IID-ABC-1"),
        ("IID-" + "-".join("ABCDEFGH"), "IID-A-B-C-D-E-F-G-H"),
        ("IID", None),
        ("IID-", None),
        ("IID--A", None),
        ("IID-A\n", None),
        (" IID-A", None),
        ("IID-Ä", None),
        ("IID-ſ", None),
        ("IID-" + "A" * 17, None),
        ("IID" + "-A" * 9, None),
        ("IID-A_B", None),
        ("", None),
        ("IID-" + "-".join(["A" * 16] * 6), None),
    ):
        assert canonical_iid(text) == iid, text


def test_the_beginning_of_an_iid() -> None:
    for text, ok in (("IID-", True), ("iid-ab-", True), ("IID", False), ("IID-%", False), ("XIID-", False)):
        assert (canonical_iid_prefix(text) is not None) == ok, text


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_minted_iid_is_well_formed_and_always_the_same(source: str, source_id: str) -> None:
    made = mint(source, source_id)
    assert canonical_iid(made.iid) == made.iid
    assert not is_mistyped(made.iid)
    assert made == mint(source, source_id)
    assert made.key == item_key(made.iid)
    assert 0 <= made.key < 2**63


def test_minting_never_changes() -> None:
    assert mint("shop", "1") == ("IID-R72E3-BJ0NW-0EBYF", 4385707228883265363)


@given(st.integers(0, 14), st.sampled_from(CROCKFORD))
def test_one_wrong_character_is_seen(place: int, wrong: str) -> None:
    body = list(mint("shop", "1").iid.removeprefix("IID-").replace("-", ""))
    changed = body[place] != wrong
    body[place] = wrong
    text = "".join(body)
    assert is_mistyped(f"IID-{text[:5]}-{text[5:10]}-{text[10:]}") == changed
    assert not is_mistyped(f"IID-{text[:5]}-{text[5:]}")


@given(st.text(max_size=20), st.lists(st.text(max_size=20), max_size=5))
def test_many_minted_at_once_are_those_minted_one_by_one(source: str, source_ids: list[str]) -> None:
    iids, keys = mint_all(source, source_ids)
    written = [iid.decode() for iid in iids.tolist()]
    assert list(zip(written, keys.tolist(), strict=True)) == [mint(source, source_id) for source_id in source_ids]


@pytest.mark.parametrize(
    ("text", "uuid"),
    [
        ("0190163D-8694-739B-AEA5-966C26F8AD91", "0190163d-8694-739b-aea5-966c26f8ad91"),
        ("0190163d8694739baea5966c26f8ad91", "0190163d-8694-739b-aea5-966c26f8ad91"),
        ("0190163d-8694-739b-aea5-966c26f8ad9", None),
        ("0190163d-8694-739b-aea5-966c26f8ad9g", None),
        ("", None),
        ("\n0190163d8694739baea5966c26f8ad9", None),
        ("{0190163d8694739baea5966c26f8ad91}", None),
        ("0_90163d8694739baea5966c26f8ad91", None),
    ],
)
def test_a_uuid_is_what_postgresql_would_take(text: str, uuid: str | None) -> None:
    assert canonical_uuid(text) == uuid
    if uuid is None:
        with pytest.raises(LookupError):
            require_uuid(text, LookupError())
    else:
        assert require_uuid(text, LookupError()) == uuid
