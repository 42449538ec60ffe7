"""How the keys of both stores are spelled. The hash tag keeps all keys of one account on one shard of a cluster."""

from hashlib import blake2b

RUN_MARKER = "m:run"
"""A value that stays as long as the state store keeps what it holds; it is lost with everything else."""
MAY_WRITE = "#!lua\nreturn 1"
"""A script that declares no flags may write, so every server that refuses writes refuses it; it writes none."""


def quota_prefix(account: str) -> str:
    """Beginning of the hash of an account's counters; the charge script adds the day: the store has the clock."""
    return f"q:{{{account}}}:"


def quota(account: str, day: int) -> str:
    """Hash of an account's counters on a UTC day (days since 1970): n units, s last second, b units in it."""
    return f"{quota_prefix(account)}{day}"


def charge_marker(account: str, charge_id: str) -> str:
    """Marker of a charge already taken, its units and their second: a retry or a lost reply must not charge twice."""
    return f"c:{{{account}}}:{charge_id}"


def snapshot(data_version: int, committed_at: str) -> str:
    """One data_version of one database: after a restore its number comes again, with another moment."""
    return f"{data_version}-{blake2b(committed_at.encode(), digest_size=6).hexdigest()}"


def record(layout: int, snapshot: str, iid: str) -> str:
    """A record's bytes in one layout as of one snapshot; older ones fall out by themselves."""
    return f"r{layout}:{snapshot}:{iid}"


def identifier(layout: int, snapshot: str, key: str) -> str:
    """The items that an identifier leads to as of one snapshot, under a hash: an address may be long."""
    return f"i{layout}:{snapshot}:{blake2b(key.encode(), digest_size=16).hexdigest()}"


def request_log(organization_id: str) -> str:
    """List of an organization's last calls, the newest first."""
    return f"rl:{organization_id}"


def refund_marker(account: str, charge_id: str) -> str:
    """Marker of an order's charge that was refunded: a refund asked twice is made once."""
    return f"f:{{{account}}}:{charge_id}"


def session(digest: str) -> str:
    """A dashboard session, under the hash of its cookie: reading the store gives no session."""
    return f"s:{digest}"


def sessions_of(person_id: str) -> str:
    """Hash of a person's sessions: the digest of each cookie, and how the session began. It may name ended ones."""
    return f"sp:{person_id}"


def provider_session(digest: str) -> str:
    """The person behind a session of the identity provider, under the hash of its `sid`."""
    return f"sid:{digest}"


def logout_notice(digest: str) -> str:
    """Marker of a logout token that was obeyed, under the hash of its `jti`."""
    return f"lo:{digest}"


def flash(digest: str, page: str) -> str:
    """A secret that a page of a session shows once, sealed with the session's cookie."""
    return f"fl:{digest}:{page}"


def sign_in(digest: str) -> str:
    """A sign-in on its way to the provider and back, under the hash of its `state`."""
    return f"si:{digest}"


def single_use(value: bytes) -> str:
    """Marker of a value that is read once, by its hash: the caller that has it."""
    return f"tk:{blake2b(value, digest_size=16).hexdigest()}"
