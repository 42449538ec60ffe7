"""The account of a load: every row and every figure that was read is in exactly one place, or the load fails."""

from collections.abc import Mapping
from dataclasses import dataclass

from shared.errors import LoadRefused


@dataclass(frozen=True, slots=True)
class Account:
    """The outcomes of all that a load read of one kind; they add up to `read`.

    `superseded` were replaced by a later row of the same load; `absent` are rows that bring nothing of the kind.
    """

    kind: str
    read: int
    new: int = 0
    replaced: int = 0
    same: int = 0
    superseded: int = 0
    absent: int = 0
    rejected: int = 0

    @property
    def outcomes(self) -> tuple[int, ...]:
        """How much has each outcome."""
        return (self.new, self.replaced, self.same, self.superseded, self.absent, self.rejected)

    @property
    def accounted(self) -> int:
        """How much has an outcome."""
        return sum(self.outcomes)


def accounts(counts: Mapping[str, int]) -> list[Account]:
    """Return the accounts of the kinds that a load's counts speak of; the first one is of rows."""

    def of(kind: str, read: int, **also: int) -> Account:
        parts = ("new", "replaced", "same", "superseded", "absent", "rejected")
        return Account(kind, read, **({part: counts.get(f"{kind}_{part}", 0) for part in parts} | also))

    used, rejected = counts.get("rows_used", 0), counts.get("rejected", 0)
    listed = [Account("rows", counts.get("rows", 0), new=used, rejected=rejected)]
    if "items_read" in counts:
        listed.append(of("items", counts["items_read"], replaced=counts.get("items_changed", 0)))
    if counts.get("observation_tables"):
        tables = counts["observation_tables"]
        lost = counts.get("observations_rejected", 0) + tables * rejected
        listed.append(of("observations", tables * counts.get("rows", 0), rejected=lost))
    return listed + [of(kind, counts[f"{kind}_read"]) for kind in ("impacts", "factors") if f"{kind}_read" in counts]


def uses_anything(counts: Mapping[str, int], rows: int, fields_rejected: int) -> bool:
    """Whether a load can use anything that it read. Rows that are empty by intent are used, and bring nothing."""
    brought = accounts(counts)[1:]
    if any(account.new or account.replaced or account.same or account.superseded for account in brought):
        return True
    return rows > 0 and counts.get("rows_used", 0) > 0 and not fields_rejected


def check(counts: Mapping[str, int]) -> None:
    """Raise LoadRefused where an account does not add up: something was lost or counted twice."""
    for account in accounts(counts):
        if account.accounted != account.read or min(account.outcomes) < 0:
            raise LoadRefused(
                f"the load does not add up: {account.read:,} {account.kind} read, {account.accounted:,} have an "
                f"outcome; nothing of it was kept, and this is a fault of the program ({account})"
            )
