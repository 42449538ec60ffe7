"""Which addresses a webhook may have."""

from ipaddress import ip_address

from shared.events.webhook_addresses import is_public, url_fault


def test_an_address_inside_a_network_is_not_public() -> None:
    for address in (
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
        "192.0.0.192",
        "3fff::1",
        "168.63.129.16",
        "::ffff:168.63.129.16",
    ):
        assert not is_public(ip_address(address)), address
        literal = f"[{address}]" if ":" in address else address
        assert url_fault(f"https://{literal}/hook", private_allowed=False) is not None, address


def test_an_address_of_the_internet_is_public() -> None:
    for address in ("8.8.8.8", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"):
        assert is_public(ip_address(address)), address


def test_a_host_that_resolvers_could_read_in_another_way_is_refused() -> None:
    for host in (
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
    ):
        assert url_fault(f"https://{host}/hook", private_allowed=False) is not None, host
        assert url_fault(f"https://{host}/hook", private_allowed=True) is not None, host


def test_an_address_outside_ascii_is_refused_with_the_form_in_which_it_is_accepted() -> None:
    for url in ("https://bücher.example.org/", "https://example.org/für", "https://例え.jp/?q=é"):
        fault = url_fault(url, private_allowed=False)
        assert fault is not None and "Punycode" in fault and "percent-encode" in fault, url
    assert "bücher.example.org".encode("idna").decode() == "xn--bcher-kva.example.org"
    assert url_fault("https://xn--bcher-kva.example.org/f%C3%BCr", private_allowed=False) is None


def test_a_name_of_a_local_network_is_refused() -> None:
    for host in ("localhost", "a.localhost", "printer.local", "db.internal", "router.home.arpa", "db"):
        assert url_fault(f"https://{host}/hook", private_allowed=False) == "must be on the public internet", host
        assert url_fault(f"http://{host}/hook", private_allowed=True) is None, host


def test_an_address_of_a_public_host_is_accepted() -> None:
    for url in (
        "https://example.org",
        "https://Hooks.Example.ORG:8443/a%20b?c=d",
        "https://xn--bcher-kva.example.org/",
        "https://_hooks.1password.example.org/",
        "https://8.8.8.8/hook",
        "https://[2606:4700::1111]/hook",
        "https://notlocalhost.org/",
    ):
        assert url_fault(url, private_allowed=False) is None, url


def test_an_address_with_parts_that_readers_disagree_about_is_refused() -> None:
    for url in (
        "https://example.org\\@127.0.0.1/",
        "https://example.org@127.0.0.1/",
        "https://example.org/#",
        "https://example.org:0/",
        "https://example.org:65536/",
        "https://[::1/",
        "https:///hook",
        "https://exämple.org/",
        "https://example.org/\r\nX: y",
    ):
        assert url_fault(url, private_allowed=True) is not None, url


def test_plain_http_is_for_tests_alone() -> None:
    assert url_fault("http://example.org/hook", private_allowed=False) == "must be an https address"
    assert url_fault("https://example.org/hook", private_allowed=False) is None
