"""What is derived from the claims and the observations, brought into the layout that this code reads and writes."""

from shared.db.connect import Connection
from workers.analytics.rollups import layout
from workers.provenance import identifiers


def ensure(connection: Connection) -> bool:
    """Derive anew rollups of another layout and identifiers that are missing; return whether there were such rollups.

    Needs the lock of loads. Commits.
    """
    derived = layout.ensure(connection)
    identifiers.ensure(connection)
    return derived
