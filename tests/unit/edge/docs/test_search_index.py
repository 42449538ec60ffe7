"""Searching the documentation: which sections have the words, in which order, and what is shown of them."""

import pytest

from edge.docs.guides import sections_of
from edge.docs.search_index import Section, SectionIndex

SECTIONS = (
    Section(
        "Webhooks", "Events", "/events#webhooks", "Each delivery is signed. Check the signature before you use it."
    ),
    Section("Retries", "Events", "/events#retries", "A webhook that fails is sent again, with the same signature."),
    Section("Excel", "Exports", "/exports#excel", "Exports are files of CSV, Parquet or Excel."),
    Section("429 rate-limited", "Errors", "/errors/rate-limited", "Too many requests. Wait.", ("rate-limited",)),
    Section("Limits", "Tour", "/tour#limits", "What is limited has a rate; a rate-limited call, a rate limited again."),
)


def found(query: str, limit: int = 10) -> list[str]:
    return [hit.section.title for hit in SectionIndex(SECTIONS).find(query, limit)]


@pytest.mark.parametrize(
    ("query", "titles"),
    [
        ("webhook signature", ["Webhooks", "Retries"]),
        ("SIGNATURES of webhooks", ["Webhooks", "Retries"]),
        ("webh", ["Webhooks", "Retries"]),
        ("export", ["Excel"]),
        ("exporting in parquet", ["Excel"]),
        ("rate-limited", ["429 rate-limited", "Limits"]),
        ("429", ["429 rate-limited"]),
        ("rate", ["429 rate-limited", "Limits"]),
        ("web hook signature", ["Webhooks", "Retries"]),
        ("éxcel", ["Excel"]),
        ("excel zeppelin", ["Excel"]),
        ("zeppelin", []),
        ("", []),
        ("!? —", []),
    ],
)
def test_sections_with_most_of_the_words_are_found_headings_first(query: str, titles: list[str]) -> None:
    assert found(query) == titles


def test_no_more_hits_are_returned_than_asked_for() -> None:
    assert found("signature webhook", 1) == ["Webhooks"]


def test_the_excerpt_is_the_part_with_most_of_the_words_and_says_where_it_is_cut() -> None:
    text = "filler " * 60 + "the needle is here " + "filler " * 60
    [hit] = SectionIndex([Section("Hay", "Stack", "/hay", text)]).find("needle", 1)
    assert "the needle is here" in hit.excerpt
    assert hit.excerpt.startswith("… ") and hit.excerpt.endswith(" …")
    assert len(hit.excerpt) <= 204
    [whole] = SectionIndex([Section("Hay", "Stack", "/hay", "one needle")]).find("needle", 1)
    assert whole.excerpt == "one needle"


def test_a_word_as_long_as_a_page_does_not_stretch_the_excerpt() -> None:
    [hit] = SectionIndex([Section("Key", "Secrets", "/key", "x" * 5_000)]).find("key", 1)
    assert len(hit.excerpt) <= 204


def test_a_text_is_cut_at_its_headings_with_the_anchors_of_its_page() -> None:
    text = "# A guide\n\nFirst *words* with `code`.\n\n## Part\n\n- one\n- two\n\n```\nmake up\n```\n\n## Part\n\n| a |\n|---|\n| b |\n"
    assert [(heading.anchor, words) for heading, words in sections_of(text)] == [
        ("a-guide", "First words with code."),
        ("part", "one two make up"),
        ("part-1", "a b"),
    ]
