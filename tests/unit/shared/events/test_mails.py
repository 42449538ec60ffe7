"""The token of the link that ends mails: ours alone, also through a rotation of the key."""

from shared.events.mails import Subscriber, read_unsubscribe_token, unsubscribe_token

_ADA = Subscriber("019a0000-0000-7000-8000-000000000001", "019a0000-0000-7000-8000-000000000002")


def test_a_token_names_its_subscriber_to_those_who_know_the_secret() -> None:
    token = unsubscribe_token("old", _ADA)
    assert read_unsubscribe_token(("new", "old"), token) == _ADA
    assert read_unsubscribe_token(("new",), token) is None
    assert _ADA.person.replace("-", "") not in token


def test_what_is_no_token_names_nobody() -> None:
    token = unsubscribe_token("key", _ADA)
    changed = ("B" if token[20] == "A" else "A").join((token[:20], token[21:]))
    for text in ("", "a", "é" * 20, "=" * 9, token[:-4], changed):
        assert read_unsubscribe_token(("key",), text) is None
