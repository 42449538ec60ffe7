"""What is derived from the index of items and laid out anew by some versions: brought into the layout of this one."""

from collections.abc import Callable

from shared.db.connect import connect
from shared.index.identifiers import LAYOUT
from shared.objects.open import open_object_store
from shared.search.directory import is_of_former_format
from shared.settings.settings import Settings
from workers.analytics.rollups import layout
from workers.provenance import events, identifiers
from workers.search.build import make_index


def bring_up_to_date(settings: Settings, report: Callable[[str], object]) -> None:
    """Compute anew what only another version can read, and report each in a sentence.

    The migrations must have been applied. Loads wait, but for the time in which a search index is built.
    """
    with connect(settings.database_url, application="migrate") as connection:
        events.lock(connection)
        if layout.ensure(connection):
            report("derived what the reports read, in the layout of this version")
        identifiers.ensure(connection)
    if is_of_former_format(settings.search_dir, LAYOUT):
        objects = open_object_store(settings) if settings.search_in_store else None
        make_index(settings.database_url, settings.search_dir, objects=objects)
        report("built the search index, in the format of this version")
