"""The audit log names people: their ids are for programs."""

from edge.dashboard.organization import subject_words

ADA, GONE = "01a22e17-3a68-7ad5-baca-0914675924f2", "01a22e17-3a68-7ad5-baca-000000000000"


def test_members_are_named_and_other_ids_are_cut() -> None:
    people = {ADA: "Ada Lovelace"}
    assert subject_words(f"owner {ADA}", people) == "owner Ada Lovelace"
    assert subject_words(GONE, people) == "01a22e17…"
    assert subject_words("Institutional", people) == "Institutional"
