"""Which addresses webhooks may be sent to."""

from ipaddress import ip_address

import pytest

from shared.events.webhooks import is_public, url_fault


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1",
        "10.1.2.3",
        "172.16.0.1",
        "192.168.1.1",
        "169.254.169.254",
        "100.64.0.1",
        "0.0.0.0",
        "224.0.0.1",
        "255.255.255.255",
        "::1",
        "::",
        "fe80::1",
        "fc00::1",
        "ff02::1",
        "::ffff:127.0.0.1",
        "2002:7f00:1::",
        "64:ff9b::7f00:1",
        "192.0.2.1",
        "240.0.0.1",
        "::127.0.0.1",
        "fec0::1",
        "64:ff9b:1::a00:1",
        "2001:db8::1",
        "2001:0:7f00:1::1",
    ],
)
def test_an_address_inside_a_network_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
    literal = f"[{address}]" if ":" in address else address
    assert url_fault(f"https://{literal}/hook", private_allowed=False) is not None


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


@pytest.mark.parametrize(
    "host",
    [
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "0x7f.0.0.0x1",
        "example.0x7f",
        "1.2.3.4.5",
        "127.0.0.1.",
        "example.org.",
        "localhost.",
        "%31%32%37.0.0.1",
        "example..org",
        "-.example.org",
        "exa mple.org",
        f"{'a' * 64}.org",
        "a." * 127 + "org",
    ],
)
@pytest.mark.parametrize("private_allowed", [False, True])
def test_a_host_that_resolvers_could_read_in_another_way_is_refused(host: str, private_allowed: bool) -> None:
    assert url_fault(f"https://{host}/hook", private_allowed=private_allowed) is not None


@pytest.mark.parametrize("host", ["localhost", "a.localhost", "printer.local", "db.internal", "router.home.arpa", "db"])
def test_a_name_of_a_local_network_is_refused(host: str) -> None:
    assert url_fault(f"https://{host}/hook", private_allowed=False) == "must be on the public internet"
    assert url_fault(f"http://{host}/hook", private_allowed=True) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org",
        "https://Hooks.Example.ORG:8443/a%20b?c=d",
        "https://xn--bcher-kva.example.org/",
        "https://_hooks.1password.example.org/",
        "https://8.8.8.8/hook",
        "https://[2606:4700::1111]/hook",
        "https://notlocalhost.org/",
    ],
)
def test_an_address_of_a_public_host_is_accepted(url: str) -> None:
    assert url_fault(url, private_allowed=False) is None


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org\\@127.0.0.1/",
        "https://example.org@127.0.0.1/",
        "https://example.org/#",
        "https://example.org:0/",
        "https://example.org:65536/",
        "https://[::1/",
        "https:///hook",
        "https://exämple.org/",
        "https://example.org/\r\nX: y",
    ],
)
def test_an_address_with_parts_that_readers_disagree_about_is_refused(url: str) -> None:
    assert url_fault(url, private_allowed=True) is not None


def test_plain_http_is_for_tests_alone() -> None:
    assert url_fault("http://example.org/hook", private_allowed=False) == "must be an https address"
    assert url_fault("https://example.org/hook", private_allowed=False) is None
