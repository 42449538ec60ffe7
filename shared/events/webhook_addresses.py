"""Which addresses events may be sent to: names and addresses of the public internet. Pure.

Sources: the special-purpose registries of IANA (RFC 6890), RFC 6052 and 8215 (NAT64), RFC 6761 and 6762 (local names),
and how `inet_aton` and the URL standard read numbers as IPv4 addresses.
"""

import re
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import SplitResult, urlsplit

_GLOBAL_UNICAST = IPv6Network("2000::/3")
_NAT64 = IPv6Network("64:ff9b::/96")
# Not public, whatever the version of Python knows: protocol assignments (RFC 6890), documentation (RFC 9637), and the
# address at which every machine of Azure reaches its host.
_SPECIAL = (IPv4Network("192.0.0.0/24"), IPv6Network("3fff::/20"), IPv4Network("168.63.129.16/32"))
_NAME = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?\.)*[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?")
_NAME_CHARACTERS_MAX = 253
# A last label of this form makes `inet_aton` and browsers read the whole name as an IPv4 address.
_NUMBER = re.compile(r"[0-9]+|0x[0-9a-f]*")
_LOCAL_NAMES = ("localhost", "local", "localdomain", "internal", "intranet", "lan", "home.arpa", "onion")


def is_public(address: IPv4Address | IPv6Address) -> bool:
    """Tell whether an address is one of the public internet, also where IPv6 wraps one of IPv4."""
    if isinstance(address, IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if wrapped is None and address in _NAT64:
            wrapped = IPv4Address(address.packed[12:])
        if wrapped is not None:
            return is_public(wrapped)
        if address not in _GLOBAL_UNICAST:
            return False
    return address.is_global and not address.is_multicast and not any(address in network for network in _SPECIAL)


def url_fault(url: str, *, private_allowed: bool, plain_allowed: bool = False) -> str | None:
    """Return why an address cannot be called; None where it can.

    A name is judged again whenever it is resolved. With `private_allowed`, plain HTTP and hosts inside a network pass;
    with `plain_allowed`, plain HTTP alone.
    """
    parts = _split(url)
    if not url.isascii():
        return "has characters outside ASCII: write its host in Punycode (xn--…) and percent-encode the rest (%C3%BC)"
    if parts is None or not url.isprintable() or " " in url:
        return "is not a valid address"
    plain = private_allowed or plain_allowed
    if parts.scheme != "https" and not (plain and parts.scheme == "http"):
        return "must be an http or https address" if plain_allowed else "must be an https address"
    if parts.username is not None or parts.password is not None or "#" in url:
        return "must have no user name, password or fragment"
    host = parts.hostname or ""
    try:
        public = is_public(ip_address(host))
    except ValueError:
        if len(host) > _NAME_CHARACTERS_MAX or _NAME.fullmatch(host) is None or _is_number(host):
            return "must have a name of the DNS, without a dot at its end, or a complete IP address as its host"
        public = "." in host and not any(f".{host}".endswith(f".{local}") for local in _LOCAL_NAMES)
    return None if private_allowed or public else "must be on the public internet"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        return parts if parts.hostname and parts.port != 0 else None
    except ValueError:
        return None


def _is_number(host: str) -> bool:
    return _NUMBER.fullmatch(host.rpartition(".")[2]) is not None
