"""What is derived from the claims and the observations, brought into the layout that this code reads and writes."""

from shared.db.connect import Connection
from workers.analytics.rollups import layout
from workers.provenance import identifiers


def ensure(connection: Connection) -> bool:
    """Derive anew rollups of another layout, and identifiers and contents that are missing.

    Return whether there were such rollups. Needs the lock of loads. Commits.
    """
    from workers.analytics import stated_contents  # needs numpy, which commands that start or wait must not

    derived = layout.ensure(connection)
    identifiers.ensure(connection)
    stated_contents.ensure(connection)
    return derived
