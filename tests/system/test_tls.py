"""The service by TLS: with the certificate that `itemindex up --tls` makes, and with an authority's in an installation."""

import http.client
import json
import re
import socket
import ssl
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urljoin, urlsplit

import h2.config
import h2.connection
import h2.events
import pytest
import requests

from tests.system.conftest import Running, start

pytestmark = pytest.mark.xdist_group("tls")
HSTS = "max-age=31536000"
ANONYMOUS = "iixp_anon_ItemIndex0PublicAccessWithoutSignUp4Anyone3ZeZnK"


@pytest.fixture(scope="module")
def secured(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = start(tmp_path_factory.mktemp("tls"), "--tls", "--no-demo")
    yield running
    running.ctl("down")


def certificate(stack: Running) -> Path:
    return stack.folder / "tls" / "cert.pem"


def verifying(stack: Running) -> ssl.SSLContext:
    """A client that trusts this certificate alone and checks the host's name, as browsers do."""
    return ssl.create_default_context(cafile=str(certificate(stack)))


def ask(stack: Running, path: str, **fields: str) -> tuple[int, Any, bytes]:
    line = http.client.HTTPSConnection("127.0.0.1", stack.port, timeout=10, context=verifying(stack))
    line.request("GET", path, headers=fields)
    response = line.getresponse()
    body = response.read()
    line.close()
    return response.status, response.headers, body


def test_a_verifying_client_is_answered_and_links_are_https(secured: Running) -> None:
    status, _, body = ask(secured, "/v1/index/brands", **{"X-Service-Public-Token": ANONYMOUS})
    assert status == 200, body
    assert json.loads(ask(secured, "/v1/openapi.json")[2])["servers"][0]["url"] == f"https://127.0.0.1:{secured.port}"
    assert secured.state["base_url"] == f"https://127.0.0.1:{secured.port}/v1"


def test_a_client_that_does_not_know_the_certificate_refuses_it(secured: Running) -> None:
    line = http.client.HTTPSConnection("127.0.0.1", secured.port, timeout=10, context=ssl.create_default_context())
    with pytest.raises(ssl.SSLCertVerificationError):
        line.request("GET", "/v1/health")


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/v1/health", 200),
        ("/v1/docs", 200),
        ("/static/docs.js", 200),
        ("/v1/nothing", 404),
        ("/nothing", 404),
        ("/", 200),
        ("/v1/index/brands/", 308),
        ("/v1/index/brands", 401),
        ("/dashboard", 303),
    ],
)
def test_every_answer_of_every_layer_has_hsts(secured: Running, path: str, status: int) -> None:
    found, fields, _ = ask(secured, path, Accept="text/html" if path == "/" else "*/*")
    assert (found, fields.get_all("Strict-Transport-Security")) == (status, [HSTS])


def test_a_host_that_we_are_not_is_refused(secured: Running) -> None:
    assert ask(secured, "/v1/health", Host="elsewhere.example")[0] == 421


def test_plain_http_to_the_same_port_is_a_problem_document(secured: Running) -> None:
    line = http.client.HTTPConnection("127.0.0.1", secured.port, timeout=10)
    line.request("GET", "/v1/health")
    response = line.getresponse()
    assert (response.status, response.getheader("Content-Type")) == (400, "application/problem+json")


def test_http_2_is_spoken(secured: Running) -> None:
    context = verifying(secured)
    context.set_alpn_protocols(["h2", "http/1.1"])
    with socket.create_connection(("127.0.0.1", secured.port), timeout=10) as raw:
        with context.wrap_socket(raw, server_hostname="127.0.0.1") as line:
            assert line.selected_alpn_protocol() == "h2"
            talk = h2.connection.H2Connection(h2.config.H2Configuration(header_encoding="utf-8"))
            talk.initiate_connection()
            host = f"127.0.0.1:{secured.port}"
            asked = [(":method", "GET"), (":path", "/v1/health"), (":scheme", "https"), (":authority", host)]
            talk.send_headers(talk.get_next_available_stream_id(), asked, end_stream=True)
            line.sendall(talk.data_to_send())
            fields = dict(next(headers_of(line, talk)))
    assert (fields[":status"], fields["strict-transport-security"]) == ("200", HSTS)


def headers_of(line: ssl.SSLSocket, talk: h2.connection.H2Connection) -> Iterator[Any]:
    while data := line.recv(65_536):
        for event in talk.receive_data(data):
            if isinstance(event, h2.events.ResponseReceived):
                yield event.headers


@pytest.mark.filterwarnings("ignore:ssl.TLSVersion:DeprecationWarning")
def test_old_protocols_are_refused(secured: Running) -> None:
    context = verifying(secured)
    context.minimum_version, context.maximum_version = ssl.TLSVersion.MINIMUM_SUPPORTED, ssl.TLSVersion.TLSv1_1
    context.set_ciphers("ALL:@SECLEVEL=0")
    with (
        socket.create_connection(("127.0.0.1", secured.port), timeout=10) as raw,
        pytest.raises((ssl.SSLError, OSError)),
    ):
        context.wrap_socket(raw, server_hostname="127.0.0.1")


def test_a_person_signs_in_with_cookies_that_only_tls_carries(secured: Running) -> None:
    people = json.loads((secured.folder / "identity.json").read_text())["passwords"]
    session = requests.Session()
    session.trust_env = False  # a bundle of the environment's would take the place of `verify`
    session.verify = str(certificate(secured))
    page = session.get(f"https://127.0.0.1:{secured.port}/dashboard/sign-in", timeout=10)
    sent = parse_qs(urlsplit(page.history[0].headers["Location"]).query)
    assert sent["redirect_uri"] == [f"https://127.0.0.1:{secured.port}/dashboard/sign-in/callback"]
    for _ in range(4):
        if "/dashboard" in urlsplit(page.url).path:
            break
        page = submitted(session, page, people["ada"])
    assert "Ada" in page.text and page.url.startswith(f"https://127.0.0.1:{secured.port}/dashboard")
    [cookie] = [one for one in session.cookies if one.path == "/dashboard"]
    assert cookie.secure and cookie.name.startswith("__Secure-")


def submitted(session: requests.Session, page: requests.Response, password: str) -> requests.Response:
    """Fill in the one form of the provider's page that asks for something: name, password, or consent."""
    form = re.search(r"<form[^>]*method=\"post\"[^>]*>.*?</form>", page.text, re.S | re.I)
    assert form, page.text
    known = {"login": "ada", "password": password}
    values = {}
    for tag in re.findall(r"<(?:input|button)[^>]*>", form[0]):
        named = dict(re.findall(r'(\w+)="([^"]*)"', tag))
        if "name" in named and named["name"] not in values:
            values[named["name"]] = known.get(named["name"], named.get("value", ""))
    action = re.search(r'action="([^"]*)"', form[0].split(">", 1)[0])
    return session.post(urljoin(page.url, action[1] if action else ""), values, timeout=10)


def test_the_key_is_readable_by_its_owner_alone_and_kept(secured: Running) -> None:
    key = secured.folder / "tls" / "key.pem"
    assert stat.S_IMODE(key.stat().st_mode) == 0o600


def test_doctor_looks_through_tls(secured: Running) -> None:
    findings = {finding["part"]: finding for finding in json.loads(secured.ctl("doctor", "--json", check=False))}
    assert findings["anonymous"]["ok"] and "front" not in findings
