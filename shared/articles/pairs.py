"""The statements about pairs."""

from shared.db.queries import beside

SQL = beside(__file__, "pairs.sql")
STATES = ("waiting", "linked", "accepted", "rejected")
"""Of a pair: it waits for a person, it was linked without one, or a person decided."""
