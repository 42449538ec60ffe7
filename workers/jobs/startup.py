"""The settings of a worker or a dispatcher: what it needs, and what it must not start with."""

from collections.abc import Collection

from shared.settings.settings import Settings, settings_or_exit

NEEDED = ("worker_database_url", "state_url", "broker_url")


def settings_at_start(more: Collection[str] = (), secret_files: Collection[str] = ()) -> Settings:
    """Return the settings of the environment, or end the process with a line for each that must not be used.

    `more` are further ones that the process needs, `secret_files` those whose file it reads.
    """
    return settings_or_exit(lambda: Settings.from_environment(needed=(*NEEDED, *more), secret_files=secret_files))
