"""Checks of an edge before it starts.

gunicorn's master imports this module, so that SIGHUP does not load anew what it imports.
"""

from shared.config import Settings
from shared.config_checks import same_user
from shared.errors import ConfigurationError

NEEDED = ("edge_database_url", "state_url", "cache_url", "token_pepper", "signing_secret")


def checked_settings() -> Settings:
    """Read the edge's settings; raise ConfigurationError with a line for each that must not be used."""
    settings = Settings.from_environment()
    settings.require(*NEEDED)
    if same_user(settings.edge_database_url, settings.database_url):
        raise ConfigurationError(
            "EDGE_DATABASE_URL has the user of DATABASE_URL, who owns the schema; use a login in itemindex_edge"
        )
    return settings


def check_role(settings: Settings) -> Settings:
    """Return the settings; raise ConfigurationError where PostgreSQL says that the edge's role owns the schema."""
    from shared.db.role import refuse_owner  # only here: it loads a driver that the edge's processes do not use

    refuse_owner(settings.edge_database_url, "EDGE_DATABASE_URL")
    return settings
