"""A minted credential is recognized, and a mistyped one is not."""

from shared.organizations import credentials
from shared.settings.settings import Settings


def test_a_minted_credential_is_recognized_and_a_mistyped_one_is_not() -> None:
    for prefix in (credentials.FREE_PREFIX, credentials.KEY_PREFIX):
        token = credentials.mint(prefix)
        form = credentials.parse(token)
        assert form is not None, prefix
        assert (form.prefix, len(token)) == (prefix, 58), prefix
        for place in (0, 12, 30, 57):
            wrong = token[:place] + ("a" if token[place] != "a" else "b") + token[place + 1 :]
            assert credentials.parse(wrong) is None, prefix


def test_the_anonymous_token_is_well_formed() -> None:
    assert credentials.parse(Settings().anonymous_token) is not None


def test_garbage_is_no_credential() -> None:
    for text in ("", "iixk_live_", "iixk_live_" + "A" * 48 + "\n", "iixk_live_" + "é" * 48, "x" * 10_000):
        assert credentials.parse(text) is None, text
