"""Hosts of their own on one machine: network namespaces, joined by switches that nothing else is joined to.

By the kernel's own calls (setns, rtnetlink), because `ip` is not everywhere. A namespace is held by a file descriptor
and the processes in it; when they end it is gone, so nothing is left behind however a drill ends.
Source: man pages setns(2), rtnetlink(7), veth(4); linux/if_link.h.
"""

import contextlib
import ctypes
import os
import socket
import struct
from collections.abc import Iterator, Mapping

_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)
_NEW_LINK, _NEW_ADDRESS, _DEL_ADDRESS = 16, 20, 21
_REQUEST, _ACK, _CREATE, _EXCLUSIVE = 0x1, 0x4, 0x400, 0x200
_NAME, _MASTER, _LINK_INFO, _NAMESPACE = 3, 10, 18, 28
_INFO_KIND, _INFO_DATA, _PEER = 1, 2, 1
_IFA_ADDRESS, _IFA_LOCAL = 1, 2
_UP = 1
_ERROR = 2
_NETWORK_BITS = 24


class Host:
    """One host: a namespace with its own links, addresses and loopback."""

    def __init__(self, name: str) -> None:
        self.name = name
        home = _namespace_of_this_thread()
        try:
            _call(_LIBC.unshare(_CLONE_NEWNET), "a network namespace")
            self.namespace = _namespace_of_this_thread()
            _set_up("lo")
        finally:
            _enter(home)
            os.close(home)

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Have this thread on the host: what it starts, threads and processes, is there too and stays there."""
        home = _namespace_of_this_thread()
        _enter(self.namespace)
        try:
            yield
        finally:
            _enter(home)
            os.close(home)

    def close(self) -> None:
        """Let go of the namespace; it ends with the last process in it."""
        os.close(self.namespace)


class Network:
    """Hosts, and a switch for each network that they are on."""

    def __init__(self, networks: Mapping[str, str]) -> None:
        self._prefixes = networks
        self._hub = Host("hub")
        self.hosts: dict[str, Host] = {}
        with self._hub.entered():
            for network in networks:
                _link(network, "bridge")
                _set_up(network)

    def add(self, name: str, **numbers: list[int]) -> Host:
        """Add a host with its numbers in each network: `add("edge-1", front=[11], back=[11])`."""
        host = self.hosts[name] = Host(name)
        for network, listed in numbers.items():
            with self._hub.entered():
                port = _port(network, name)
                _pair(port, network, host.namespace)
                _set_up(port, master=socket.if_nametoindex(network))
            with host.entered():
                _set_up(network)
                for number in listed:
                    _address(_NEW_ADDRESS, network, self.address(network, number), _NETWORK_BITS)
        return host

    def address(self, network: str, number: int) -> str:
        """Return the address of a number in a network."""
        return f"{self._prefixes[network]}.{number}"

    def silence(self, name: str, network: str, *, healed: bool = False) -> None:
        """Pull the host's plug out of a switch: what it sends and what it is sent vanishes. `healed` puts it back."""
        with self._hub.entered():
            _set_up(_port(network, name), up=healed)

    def refuse(self, name: str, address: str, *, healed: bool = False) -> None:
        """Have the host take another's address for its own: who calls there is refused, and open lines are reset."""
        with self.hosts[name].entered():
            _address(_DEL_ADDRESS if healed else _NEW_ADDRESS, "lo", address, 32)

    def close(self) -> None:
        """Let go of everything."""
        for host in (self._hub, *self.hosts.values()):
            host.close()


def obstacle() -> str | None:
    """Return why hosts cannot be made here, or None where they can."""
    try:
        network = Network({"try": "10.79.0"})
    except OSError as error:
        return f"{error.strerror}: it takes root, or `unshare --user --map-root-user --net`"
    try:
        network.add("one", **{"try": [1]})
    except OSError as error:
        return f"the kernel has no bridge or veth: {error.strerror}"
    finally:
        network.close()
    return None


def _namespace_of_this_thread() -> int:
    return os.open("/proc/thread-self/ns/net", os.O_RDONLY | os.O_CLOEXEC)


def _enter(namespace: int) -> None:
    _call(_LIBC.setns(namespace, _CLONE_NEWNET), "setns")


def _call(result: int, what: str) -> None:
    if result:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), what)


def _port(network: str, host: str) -> str:
    return f"{network[:1]}-{host}"[:15]


def _link(name: str, kind: str, details: bytes = b"") -> None:
    info = _attribute(_INFO_KIND, kind.encode()) + (_attribute(_INFO_DATA, details) if details else b"")
    body = _link_header() + _attribute(_NAME, name.encode() + b"\0") + _attribute(_LINK_INFO, info)
    _ask(_NEW_LINK, _CREATE | _EXCLUSIVE, body)


def _pair(name: str, peer: str, namespace: int) -> None:
    there = _attribute(_NAME, peer.encode() + b"\0") + _attribute(_NAMESPACE, struct.pack("=I", namespace))
    _link(name, "veth", _attribute(_PEER, _link_header() + there))


def _set_up(name: str, *, up: bool = True, master: int = 0) -> None:
    body = _link_header(socket.if_nametoindex(name), _UP if up else 0)
    _ask(_NEW_LINK, 0, body + (_attribute(_MASTER, struct.pack("=I", master)) if master else b""))


def _address(kind: int, link: str, address: str, bits: int) -> None:
    packed = socket.inet_aton(address)
    body = struct.pack("=BBBBI", socket.AF_INET, bits, 0, 0, socket.if_nametoindex(link))
    body += _attribute(_IFA_LOCAL, packed) + _attribute(_IFA_ADDRESS, packed)
    _ask(kind, _CREATE | _EXCLUSIVE if kind == _NEW_ADDRESS else 0, body)


def _link_header(index: int = 0, flags: int = 0) -> bytes:
    return struct.pack("=BxHiII", socket.AF_UNSPEC, 0, index, flags, _UP)


def _attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def _ask(kind: int, flags: int, body: bytes) -> None:
    """Send one request to the kernel and wait for its word; raise OSError with its reason."""
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as line:
        line.send(struct.pack("=IHHII", 16 + len(body), kind, _REQUEST | _ACK | flags, 1, 0) + body)
        answer = line.recv(65_536)
    assert struct.unpack_from("=H", answer, 4)[0] == _ERROR  # an acknowledgement is an error of 0
    number = -struct.unpack_from("=i", answer, 16)[0]
    if number:
        raise OSError(number, os.strerror(number), "rtnetlink")
