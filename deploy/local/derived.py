"""Brings data that are derived from the items into the layout of this version."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from shared.db.connect import connect
from shared.index.identifiers import LAYOUT
from shared.objects.open import open_object_store
from shared.search.layout import manifests
from shared.settings.settings import Settings
from workers.provenance import events, layouts

if TYPE_CHECKING:
    from workers.search.job import ReportProgress


def bring_up_to_date(settings: Settings, report: Callable[[str], object]) -> None:
    """Compute anew what only another version can read, and report each in a sentence.

    The migrations must have been applied. Loads wait, but for the time in which a search index is built.
    """
    with connect(settings.database_url, application="migrate") as connection:
        events.lock(connection)
        if layouts.ensure(connection):
            report("derived what the reports read, in the layout of this version")
    if manifests(settings.search_dir):
        from shared.search.directory import is_of_former_format  # only now: it loads numpy

        if is_of_former_format(settings.search_dir, LAYOUT):
            update_search_index(settings)
            report("built the search index, in the format of this version")


def update_search_index(
    settings: Settings, report_progress: "ReportProgress" = lambda stage, done, total: None
) -> dict[str, object]:
    """Bring the search index to the newest data_version, also in the object store if edges take it from there."""
    from workers.search.job import make_index

    objects = open_object_store(settings) if settings.search_in_store else None
    return make_index(settings.database_url, settings.search_dir, report_progress, objects)
