"""The acts' SQL, for both ways of running it."""

from shared.db.queries import beside

SQL = beside(__file__, "organizations.sql")
