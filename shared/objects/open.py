"""Which store the settings ask for: a directory, or S3 where a bucket is named."""

from shared.objects.directory import DirectoryStore, ResultStore
from shared.settings.settings import Settings

_PATIENT_SECONDS = 30.0


def open_object_store(settings: Settings, answer_seconds: float = _PATIENT_SECONDS) -> ResultStore:
    """Return the store of results, exports and releases; nothing is opened or asked yet.

    An object store that is silent for `answer_seconds` is asked again, for twice as long in all.
    """
    if not settings.s3_bucket:
        return DirectoryStore(settings.results_dir)
    # Only who uses it pays for loading it.
    from shared.objects.s3 import S3Store

    return S3Store(
        settings.s3_bucket,
        endpoint=settings.s3_endpoint,
        region=settings.s3_region,
        key_id=settings.s3_access_key_id,
        secret=settings.s3_secret_access_key,
        answer_seconds=answer_seconds,
    )
