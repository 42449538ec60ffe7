"""The documentation: pages for people, Markdown and catalogues for programs, samples of every call."""

import ast
import errno
import gzip
import html
import json
import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from marshmallow import fields

from edge.analytics.reports.declared import REPORTS
from edge.docs.guides import READERS
from edge.docs.pages import SCALAR_VERSION, Docs
from edge.http.catalogue import CATALOGUE
from edge.http.validation import fields_by_name
from shared.settings.settings import Settings
from tests.support.client import Edge, running_edge

HTML = {"Accept": "text/html,application/xhtml+xml;q=0.9,*/*;q=0.8"}
TEMPLATES = Path(__file__).parents[3] / "edge/dashboard/templates"
MARKDOWN = {"Accept": "text/markdown"}
GUIDES = sorted(path.stem for path in (Path(__file__).parents[3] / "docs/guides").glob("*.md"))


@pytest.fixture
def edge(shared_edge: Edge) -> Edge:
    """One edge for the tests that only read: it makes each document and each page once."""
    return shared_edge


class _Links(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.ids: set[str] = set()
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            self.links.append(str(given["href"]))
        if given.get("id"):
            self.ids.add(str(given["id"]))


async def at_origin(edge: Edge, path: str, **head: str) -> tuple[int, Mapping[str, str], bytes]:
    """GET a path outside of /v1 as nginx would forward it; the body as it was sent."""
    fields = {"X-Real-IP": "192.0.2.1", **head}
    async with edge.session.get(f"http://testserver{path}", headers=fields) as answer:
        return answer.status, answer.headers, await answer.read()


async def page(edge: Edge, path: str) -> str:
    answer = await edge.ask("GET", path, anonymous=False, head=HTML)
    assert answer.status == 200, path
    assert answer.head["Content-Type"] == "text/html; charset=utf-8"
    return answer.body.decode()


async def test_a_page_describes_itself_and_obeys_its_policy(edge: Edge) -> None:
    errors = ("/errors", "/errors/rate-limited")
    for path in ("/docs", "/docs/guides", "/docs/reference", *errors, *(f"/docs/guides/{one}" for one in GUIDES)):
        text = await page(edge, path)
        assert re.search(r'<meta name="description" content="[^"]{20,200}">', text), path
        assert "<title>" in text and "·" in text, path
        assert "<script>" not in text and " style=" not in text and "onclick" not in text, path
        assert 'href="/dashboard"' in text, "a person who signs up needs the way there"


async def test_no_backtick_is_shown_to_a_person(edge: Edge) -> None:
    for path in ("/docs", "/errors", "/errors/rate-limited"):
        assert "`" not in re.sub(r"<pre.*?</pre>", "", await page(edge, path), flags=re.S), path


async def test_every_link_between_guides_leads_to_a_heading_that_exists(edge: Edge) -> None:
    pages = {name: _Links(await page(edge, f"/docs/guides/{name}")) for name in GUIDES}
    for name, found in pages.items():
        for href in found.links:
            path, _, fragment = href.partition("#")
            if path.startswith("/v1/docs/guides/") and not path.endswith(".md"):
                target = path.rpartition("/")[2]
                assert target in pages, f"{name}: {href}"
                assert not fragment or fragment in pages[target].ids, f"{name}: {href}"
            elif not path:
                assert fragment in found.ids, f"{name}: {href}"
            else:
                assert href.startswith(("https://", "/")), f"{name}: {href} leads nowhere on the web"


async def test_guides_and_docs_can_be_had_as_markdown(edge: Edge) -> None:
    for path in ("/docs", "/errors", "/errors/not-found", *(f"/docs/guides/{one}" for one in GUIDES)):
        answer = await edge.ask("GET", path, anonymous=False, head=MARKDOWN)
        assert (answer.status, answer.head["Content-Type"]) == (200, "text/markdown; charset=utf-8"), path
        assert answer.body.startswith(b"#"), path
        assert "Accept" in answer.head["Vary"]
    kept = (Path(__file__).parents[3] / "docs/guides/reports.md").read_bytes()
    assert (await edge.get("/docs/guides/reports.md", anonymous=False)).body == kept
    missing = await edge.get("/docs/guides/nothing", anonymous=False, check=False)
    assert (missing.status, missing.json["type"].rpartition("/")[2]) == (404, "not-found")


async def test_the_errors_as_markdown_name_each_problem_with_its_remedy(edge: Edge) -> None:
    text = (await edge.ask("GET", "/errors", anonymous=False, head=MARKDOWN)).body.decode()
    for entry in CATALOGUE.values():
        assert f"## {entry.status} {entry.slug}\n" in text
        assert entry.remedy in text


async def test_a_document_is_compressed_once_and_known_by_its_etag(edge: Edge) -> None:
    script = f"/docs/reference/scalar-{SCALAR_VERSION}.js"
    for path in ("/openapi.json", "/docs", "/docs/reference/openapi.json", "/errors", script):
        plain = await edge.get(path, anonymous=False, head={"Accept-Encoding": "identity"})
        _, head, packed = await at_origin(edge, f"/v1{path}", **{"Accept-Encoding": "gzip"})
        assert head["Content-Encoding"] == "gzip"
        assert gzip.decompress(packed) == plain.body
        assert head["ETag"] == plain.head["ETag"]
        again = await edge.get(path, anonymous=False, head={"If-None-Match": plain.head["ETag"]})
        assert (again.status, again.body) == (304, b"")


async def test_the_reference_calls_this_origin_only(edge: Edge) -> None:
    answer = await edge.ask("GET", "/docs/reference", anonymous=False, head=HTML)
    policy = dict(one.strip().split(" ", 1) for one in answer.head["Content-Security-Policy"].split(";"))
    assert policy["connect-src"] == policy["script-src"] == "'self'"
    assert policy["style-src"] == "'self' 'unsafe-inline'"
    script = await edge.get(f"/docs/reference/scalar-{SCALAR_VERSION}.js", anonymous=False)
    assert b"createApiReference" in script.body
    assert "immutable" in script.head["Cache-Control"]


async def test_each_operation_has_a_sample_in_three_languages_that_can_be_read(edge: Edge) -> None:
    document = (await edge.get("/docs/reference/openapi.json", anonymous=False)).json
    published = (await edge.get("/openapi.json", anonymous=False)).json
    assert document["paths"].keys() == published["paths"].keys()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert "x-codeSamples" not in published["paths"][path][method], "the published document stays small"
            curl, python, typescript = (one["source"] for one in operation["x-codeSamples"])
            words = shlex.split(curl)
            assert words[0] == "curl" and words[-1].startswith("http") and "{" not in words[-1], curl
            ast.parse(python)
            assert "await fetch(" in typescript or '"itemindex-client"' in typescript, typescript
            assert typescript.count("{") == typescript.count("}"), typescript
            if "--json" in words:
                json.loads(words[words.index("--json") + 1])


async def test_the_samples_of_free_reads_are_answered(edge: Edge) -> None:
    document = (await edge.get("/docs/reference/openapi.json", anonymous=False)).json
    tried = 0
    for path in ("/v1/index/brands", "/v1/quota", "/v1/errors/{slug}", "/v1/health"):
        words = shlex.split(document["paths"][path]["get"]["x-codeSamples"][0]["source"])
        head = dict(word.split(": ", 1) for word in words if ": " in word and "://" not in word)
        answer = await edge.ask("GET", words[-1].partition("/v1")[2], anonymous=False, head=head, check=False)
        assert answer.status in (200, 429), (path, answer.body)
        tried += 1
    assert tried == 4


async def test_the_samples_of_reports_ask_what_their_examples_ask(edge: Edge) -> None:
    document = (await edge.get("/docs/reference/openapi.json", anonymous=False)).json
    for endpoint in (one for report in REPORTS for one in report.endpoints):
        curl = document["paths"][f"/v1/index{endpoint.path}"]["get"]["x-codeSamples"][0]["source"]
        url = urlsplit(shlex.split(curl)[-1])
        asked, declared = dict(parse_qsl(url.query)), fields_by_name(endpoint.query())
        query = {name: [text] if isinstance(declared[name], fields.List) else text for name, text in asked.items()}
        assert endpoint.query().validate(query) == {}, curl
        assert {*dict(parse_qsl((endpoint.example or "").partition("?")[2]))} <= asked.keys(), curl
        assert "not-found" not in url.path


async def test_the_api_catalogue_names_what_exists(edge: Edge) -> None:
    status, head, body = await at_origin(edge, "/.well-known/api-catalog")
    assert (status, head["Content-Type"].partition(";")[0]) == (200, "application/linkset+json")
    assert 'rel="api-catalog"' in head["Link"]
    [entry] = json.loads(body)["linkset"]
    assert entry["anchor"] == edge.settings.base_url
    hrefs = {one["href"] for links in entry.values() if isinstance(links, list) for one in links}
    for href in hrefs:
        path = href.removeprefix(edge.settings.base_url.removesuffix("/v1"))
        assert (await at_origin(edge, path))[0] == 200, href


async def test_security_txt_has_a_contact_and_is_not_stale(settings: Settings, tmp_path: Path) -> None:
    named = replace(settings, security_contact="mailto:security@example.org")
    async with running_edge(named, tmp_path) as edge:
        _, head, body = await at_origin(edge, "/.well-known/security.txt")
    assert head["Content-Type"] == "text/plain; charset=utf-8"
    fields = dict(line.split(": ", 1) for line in body.decode().splitlines())
    assert fields["Contact"] == "mailto:security@example.org"
    expires = datetime.fromisoformat(fields["Expires"])
    assert timedelta(days=30) < expires - datetime.now(UTC) < timedelta(days=365)


async def test_a_browser_gets_a_page_for_an_address_that_is_nothing(edge: Edge) -> None:
    answer = await edge.ask("GET", "/nonsense", anonymous=False, head=HTML, check=False)
    assert (answer.status, answer.head["Content-Type"]) == (404, "text/html; charset=utf-8")
    assert b">There is nothing at this address.<" in answer.body
    for path, text in (("/docs/guides/none", b"There is no guide"), ("/errors/none", b"There is no problem type")):
        answer = await edge.ask("GET", path, anonymous=False, head=HTML, check=False)
        assert (answer.status, answer.head["Content-Type"]) == (404, "text/html; charset=utf-8"), path
        assert text in answer.body
    program = await edge.get("/nonsense", anonymous=False, check=False)
    assert (program.status, program.head["Content-Type"]) == (404, "application/problem+json")
    [documented] = re.findall(r"/v1(/\S+)", json.loads(program.body)["detail"])
    assert (await edge.ask("GET", documented, anonymous=False, head=HTML)).status == 200


async def test_a_page_that_could_not_be_made_once_is_made_for_the_next_caller(
    settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, failures = Docs._make, [OSError(errno.EMFILE, "Too many open files")]

    def failing_once(*given: Any) -> Any:
        if failures:
            raise failures.pop()
        return make(*given)

    monkeypatch.setattr(Docs, "_make", failing_once)
    async with running_edge(settings, tmp_path) as edge:
        statuses = [(await edge.ask("GET", "/docs", anonymous=False, head=HTML)).status for _ in range(3)]
    assert statuses == [500, 200, 200]


# A path of the repository, a decision's number, a regular expression: what only its developers can follow.
OURS = re.compile(
    r"\b(?:edge|workers|shared|tests|deploy)/[\w/-]+|[Dd]ecision \d|\b00\d\d-[a-z]"
    r"|\(\?[:!=<]|\[\^|\[[a-zA-Z0]-[zZ9][^\]]*\]|\\[dsw]\b|\^\["
)


async def test_customers_read_no_path_of_the_repository_no_decision_and_no_regular_expression(edge: Edge) -> None:
    guides = [f"/docs/guides/{name}" for name in READERS["customers"]]
    for path in ("/docs", "/docs/guides", "/clients/", "/errors", *guides, *(f"/errors/{slug}" for slug in CATALOGUE)):
        page = (await edge.ask("GET", path, anonymous=False, head=HTML)).body.decode()
        text = re.sub(r"<pre[^>]*>.*?</pre>|<[^>]+>", " ", page, flags=re.DOTALL)
        assert not OURS.search(html.unescape(text)), (path, OURS.search(html.unescape(text)))
    for template in TEMPLATES.glob("*.html"):
        text = re.sub(r"{#.*?#}|{%.*?%}|{{.*?}}|<[^>]+>", " ", template.read_text(encoding="utf-8"), flags=re.DOTALL)
        assert not OURS.search(html.unescape(text)), (template.name, OURS.search(html.unescape(text)))
    reference = (await edge.get("/docs/reference/openapi.json", anonymous=False)).json
    for name, text in members(reference):
        assert name != "pattern"
        assert name not in ("description", "summary", "title") or not OURS.search(text), text


def members(document: object) -> Iterator[tuple[str, str]]:
    """Every member of a document that is a text, with its name."""
    if isinstance(document, list):
        for one in document:
            yield from members(one)
    elif isinstance(document, dict):
        for name, value in document.items():
            if isinstance(value, str):
                yield name, value
            yield from members(value)
