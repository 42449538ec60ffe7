"""Which store the settings ask for: a directory, or S3 where a bucket is named."""

from pathlib import Path

from shared.objects.directory import DirectoryStore, ResultStore
from shared.settings.settings import Settings

_PATIENT_SECONDS = 30.0


def open_object_store(
    settings: Settings, answer_seconds: float = _PATIENT_SECONDS, spool_dir: Path | None = None
) -> ResultStore:
    """Return the store of results, exports and releases; nothing is opened or asked yet.

    An object store that is silent for `answer_seconds` is asked again, for twice as long in all. What is
    sent to one is written to `spool_dir` first; None: where temporary files are.
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
        spool_dir=spool_dir,
    )
