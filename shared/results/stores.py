"""Which store the settings ask for: a directory, or S3 where a bucket is named."""

from shared.config import Settings
from shared.results.store import DirectoryStore, ResultStore


def store_of(settings: Settings) -> ResultStore:
    """Return the store of results, exports and releases; nothing is opened or asked yet."""
    if not settings.s3_bucket:
        return DirectoryStore(settings.results_dir)
    # Only who uses it pays for loading it.
    from shared.results.s3 import S3Store

    return S3Store(
        settings.s3_bucket,
        endpoint=settings.s3_endpoint,
        region=settings.s3_region,
        key_id=settings.s3_access_key_id,
        secret=settings.s3_secret_access_key,
    )
