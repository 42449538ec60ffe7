"""Which addresses webhooks may be sent to."""

from ipaddress import ip_address

import pytest

from edge.webhooks.service import url_fault
from shared.webhooks import is_public


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
    ],
)
def test_an_address_inside_a_network_is_not_public(address: str) -> None:
    assert not is_public(ip_address(address))
    literal = f"[{address}]" if ":" in address else address
    assert url_fault(f"https://{literal}/hook", private_allowed=False) is not None


@pytest.mark.parametrize("address", ["8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_an_address_of_the_internet_is_public(address: str) -> None:
    assert is_public(ip_address(address))


def test_plain_http_is_for_tests_alone() -> None:
    assert url_fault("http://example.org/hook", private_allowed=False) == "must be an https address"
    assert url_fault("https://example.org/hook", private_allowed=False) is None
