"""The first minutes: the README, the first calls, accounts and sign-in from the command line."""

import http.client
import json
from typing import Any
from urllib.parse import quote

import pytest

from tests.system.conftest import Running

pytestmark = pytest.mark.xdist_group("stack")


ANONYMOUS = "iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK"


def ask(
    stack: Running, path: str, *, source: str = "127.0.0.1", method: str = "GET", **fields: str
) -> tuple[int, Any, Any]:
    line = http.client.HTTPConnection("127.0.0.1", stack.port, timeout=10, source_address=(source, 0))
    head = {"X-Service-Public-Token": ANONYMOUS, **{name.replace("_", "-"): value for name, value in fields.items()}}
    line.request(method, f"/v1{path}", headers=head)
    response = line.getresponse()
    body = response.read()
    line.close()
    kind = response.headers.get("Content-Type", "")
    return response.status, response.headers, json.loads(body) if "json" in kind and body else body


def test_search_lookup_and_brands_of_real_items(stack: Running) -> None:
    status, _, found = ask(stack, "/index/search?q=soy+milk&limit=5", source="127.0.1.1")
    assert status == 200
    assert len(found["data"]) == 5
    iid = found["data"][0]["iid"]
    status, head, record = ask(stack, f"/index/lookup/{iid}", source="127.0.1.1")
    assert (status, record["iid"]) == (200, iid)
    assert record["price_band"]["currency"] == "HKD"
    assert head["RateLimit"].startswith('"free-daily";r=1;')
    status, _, brands = ask(stack, "/index/brands?q=vita", source="127.0.1.1")
    assert brands["data"][0]["name"].startswith("Vita")
    status, head, problem = ask(stack, f"/index/lookup/{iid}", source="127.0.1.1")
    assert (status, problem["retry_after"]) == (429, int(head["Retry-After"]))


@pytest.mark.parametrize(
    ("question", "source"),
    [
        ("嘉頓", "127.0.2.1"),
        ("vitasoi", "127.0.2.2"),
        ("creme", "127.0.2.3"),
        ("soy mil", "127.0.2.4"),
        ("Bread rolls", "127.0.2.5"),
    ],
)
def test_searches_that_people_make_find_something(stack: Running, question: str, source: str) -> None:
    status, _, found = ask(stack, f"/index/search?q={quote(question)}", source=source)
    assert status == 200
    assert found["count"] > 0


def test_a_footprint_follows_from_the_weight_and_the_category(stack: Running) -> None:
    _, _, found = ask(stack, "/index/search?q=bun+210g&limit=1", source="127.0.3.1")
    _, _, record = ask(stack, f"/index/lookup/{found['data'][0]['iid']}", source="127.0.3.1")
    assert record["sustainability"]["basis"] == "category_average"
    assert record["sustainability"]["co2e_kg"] > 0
    assert record["sustainability"]["waste_kg"] is None


def test_a_revoked_token_is_refused_within_a_second(stack: Running) -> None:
    token = stack.ctl("tokens", "issue").strip()
    assert ask(stack, "/quota", X_Service_Public_Token=token)[0] == 200
    stack.ctl("tokens", "revoke", token.removeprefix("iixp_free_")[:10])
    assert ask(stack, "/quota", X_Service_Public_Token=token)[0] == 401


def test_pre_flight_is_answered_and_not_counted(stack: Running) -> None:
    status, head, _ = ask(stack, "/index/brands", method="OPTIONS", source="127.0.4.1", Origin="https://shop.example")
    assert (status, head["Access-Control-Allow-Origin"]) == (204, "*")
    assert ask(stack, "/quota", source="127.0.4.1")[2]["limits"][0]["used"] == 0


def test_a_trailing_slash_redirects_and_a_wrong_method_names_the_right_ones(stack: Running) -> None:
    status, head, _ = ask(stack, "/index/brands/?limit=3")
    assert (status, head["Location"]) == (308, "/v1/index/brands?limit=3")
    status, head, problem = ask(stack, "/index/brands", method="DELETE")
    assert (status, problem["title"]) == (405, "Method Not Allowed")
    assert set(head["Allow"].split(", ")) == {"GET", "HEAD", "OPTIONS"}


def test_doctor_finds_nothing_wrong(stack: Running) -> None:
    findings = json.loads(stack.ctl("doctor", "--json"))
    assert [finding for finding in findings if not finding["ok"]] == []


def test_top_shows_a_running_stack(stack: Running) -> None:
    ask(stack, "/quota")
    frame = stack.ctl("top", "--once", "--interval", "0.5")
    for expected in (
        "data_version",
        "requests",
        "quota",
        "cache",
        "stores",
        "reports",
        "edge-a",
        "worker-reports",
        "MiB",
    ):
        assert expected in frame, frame
