"""What a newcomer does in the first minutes, through nginx, on the demo data."""

import http.client
import json
from contextlib import closing
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


@pytest.mark.parametrize("question", ["嘉頓", "vitasoi", "creme", "soy mil", "Bread rolls"])
def test_searches_that_people_make_find_something(stack: Running, question: str) -> None:
    token = stack.ctl("tokens", "issue").strip()
    status, _, found = ask(stack, f"/index/search?q={quote(question)}", X_Service_Public_Token=token)
    assert status == 200
    assert found["count"] > 0


def test_a_footprint_follows_from_the_weight_and_the_category(stack: Running) -> None:
    token = stack.ctl("tokens", "issue").strip()
    _, _, found = ask(stack, "/index/search?q=bun+210g&limit=1", X_Service_Public_Token=token)
    _, _, record = ask(stack, f"/index/lookup/{found['data'][0]['iid']}", X_Service_Public_Token=token)
    assert record["sustainability"]["basis"] == "category_average"
    assert record["sustainability"]["co2e_kg"] > 0
    assert record["sustainability"]["waste_kg"] is None


@pytest.mark.parametrize(
    "fields",
    [
        {"X_Forwarded_For": "203.0.113.9"},
        {"X_Real_IP": "203.0.113.9"},
        {"Forwarded": "for=203.0.113.9"},
        {"True_Client_IP": "203.0.113.9"},
        {"X_Charge_Id": "0" * 32},
        {"Connection": "X-Real-IP"},
    ],
)
def test_no_header_changes_who_is_counted(stack: Running, fields: dict[str, str]) -> None:
    source = f"127.0.2.{1 + abs(hash(str(fields))) % 250}"
    _, _, quota = ask(stack, "/quota", source=source, **fields)
    assert quota["counted_as"] == source


def test_a_charge_id_of_the_callers_own_makes_nothing_free(stack: Running) -> None:
    statuses = [
        ask(stack, "/index/brands", source="127.0.3.1", X_Charge_Id="0" * 32, X_Request_Id="my-own-id-1")[0]
        for _ in range(4)
    ]
    assert statuses == [200, 200, 200, 429]


def test_the_callers_request_id_comes_back(stack: Running) -> None:
    assert ask(stack, "/health", X_Request_Id="my-own-id-1")[1]["X-Request-Id"] == "my-own-id-1"
    assert ask(stack, "/health", X_Request_Id="bad id")[1]["X-Request-Id"] != "bad id"


def test_two_credentials_are_refused_however_they_come(stack: Running) -> None:
    for fields in ({"Authorization": "ApiKey x"}, {"X_Service_Public_Token": f"{ANONYMOUS}, {ANONYMOUS}"}):
        status, _, problem = ask(stack, "/index/brands", **fields)
        assert (status, problem["type"].rsplit("/", 1)[1]) == (400, "ambiguous-credentials")


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


def test_the_docs_page_asks_no_other_host(stack: Running) -> None:
    status, head, page = ask(stack, "/docs")
    assert (status, head["Content-Type"]) == (200, "text/html; charset=utf-8")
    assert "default-src 'none'" in head["Content-Security-Policy"]
    assert b'<script src="/static/docs.js"' in page


def test_metrics_are_not_public(stack: Running) -> None:
    found = []
    for port in (stack.port, stack.state["metrics_port"]):
        with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=10)) as line:
            line.request("GET", "/metrics")
            response = line.getresponse()
            found.append((response.status, b"itemindex_requests_total" in response.read()))
    assert found == [(404, False), (200, True)]


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
