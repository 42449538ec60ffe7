"""How the keys of both stores are spelled. The hash tag keeps all keys of one account on one shard of a cluster."""


def quota(account: str, day: str) -> str:
    """Hash of an account's counters for one UTC day (`YYYYMMDD`): the date is in the key, so no counter can stick."""
    return f"q:{{{account}}}:{day}"


def quota_prefix(account: str) -> str:
    """What the charge script completes with the day, because only the store knows which day it is."""
    return f"q:{{{account}}}:"


def charge_marker(account: str, charge_id: str) -> str:
    """Marker of a charge already taken: a proxy's retry or a lost reply must not charge twice."""
    return f"c:{{{account}}}:{charge_id}"


def record(data_version: int, iid: str) -> str:
    """A record's bytes as of one data_version; older ones fall out by themselves."""
    return f"r:{data_version}:{iid}"
