"""Pages of answers: none is over 4 kB, and together they say everything once and in order."""

import random
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

from edge.http.cursors import CursorSigner
from edge.mcp.calls import result_of
from edge.mcp.messages import encode_result
from edge.mcp.tools import LISTED, TOOLS
from edge.mcp.views import ANSWER_BYTES_MAX, AnswerPages, AnswerPart, View, fit
from shared.errors import CursorExpired, InvalidCursor

PAGES = AnswerPages(CursorSigner("s" * 32))

ASKED = {"iid": "IID-A"}


def encoded(page: Mapping[str, Any]) -> bytes:
    return encode_result("i" * 128, result_of(page))


def pages_of(view: View) -> list[dict[str, Any]]:
    """Follow the cursors to the end."""
    found, position = [], PAGES.position("t", ASKED, None)
    while True:
        page = PAGES.page("t", ASKED, view, position, encoded)
        assert len(encoded(page)) <= ANSWER_BYTES_MAX
        found.append(page)
        cursor = found[-1].pop("next_cursor", None)
        if cursor is None:
            return found
        position = PAGES.position("t", ASKED, cursor)
        assert len(found) < 5_000


def test_pages_hold_every_part_once_in_order_and_each_the_most_that_fits() -> None:
    for seed in range(10):
        chance = random.Random(seed)
        alphabet = ['"', "\\", "é", "豆", "a", "\n", "😀"]
        rows = [
            {"n": n, "text": "".join(chance.choices(alphabet, k=chance.randrange(90)))}
            for n in range(chance.randrange(1, 700))
        ]
        found = pages_of(View({"total": len(rows)}, [AnswerPart("rows", row, element=True) for row in rows]))
        assert [row for page in found for row in page["rows"]] == rows, seed
        assert all(page["total"] == len(rows) for page in found), seed
        assert all(len(encoded(page)) > ANSWER_BYTES_MAX / 2 for page in found[:-1]), seed


def test_pages_of_two_states_of_the_data_are_not_joined() -> None:
    rows = [AnswerPart("rows", {"n": n, "text": "x" * 80}, element=True) for n in range(100)]
    before, after = View({"data_version": 7}, rows), View({"data_version": 8}, rows[3:])
    cursor = PAGES.page("t", ASKED, before, PAGES.position("t", ASKED, None), encoded)["next_cursor"]
    position = PAGES.position("t", ASKED, cursor)
    assert PAGES.page("t", ASKED, before, position, encoded)["rows"][0]["n"] > 0
    with pytest.raises(CursorExpired):
        PAGES.page("t", ASKED, after, position, encoded)


def test_members_lists_and_objects_are_put_together_again() -> None:
    parts = [AnswerPart("name", "Soy"), AnswerPart("codes", 1, element=True), AnswerPart("codes", 2, element=True)]
    parts += [AnswerPart("attributes", "red", key="color")]
    assert pages_of(View({}, parts)) == [{"name": "Soy", "codes": [1, 2], "attributes": {"color": "red"}}]


def test_a_part_that_no_page_could_hold_is_cut() -> None:
    for value in (
        "x" * 100_000,
        ["y" * 500] * 1_000,
        {"k" * 300 + str(n): "v" * 300 for n in range(300)},
        [[["z" * 9_000] * 9] * 9],
    ):
        assert len(pages_of(View({}, [AnswerPart("rows", value, element=True)]))) == 1, value
        assert "…" in msgspec.json.encode(fit(value)).decode(), value


def test_text_that_fits_is_not_cut() -> None:
    row = {"text": "x" * 900}
    assert fit(row) == row


def test_a_cursor_belongs_to_its_tool_and_arguments() -> None:
    view = View({}, [AnswerPart("rows", "x" * 900, element=True)] * 9)
    cursor = PAGES.page("t", ASKED, view, PAGES.position("t", ASKED, None), encoded)["next_cursor"]
    for tool, arguments, text in (
        ("u", ASKED, cursor),
        ("t", {"iid": "IID-B"}, cursor),
        ("t", ASKED, ("B" if cursor[0] == "A" else "A") + cursor[1:]),
    ):
        with pytest.raises(InvalidCursor):
            PAGES.position(tool, arguments, text)


def test_the_last_page_leads_to_the_next_one_of_the_rest_call() -> None:
    page = PAGES.page("t", ASKED, View({}, [], "rest-cursor"), PAGES.position("t", ASKED, None), encoded)
    assert PAGES.position("t", ASKED, page["next_cursor"]) == ("rest-cursor", 0, 0)


def test_the_list_of_tools_takes_at_most_2500_tokens() -> None:
    # A token of JSON and English has 3 characters or more in the tokenizers in use; 2.5 is on the safe side of all.
    assert len(msgspec.json.encode(LISTED)) / 3 <= 2_500
    # What hosts let a model read: schemas of answers are for the host itself.
    read = [{name: value for name, value in tool.items() if name != "outputSchema"} for tool in LISTED["tools"]]
    assert len(msgspec.json.encode({"tools": read})) / 2.5 <= 2_500
    assert len(TOOLS) <= 8


def test_a_part_that_is_left_out_keeps_its_type() -> None:
    huge = {"a": {"b": {"c": {"d": {"e": {"f": "豆" * 400}}}}}}
    for _ in range(7):
        huge = {"left": huge, "right": huge}
    for large in (huge, [huge], "x" * 9_000):
        found = fit(large)
        assert type(found) is type(large) and "…" in msgspec.json.encode(found).decode(), type(large)
