"""Which errors are the outage of a store, rather than a fault of what was being done."""

from shared.db.connect import unavailable
from shared.errors import StoreUnavailable
from workers.jobs.host_faults import is_host_fault


def store_at_fault(error: BaseException) -> str | None:
    """Name the store whose outage an error is: database, broker, results, search …; None if it is no outage."""
    if unavailable(error):
        return "database"
    if isinstance(error, StoreUnavailable):
        return error.store
    return "results" if is_host_fault(error) else None


def is_outage(error: BaseException) -> bool:
    """Return whether an error is the outage of a store: the next call meets it too, and may succeed later."""
    return store_at_fault(error) is not None
