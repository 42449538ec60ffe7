"""Guides as pages: headings that can be linked to, tables that scroll, links that lead somewhere."""

import re
from pathlib import Path

from edge.docs.guides import READERS, address_of, render

GUIDES = Path(__file__).parents[4] / "docs/guides"


def test_headings_have_anchors_and_twins_are_numbered() -> None:
    rendered = render("# A *guide*\n\n## Part: one & two\n\n## Part\n\n## Part\n")
    assert rendered.title == "A guide"
    assert [one.anchor for one in rendered.headings] == ["a-guide", "part-one--two", "part", "part-1"]
    assert '<h2 id="part-1">' in rendered.html


def test_a_table_scrolls_and_right_alignment_is_a_class() -> None:
    html = render("| a | b |\n|---|--:|\n| x | 1 |\n").html
    assert '<div class="scroll" tabindex="0"><table>' in html
    assert '<td class="number">1</td>' in html and "style=" not in html


def test_a_link_without_an_address_becomes_text() -> None:
    html = render("see [this *page*](../x.py) and [that](b.md)", lambda href: "/b" if href == "b.md" else None).html
    assert html == '<p>see this <em>page</em> and <a href="/b">that</a></p>\n'


def test_links_of_guides_lead_to_guides_or_out() -> None:
    guides = {"operate", "reports"}
    assert address_of("operate.md#x", guides) == "/v1/docs/guides/operate#x"
    assert address_of("https://example.org", guides) == "https://example.org"
    assert address_of("#here", guides) == "#here"
    assert address_of("../decisions/0001-x.md", guides) is None
    assert address_of("missing.md", guides) is None


def test_every_guide_is_listed_once() -> None:
    listed = [name for names in READERS.values() for name in names]
    assert sorted(listed) == sorted(path.stem for path in GUIDES.glob("*.md"))


def test_a_guide_begins_with_one_plain_sentence_about_its_purpose() -> None:
    for name in [name for names in READERS.values() for name in names]:
        title, summary, *_ = (GUIDES / f"{name}.md").read_text(encoding="utf-8").split("\n\n")
        assert title.startswith("# "), name
        assert re.fullmatch(r"[^`\[<.]{20,200}\.", " ".join(summary.split())), summary


def test_a_customers_guide_names_no_file_and_no_decision_of_the_repository() -> None:
    for name in READERS["customers"]:
        text = (GUIDES / f"{name}.md").read_text(encoding="utf-8")
        assert re.findall(r"\b(?:deploy|shared|edge|workers|tests)/[\w./-]+|\bdecisions?\W+\d{4}", text) == [], name
