"""Which node of a Redis cluster owns a key: hash slots and the slot table. Pure.

Source: the cluster specification of Redis and Valkey. CRC-16/XMODEM is `binascii.crc_hqx`.
"""

from binascii import crc_hqx
from collections.abc import Iterable
from typing import NamedTuple, TypeAlias

SLOTS = 16_384
NodeAddress = tuple[str, int]
# Of a node, its host and its port come first; of a range of slots, its ends, its primary and its replicas.
NodeReply: TypeAlias = tuple[bytes | None, int, *tuple[object, ...]]
SlotsReply: TypeAlias = Iterable[tuple[int, int, NodeReply, *tuple[NodeReply, ...]]]
_WITHOUT_KEY = frozenset({b"PING", b"SCRIPT"})


class Shard(NamedTuple):
    """A range of slots, its primary, and the replicas that may be promoted."""

    first: int
    last: int
    primary: NodeAddress
    replicas: tuple[NodeAddress, ...]


def slot_of(key: bytes) -> int:
    """Return a key's slot. Only the hash tag between the first `{` and the next `}` counts, if it is not empty."""
    begin = key.find(b"{")
    if begin >= 0:
        end = key.find(b"}", begin + 1)
        if end > begin + 1:
            key = key[begin + 1 : end]
    return crc_hqx(key, 0) % SLOTS


def key_of(packed: bytes) -> bytes | None:
    """Return the first key of a packed command, or None for a command that is sent to every primary.

    Keys and the arguments before them contain no line end, except the text of a script.
    """
    # *3 $3 SET $1 k …, and *7 $7 EVALSHA $40 <digest> $1 2 $1 k …: one split is a tenth of a parse.
    parts = packed.split(b"\r\n", 9)
    name = parts[2]
    if name == b"EVALSHA":
        return parts[8]
    if name == b"EVAL":
        return _key_after_script(packed, len(parts[0]) + len(parts[1]) + len(name) + 6)
    return None if name in _WITHOUT_KEY else parts[4]


def read_slots(reply: SlotsReply, requested: str) -> list[Shard]:
    """Read the reply to CLUSTER SLOTS. A node without a host is on the host that was `requested`."""
    return [
        Shard(first, last, _where(primary, requested), tuple(_where(replica, requested) for replica in replicas))
        for first, last, primary, *replicas in reply
    ]


def read_redirection(text: str, requested: str) -> NodeAddress:
    """Return the node that `MOVED 3999 host:port` or `ASK …` names."""
    host, _, port = text.split(" ")[2].rpartition(":")
    return host.strip("[]") or requested, int(port)


def _key_after_script(packed: bytes, at: int) -> bytes | None:
    """Return the first key behind the script's text and the number of keys; None for a script without one."""
    begin = packed.index(b"\r\n", at) + 2
    end = begin + int(packed[at + 1 : begin - 2])
    _, _, keys, *rest = packed[end:].split(b"\r\n", 5)
    return None if keys == b"0" else rest[1]


def _where(node: NodeReply, requested: str) -> NodeAddress:
    host = (node[0] or b"").decode()
    return (host if host not in ("", "?") else requested), int(node[1])
