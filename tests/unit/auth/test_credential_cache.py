"""What a process remembers of credentials: bounded, the least recently used goes first, and no secret is in it."""

import gc
from typing import Any

import pytest

from edge.auth.credentials import CredentialCache
from shared.organizations.accounts import Principal
from shared.organizations.credentials import KEY_PREFIX, mint

PRINCIPAL: Any = Principal("api-key", "id", None, "o", "O")  # type: ignore[arg-type]


class Clock:
    """A clock that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def small() -> CredentialCache:
    return CredentialCache(Clock(), valid_max=3, unknown_max=3)


def test_a_scanner_with_well_formed_keys_pushes_out_no_valid_one(small: CredentialCache) -> None:
    valid = [small.digest(mint(KEY_PREFIX)) for _ in range(3)]
    for digest in valid:
        small.remember(digest, PRINCIPAL)
    for _ in range(1_000):
        small.remember(small.digest(mint(KEY_PREFIX)), None)
    assert all(small.find(digest) == (5.0, PRINCIPAL) for digest in valid)
    assert len(small) == 6


def test_the_least_recently_used_leaves_first(small: CredentialCache) -> None:
    names = [small.digest(str(n)) for n in range(4)]
    for name in names[:3]:
        small.remember(name, PRINCIPAL)
    assert small.find(names[0]) is not None
    small.remember(names[3], PRINCIPAL)
    assert [small.find(name) is not None for name in names] == [True, False, True, True]


def test_an_entry_ends_after_five_seconds() -> None:
    clock = Clock()
    cache = CredentialCache(clock)
    name = cache.digest("key")
    cache.remember(name, None)
    clock.now = 4.9
    assert cache.find(name) == (5.0, None)
    clock.now = 5.1
    assert cache.find(name) is None
    assert len(cache) == 0


def test_no_credential_is_kept() -> None:
    cache, secret = CredentialCache(), mint(KEY_PREFIX)
    cache.remember(cache.digest(secret), PRINCIPAL)
    held: list[Any] = gc.get_referents(*vars(cache).values())
    assert secret not in str(held) and len(cache) == 1
    assert cache.digest(secret) != CredentialCache().digest(secret)
