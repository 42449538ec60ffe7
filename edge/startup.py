"""Checks of an edge before it starts."""

from shared.errors import ConfigurationError
from shared.settings.checks import same_user
from shared.settings.settings import Settings

# gunicorn's master imports this module, so that SIGHUP does not load anew what it imports.

NEEDED = ("edge_database_url", "state_url", "cache_url", "token_pepper", "signing_secret")


def read_settings() -> Settings:
    """Read the edge's settings; raise ConfigurationError with a line for each that must not be used."""
    settings = Settings.from_environment(needed=NEEDED)
    if same_user(settings.edge_database_url, settings.database_url):
        raise ConfigurationError(
            "EDGE_DATABASE_URL has the user of DATABASE_URL, who owns the schema; use a login in itemindex_edge"
        )
    return settings


def check_role(settings: Settings) -> Settings:
    """Return the settings; raise ConfigurationError where PostgreSQL says that the edge's role owns the schema."""
    from shared.db.connect import refuse_owner  # only now: settings that are refused end a start without the driver

    refuse_owner(settings.edge_database_url)
    return settings
